package localserver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// bootstrap makes the system tables in the empty data folder of home, with one account root@localhost that has no
// password. The user's options take part, since some (innodb_page_size, lower_case_table_names) are settled here for good.
//
// For MariaDB it does what mariadb-install-db does, but without that script: Debian has a program that the script
// needs in another package, it breaks on blanks in paths, and it takes twice the time because of the help tables.
func (p Program) bootstrap(ctx context.Context, home string, tuning []string) error {
	args := append([]string{"--no-defaults"}, tuning...)
	args = append(args, p.placement(home)...)
	var script io.Reader
	if p.Family == MySQL {
		args = append(args, "--initialize-insecure")
	} else {
		args = append(args, "--bootstrap", "--log-warnings=0", "--enforce-storage-engine=", "--max-allowed-packet=8M")
		tables, err := p.systemTables()
		if err != nil {
			return err
		}
		script = tables
	}
	log, err := openLog(home)
	if err != nil {
		return err
	}
	cmd := exec.Command(p.Path, args...)
	cmd.Env, cmd.Stdin = p.environment(), script
	process, err := startProcess(cmd, log, false)
	if err != nil {
		return fmt.Errorf("%s cannot be started: %w", p.Path, err)
	}
	select {
	case <-process.ended:
	case <-ctx.Done():
		process.end(ctx, 0)
		return fmt.Errorf("%s: making the data folder: %w", p, context.Cause(ctx))
	}
	if process.err != nil {
		return p.startFailure(process)
	}
	return nil
}

// systemTables gives the SQL that makes MariaDB's system tables.
func (p Program) systemTables() (io.Reader, error) {
	folders := p.installed.share()
	var sql strings.Builder
	// The server reads statement by statement, and a statement ends with its line.
	sql.WriteString("CREATE DATABASE IF NOT EXISTS mysql;\nUSE mysql;\nSET @auth_root_socket=NULL;\n")
	// The files are called mysql_* in older versions and mariadb_* in later ones. Those that a version may do without are optional.
	for _, script := range []struct {
		names    []string
		required bool
	}{
		{[]string{"mariadb_system_tables.sql", "mysql_system_tables.sql"}, true},
		{[]string{"mariadb_performance_tables.sql", "mysql_performance_tables.sql"}, false},
		{[]string{"mariadb_system_tables_data.sql", "mysql_system_tables_data.sql"}, true},
		{[]string{"maria_add_gis_sp_bootstrap.sql"}, false},
		{[]string{"mariadb_sys_schema.sql", "mysql_sys_schema.sql"}, false},
	} {
		text, err := readFirst(folders, script.names)
		if errors.Is(err, os.ErrNotExist) && script.required {
			return nil, fmt.Errorf("%s: its file %s is missing: looked in %s", p, strings.Join(script.names, " or "), strings.Join(folders, ", "))
		}
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, err
		}
		sql.Write(text)
		sql.WriteByte('\n')
	}
	return strings.NewReader(sql.String()), nil
}

// readFirst reads the first of the names that is in one of the folders; the first folder wins.
func readFirst(folders, names []string) ([]byte, error) {
	for _, folder := range folders {
		for _, name := range names {
			text, err := os.ReadFile(filepath.Join(folder, name))
			if !errors.Is(err, os.ErrNotExist) {
				return text, err
			}
		}
	}
	return nil, os.ErrNotExist
}
