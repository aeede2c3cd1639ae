package steps

import (
	"context"
	"database/sql"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"benchplan/plan"
)

// setGlobals sets global variables, reads them back, and has them put back at the end of the group.
func (c *Call) setGlobals(ctx context.Context, wanted map[string]string) error {
	conn, t, err := c.target(ctx)
	if err != nil {
		return err
	}
	db, err := conn.db(ctx, "")
	if err != nil {
		return err
	}
	defer db.Close()
	for _, name := range sortedKeys(wanted) {
		err := c.setGlobal(ctx, conn, db, name, wanted[name])
		if c.otherProduct(t, err) {
			c.note("rehearsal: %s is not set: %v", name, err)
			continue
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (c *Call) setGlobal(ctx context.Context, conn *connection, db *sql.DB, name, wanted string) error {
	before, err := readGlobal(ctx, db, name)
	if err != nil {
		return fmt.Errorf("set %s: %w", name, conn.advise(err))
	}
	attribute := "variable " + name
	held, was := conn.settings[attribute]
	pid := 0
	if conn.private != nil {
		pid = conn.private.PID()
	}
	if conn.private == nil {
		if err := c.run.isSet(conn, name, before); err != nil {
			return final{err}
		}
	}
	// The undo comes first: a SET whose answer is lost may have been done.
	refused := false
	c.later(func(ctx context.Context) error {
		if conn.private != nil && conn.private.PID() != pid {
			return nil // what was set is gone with the process that held it
		}
		if !refused {
			if delete(conn.settings, attribute); was {
				conn.settings[attribute] = held
			}
			if err := conn.putBackGlobal(ctx, name, before); err != nil {
				return err
			}
		}
		return c.run.isBack(conn, name)
	}, func() (string, []string) {
		if conn.private != nil {
			return "", nil // it ends with the run, and its settings with it
		}
		return conn.name(), []string{setStatement(name, before) + ";"}
	})
	if err := writeGlobal(ctx, db, name, literal(wanted)); err != nil {
		refused = serverCode(err) != 0
		return fmt.Errorf("set %s = %s: %w", name, wanted, conn.advise(err))
	}
	after, err := readGlobal(ctx, db, name)
	if err != nil {
		return fmt.Errorf("read back %s: %w", name, conn.advise(err))
	}
	if !sameSetting(wanted, after.String) {
		return fmt.Errorf("set %s = %s: the server took it as %s", name, wanted, after.String)
	}
	conn.settings[attribute] = after.String
	c.Log.Info("server set", "variable", name, "before", before.String, "after", after.String)
	return nil
}

func (c *connection) putBackGlobal(ctx context.Context, name string, before sql.NullString) error {
	statement := setStatement(name, before)
	db, err := c.db(ctx, "")
	if err != nil {
		return fmt.Errorf("%s: %w", statement, err)
	}
	defer db.Close()
	if _, err := db.ExecContext(ctx, statement); err != nil {
		return fmt.Errorf("%s: %w", statement, c.advise(err))
	}
	return nil
}

// setStatement is what gives a global variable a value that was read from it.
func setStatement(name string, value sql.NullString) string {
	if !value.Valid {
		return "SET GLOBAL " + name + " = NULL"
	}
	return "SET GLOBAL " + name + " = " + literal(value.String)
}

func readGlobal(ctx context.Context, db *sql.DB, name string) (value sql.NullString, err error) {
	err = db.QueryRowContext(ctx, "SELECT @@GLOBAL."+name).Scan(&value)
	return value, err
}

func writeGlobal(ctx context.Context, db *sql.DB, name, literal string) error {
	_, err := db.ExecContext(ctx, "SET GLOBAL "+name+" = "+literal)
	return err
}

var (
	sqlNumber  = regexp.MustCompile(`^-?[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]+)?$`)
	sizeOfSome = regexp.MustCompile(`^[0-9]`)
)

// literal writes a setting as SQL: numbers bare, sizes as numbers of bytes, which SET does not know by suffix, and the rest quoted.
func literal(value string) string {
	if sqlNumber.MatchString(value) {
		return value
	}
	if n, err := plan.ParseSize(value); err == nil && sizeOfSome.MatchString(value) {
		return strconv.FormatInt(int64(n), 10)
	}
	return quoted(value)
}

// quoted writes a text as SQL.
func quoted(text string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, "'", "''").Replace(text) + "'"
}

// sameSetting compares what was set with what the server says, which writes ON as 1, 8M as 8388608 and lists in an order of its own.
func sameSetting(wanted, got string) bool {
	if strings.EqualFold(wanted, got) || literal(wanted) == got {
		return true
	}
	a, aErr := strconv.ParseFloat(truthNumber(literal(wanted)), 64)
	b, bErr := strconv.ParseFloat(truthNumber(got), 64)
	if aErr == nil && bErr == nil {
		return a == b
	}
	return slices.Equal(words(wanted), words(got))
}

// words gives the sorted words of a list such as sql_mode.
func words(list string) []string {
	out := strings.Split(strings.ToUpper(list), ",")
	for i := range out {
		out[i] = strings.TrimSpace(out[i])
	}
	slices.Sort(out)
	return out
}

func truthNumber(s string) string {
	switch strings.ToUpper(strings.Trim(s, "'")) {
	case "ON", "TRUE", "YES":
		return "1"
	case "OFF", "FALSE", "NO":
		return "0"
	}
	return s
}
