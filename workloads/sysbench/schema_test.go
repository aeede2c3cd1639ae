package sysbench_test

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"
	"github.com/google/go-cmp/cmp"

	"benchplan/plan"
	"benchplan/workloads/internal/testdb"
	"benchplan/workloads/sysbench"
	"benchplan/workloads/tables"
)

var ours = regexp.MustCompile(` COMMENT='benchplan [0-9a-f]+'`)

// ddl is a table's definition as the server tells it, without our comment and where the counter stands.
func ddl(d *testdb.Database, table string) string {
	text := d.Rows("SHOW CREATE TABLE " + table)[0][1]
	return regexp.MustCompile(` AUTO_INCREMENT=\d+`).ReplaceAllString(ours.ReplaceAllString(text, ""), "")
}

// TestTablesAreAsSysbenchMakesThem holds the tables against the statements of sysbench.
func TestTablesAreAsSysbenchMakesThem(t *testing.T) {
	d := testdb.Shared(t)
	const (
		columns  = "c CHAR(120) DEFAULT '' NOT NULL, pad CHAR(60) DEFAULT '' NOT NULL, "
		modern   = "CREATE TABLE sbtest2 (id INTEGER NOT NULL AUTO_INCREMENT, k INTEGER DEFAULT '0' NOT NULL, " + columns + "PRIMARY KEY (id)) /*! ENGINE = innodb */"
		unsigned = "(id INTEGER UNSIGNED NOT NULL AUTO_INCREMENT, k INTEGER UNSIGNED DEFAULT '0' NOT NULL, " + columns + "PRIMARY KEY (id)) "
	)
	type own = sysbench.TableOptions
	for _, tt := range []struct {
		name    string
		tables  plan.Tables
		create  string
		index   string
		table   string
		isEmpty bool
	}{
		{"sbtest", spec("sbtest", 2, 50), modern, "CREATE INDEX k_2 ON sbtest2(k)", "sbtest2", false},
		{"no index", with(spec("sbtest", 2, 50), options(t, func(o *own) { o.CreateSecondary = false })), modern, "", "sbtest2", false},
		{"no auto_increment", with(spec("sbtest", 2, 50), options(t, func(o *own) { o.AutoInc = false })), strings.Replace(modern, " AUTO_INCREMENT", "", 1), "CREATE INDEX k_2 ON sbtest2(k)", "sbtest2", false},
		{"secondary", with(spec("sbtest", 2, 50), options(t, func(o *own) { o.Secondary = true })), strings.Replace(modern, "PRIMARY KEY", "KEY xid", 1), "CREATE INDEX k_2 ON sbtest2(k)", "sbtest2", false},
		{"sbtest_legacy", spec("sbtest_legacy", 2, 50), "CREATE TABLE sbtest2 " + unsigned + "/*! ENGINE = innodb MAX_ROWS = 1000000 */", "CREATE INDEX k_2 on sbtest2(k)", "sbtest2", false},
		{"sbtest_0_4", spec("sbtest_0_4", 1, 50), "CREATE TABLE sbtest " + unsigned + "/*! ENGINE=InnoDB */", "CREATE INDEX k on sbtest(k)", "sbtest", true},
		{"sbtest_bulk", spec("sbtest_bulk", 2, 50), "CREATE TABLE sbtest2 (id INTEGER NOT NULL, k INTEGER DEFAULT '0' NOT NULL, PRIMARY KEY (id))", "", "sbtest2", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d.Exec("DROP TABLE IF EXISTS "+tt.table, tt.create)
			if tt.index != "" {
				d.Exec(tt.index)
			}
			want := ddl(d, tt.table)
			d.Exec("DROP TABLE " + tt.table)
			prepare(t, d, tt.tables)
			if diff := cmp.Diff(want, ddl(d, tt.table)); diff != "" {
				t.Errorf("definition (-sysbench +ours):\n%s", diff)
			}
			got := d.Rows("SELECT COUNT(*), MIN(id), MAX(id), SUM(k BETWEEN 0 AND 50) FROM " + tt.table)[0]
			if diff := cmp.Diff([]string{"50", "1", "50", "50"}, got); diff != "" {
				t.Errorf("rows, ids and k (-want +got):\n%s", diff)
			}
			if !tt.isEmpty {
				checkTexts(t, d, tt.table, 50)
			}
			cleanup(t, d, tt.tables)
		})
	}
}

// checkTexts sees that c and pad are what sysbench has, in all rows.
func checkTexts(t *testing.T, d *testdb.Database, table string, rows int) {
	t.Helper()
	got := d.Rows("SELECT SUM(c REGEXP '^([0-9]{11}-){9}[0-9]{11}$'), SUM(pad REGEXP '^([0-9]{11}-){4}[0-9]{11}$'), SUM(k BETWEEN 1 AND " + fmt.Sprint(rows) + ") FROM " + table)[0]
	if want := slices.Repeat([]string{fmt.Sprint(rows)}, 3); !slices.Equal(got, want) {
		t.Errorf("%s: %v of %d rows have c, pad and k as they are to be", table, got, rows)
	}
}

func cleanup(t *testing.T, d *testdb.Database, sp plan.Tables) {
	t.Helper()
	if _, err := tables.Cleanup(t.Context(), d.Connector(), sysbench.Schemas()[sp.Schema], sp, false); err != nil {
		t.Error(err)
	}
}

func TestRowsOfVersion4AreConstant(t *testing.T) {
	d := testdb.Shared(t)
	for _, method := range []tables.Method{tables.Insert, tables.LoadData} {
		sp := spec("sbtest_0_4", 1, 20)
		if _, err := tables.Prepare(t.Context(), d.Connector(), sysbench.Version4Schema{}, sp, tables.PrepareOptions{Method: method}, nil); err != nil {
			t.Fatal(err)
		}
		got := d.Rows("SELECT DISTINCT k, CONCAT('<', c, '>'), pad FROM sbtest")
		if len(got) != 1 || !slices.Equal(got[0], []string{"0", "<>", "qqqqqqqqqqwwwwwwwwwweeeeeeeeeerrrrrrrrrrtttttttttt"}) {
			t.Errorf("%s: %v", method, got)
		}
	}
}

// TestKIsDrawnAsTold has the values of k follow rand_type, and tables of another rand_type are not reused.
func TestKIsDrawnAsTold(t *testing.T) {
	d := testdb.Shared(t)
	o := tables.PrepareOptions{Reuse: true}
	for _, kind := range []string{"special", "uniform"} {
		sp := with(spec("sbtest", 1, 2000), options(t, func(o *sysbench.TableOptions) { o.RandType = kind }))
		r, err := tables.Prepare(t.Context(), d.Connector(), sysbench.Schema{}, sp, o, nil)
		if err != nil || r.Reused != 0 {
			t.Fatalf("%+v, %v", r, err)
		}
		hot := d.Rows("SELECT COUNT(*) FROM sbtest1 WHERE k BETWEEN 980 AND 1020")[0][0]
		if many := len(hot) == 4; many != (kind == "special") {
			t.Errorf("%s: %s rows have k in the middle", kind, hot)
		}
		if r, err := tables.Prepare(t.Context(), d.Connector(), sysbench.Schema{}, sp, o, nil); err != nil || r.Reused != 1 {
			t.Errorf("%+v, %v", r, err)
		}
	}
}

func TestSchemaChecks(t *testing.T) {
	custom := func(text string) any { return &sysbench.TableOptions{CreateTable: text} }
	optioned := with(spec("sbtest", 1, 1), custom("CREATE TABLE sbtest1 (id INT)"))
	optioned.Options = "PARTITION BY HASH(id)"
	for _, tt := range []struct {
		tables plan.Tables
		want   string // part of the error; empty: none
	}{
		{spec("sbtest", 1, 2_147_483_647), ""},
		{spec("sbtest", 1, 2_147_483_648), "at most 2147483647"},
		{spec("sbtest_legacy", 1, 4_294_967_295), ""},
		{spec("sbtest_legacy", 1, 4_294_967_296), "at most 4294967295"},
		{spec("sbtest_0_4", 2, 1), "one table"},
		{with(spec("sbtest_0_4", 1, 1), &sysbench.Version4TableOptions{AutoInc: true, Secondary: true}), "auto_inc: off"},
		{with(spec("sbtest", 1, 1), custom("CREATE TABLE sbtest1 (id INT)")), ""},
		{with(spec("sbtest", 1, 1), custom("\n create table `sbtest1`(\nid INT)")), ""},
		{with(spec("sbtest", 1, 1), custom("create table if not exists ${table} (id INT)")), "leave IF NOT EXISTS out"},
		{with(spec("sbtest", 1, 1), custom("CREATE TABLE sbtest (id INT)")), "CREATE TABLE sbtest1"},
		{with(spec("sbtest", 1, 1), custom("CREATE TABLE sbtest11 (id INT)")), "CREATE TABLE sbtest1"},
		{with(spec("sbtest", 2, 1), custom("CREATE TABLE sbtest1 (id INT)")), "${table}"},
		{with(spec("sbtest", 2, 1), custom("CREATE TABLE ${table} (id INT)")), ""},
		{optioned, "options has no place"},
	} {
		err := sysbench.Schemas()[tt.tables.Schema].Check(tt.tables)
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%+v: got %v, want %q", tt.tables, err, tt.want)
		}
	}
}

const wide = `CREATE TABLE ${table}(
  id int UNSIGNED NOT NULL auto_increment PRIMARY KEY,
  k INTEGER UNSIGNED DEFAULT '0' NOT NULL,
  c varCHAR(1200) DEFAULT '' NOT NULL COMMENT 'of a column',
  pad varCHAR(1200) DEFAULT '' NOT NULL
) partition by hash(id) partitions 3;
`

func TestPlansOwnCreateTable(t *testing.T) {
	d := testdb.Shared(t)
	schema := sysbench.Schema{Legacy: true}
	own := options(t, func(o *sysbench.LegacyTableOptions) { o.CreateTable = wide })
	sp := with(spec("sbtest_legacy", 2, 100), own)
	r, err := tables.Prepare(t.Context(), d.Connector(), schema, sp, tables.PrepareOptions{}, nil)
	if err != nil || r.Rows != 200 || len(r.Unmarked) > 0 {
		t.Fatalf("%+v, %v", r, err)
	}
	got := d.Rows("SHOW CREATE TABLE sbtest2")[0][1]
	for _, want := range []string{"CREATE TABLE `sbtest2`", "varchar(1200)", "PARTITIONS 3", "KEY `k_2`", "COMMENT 'of a column'", "COMMENT='benchplan "} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in %s", want, got)
		}
	}
	if r, err := tables.Prepare(t.Context(), d.Connector(), schema, sp, tables.PrepareOptions{Reuse: true}, nil); err != nil || r.Reused != 2 {
		t.Errorf("again: %+v, %v", r, err)
	}
	portable := schema.Portable(sp)
	if _, err := tables.Prepare(t.Context(), d.Connector(), schema, portable, tables.PrepareOptions{Reuse: true}, nil); err != nil || !strings.Contains(ddl(d, "sbtest1"), "char(120)") {
		t.Errorf("portable: %v, %s", err, ddl(d, "sbtest1"))
	}
	if own.CreateTable != wide {
		t.Error("the plan's options were changed")
	}
	cleanup(t, d, sp)

	own.CreateTable = "CREATE TABLE sbtest1 (id INT, nonsense)"
	sp.Count = 1
	if _, err := tables.Prepare(t.Context(), d.Connector(), schema, sp, tables.PrepareOptions{}, nil); err == nil || !strings.Contains(err.Error(), "create table sbtest1") {
		t.Errorf("got %v", err)
	}
	own.CreateTable = "CREATE TABLE elsewhere (id INT) -- ${table}"
	if _, err := tables.Prepare(t.Context(), d.Connector(), schema, sp, tables.PrepareOptions{}, nil); err == nil || !strings.Contains(err.Error(), "no table of this name") {
		t.Errorf("got %v", err)
	}
}

// TestTablesThatCannotBeMarked are known by who made them, and by nobody else.
func TestTablesThatCannotBeMarked(t *testing.T) {
	d := testdb.Shared(t)
	d.Exec("CREATE USER IF NOT EXISTS narrow@localhost", "GRANT CREATE, DROP, INDEX, SELECT, INSERT ON "+d.Name+".* TO narrow@localhost")
	connector := d.Connector(func(c *mysql.Config) { c.User = "narrow" })
	schema := sysbench.Schema{}
	sp := with(spec("sbtest", 2, 30), options(t, func(o *sysbench.TableOptions) { o.CreateTable = wide }))
	var made tables.Made
	for range 2 {
		r, err := tables.Prepare(t.Context(), connector, schema, sp, tables.PrepareOptions{Made: &made}, nil)
		if err != nil || !slices.Equal(r.Unmarked, []string{"sbtest1", "sbtest2"}) {
			t.Fatalf("%+v, %v", r, err)
		}
	}
	if _, err := tables.Cleanup(t.Context(), connector, schema, sp, false); !errors.Is(err, tables.ErrForeign) {
		t.Errorf("without what was remembered: %v", err)
	}
	d.Exec("DROP TABLE sbtest2", "CREATE TABLE sbtest2 (id INT)")
	if _, err := tables.CleanupMade(t.Context(), connector, schema, sp, &made, false); !errors.Is(err, tables.ErrForeign) || !strings.Contains(err.Error(), "sbtest2") {
		t.Errorf("with another table in the place: %v", err)
	}
	d.Exec("DROP TABLE sbtest2")
	dropped, err := tables.CleanupMade(t.Context(), connector, schema, sp, &made, false)
	if err != nil || !slices.Equal(dropped, []string{"sbtest1"}) {
		t.Errorf("dropped %v, %v", dropped, err)
	}
	d.Exec(strings.ReplaceAll(strings.TrimSpace(strings.TrimRight(wide, ";\n")), "${table}", "sbtest1"), "CREATE INDEX k_1 ON sbtest1(k)")
	if _, err := tables.CleanupMade(t.Context(), connector, schema, sp, &made, false); !errors.Is(err, tables.ErrForeign) {
		t.Errorf("a table like the one that was dropped: %v", err)
	}
}
