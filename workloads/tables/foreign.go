package tables

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"

	"github.com/go-sql-driver/mysql"
)

// codeNoSuchDatabase is the server's error number for a database that is not there.
const codeNoSuchDatabase = 1049

// Foreign lists the tables of the connector's database that benchplan did not make; none where there is no such database.
func Foreign(ctx context.Context, connector driver.Connector) ([]string, error) {
	db, err := open(ctx, connector, DefaultThreads())
	if server, ok := errors.AsType[*mysql.MySQLError](err); ok && server.Number == codeNoSuchDatabase {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer db.Close()
	rows, err := db.QueryContext(ctx, "SHOW TABLES")
	if err != nil {
		return nil, fmt.Errorf("list the tables: %w", err)
	}
	defer rows.Close()
	var names []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, fmt.Errorf("list the tables: %w", err)
		}
		names = append(names, name)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("list the tables: %w", err)
	}
	states, err := inspectAll(ctx, db, names)
	if err != nil {
		return nil, err
	}
	var foreign []string
	for i, s := range states {
		if s.exists && !s.ours {
			foreign = append(foreign, names[i])
		}
	}
	return foreign, nil
}
