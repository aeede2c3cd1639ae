package plan

// Tables is the data under test, said once in a scope: prepare makes it, run uses it, cleanup drops it.
type Tables struct {
	Schema  string `key:"schema" json:"schema" required:"true" doc:"which family's tables: the columns, the names and how rows are made"`
	Count   int    `key:"count" json:"count" default:"1" min:"1" max:"100000" unit:"tables" doc:"how many tables"`
	Rows    Count  `key:"rows" json:"rows" default:"0" unit:"rows" doc:"rows that prepare fills into each table"`
	Engine  string `key:"engine" json:"engine,omitempty" default:"innodb" doc:"storage engine, as the server names it"`
	Options string `key:"options" json:"options,omitempty" doc:"any clause that follows the engine in CREATE TABLE, for example PARTITION BY HASH(id)"`

	// More holds the options that only this schema has, as a pointer to its options struct; nil where it has none.
	More any `key:"-" more:"schema" json:"more,omitempty"`
}
