package steps

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"
)

// errInUse is the error of a step on tables that another run works on.
var errInUse = errors.New("the tables are in use by another benchplan")

var errNoLocks = errors.New("GET_LOCK gives NULL")

const (
	lockLimit   = 5 * time.Second // for one question about a lock
	longestLock = 64              // characters that the name of a lock may have (MySQL)
	// longWait has the server keep a connection on which nothing happens while a cell of many hours runs: a year, which is the most.
	longWait = "SET SESSION wait_timeout = 31536000"
)

// dataLock keeps two runs, of this machine or of two, off the tables of the same database: each holds the server's lock
// benchplan:<database> while it works on them. It belongs to a connection that has nothing else to do, so that it ends with the process
// whatever becomes of that. A server that has no GET_LOCK is worked on without; that of a Galera cluster knows the locks of its own node.
type dataLock struct {
	db      *sql.DB
	session *sql.Conn
	token   uint64          // of the run
	held    map[string]bool // databases
	off     bool            // the server has no locks
	log     *slog.Logger
	note    func(string)
}

// hold takes the lock of a database on a target, unless it is held. That of a private server needs none. The error says who has it.
func (r *run) hold(ctx context.Context, c *connection, database string) error {
	if c.private != nil || database == "" {
		return nil
	}
	if c.lock == nil {
		c.lock = &dataLock{
			token: r.token, held: map[string]bool{}, log: r.Writer.Log(),
			note: func(text string) { r.Writer.Log().Warn(text); r.Observer.Note(text) },
		}
	}
	l := c.lock
	if l.off {
		return nil
	}
	limited, cancel := context.WithTimeout(ctx, lockLimit)
	defer cancel()
	taken, err := l.take(limited, c, database)
	switch {
	case taken:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		l.off = l.session != nil && serverCode(err) != 0 || errors.Is(err, errNoLocks) // else it was not reached: the step finds out by itself
		l.log.Warn("the lock of the tables could not be taken, so nothing keeps another run off them", "target", c.name(), "database", database, "error", err.Error())
		return nil
	default:
		return final{fmt.Errorf("database %s on %s: %w%s", database, c.name(), errInUse, l.holder(limited, database))}
	}
}

// take sees that the lock is held. A connection that was lost, and the locks with it, is made anew.
func (l *dataLock) take(ctx context.Context, c *connection, database string) (bool, error) {
	if ctx.Err() != nil {
		return l.held[database], ctx.Err()
	}
	if l.session != nil && l.session.PingContext(ctx) != nil && ctx.Err() == nil {
		l.close()
		l.note(fmt.Sprintf("the connection that held the lock of the tables on %s was lost; it is taken anew", c.name()))
		clear(l.held)
	}
	if l.session == nil {
		if err := l.open(ctx, c); err != nil {
			return false, err
		}
	}
	if l.held[database] {
		return true, nil
	}
	for try := 1; ; try++ {
		got, err := l.number(ctx, "GET_LOCK("+quoted(lockName(database))+", 0)")
		if err != nil {
			return false, err
		}
		if !got.Valid {
			return false, errNoLocks
		}
		l.held[database] = got.Int64 == 1
		if l.held[database] {
			_, err = l.number(ctx, "GET_LOCK("+quoted(l.companion(database))+", 0)")
			return true, err
		}
		l.held[database] = l.isOwn(ctx, database)
		if l.held[database] || try == 2 { // it may have been given back just now
			return l.held[database], nil
		}
	}
}

func (l *dataLock) open(ctx context.Context, c *connection) error {
	db, err := c.db(ctx, "")
	if err != nil {
		return err
	}
	session, err := db.Conn(ctx)
	if err != nil {
		return errors.Join(err, db.Close())
	}
	l.db, l.session = db, session
	_, _ = session.ExecContext(ctx, longWait) // a proxy may not know it
	return nil
}

// isOwn tells whether this very run holds the lock, by another target that leads to the same server: a plan may compare a proxy with the
// database behind it.
func (l *dataLock) isOwn(ctx context.Context, database string) bool {
	same, err := l.number(ctx, "IS_USED_LOCK("+quoted(lockName(database))+") = IS_USED_LOCK("+quoted(l.companion(database))+")")
	return err == nil && same.Int64 == 1
}

// companion is the name of a second lock, held with that of a database by the same connection: through whatever proxy the two are met,
// they tell which run has them.
func (l *dataLock) companion(database string) string {
	return fmt.Sprintf("benchplan:run:%016x:%.8x", l.token, sha256.Sum256([]byte(strings.ToLower(database))))
}

// holder says who has the lock, as far as the server tells, and what to do.
func (l *dataLock) holder(ctx context.Context, database string) string {
	const wait = "wait for it to end, or give this run another database"
	id, err := l.number(ctx, "IS_USED_LOCK("+quoted(lockName(database))+")")
	if err != nil || !id.Valid {
		return ": " + wait
	}
	text := fmt.Sprintf(": connection %d", id.Int64)
	var user, host string
	query := fmt.Sprintf("SELECT USER, HOST FROM information_schema.PROCESSLIST WHERE ID = %d", id.Int64)
	if l.session.QueryRowContext(ctx, query).Scan(&user, &host) == nil {
		text += fmt.Sprintf(" of %s@%s", user, host)
	}
	return fmt.Sprintf("%s holds the lock %s; %s; if that run is dead, KILL %d", text, lockName(database), wait, id.Int64)
}

func (l *dataLock) number(ctx context.Context, expression string) (n sql.NullInt64, err error) {
	err = l.session.QueryRowContext(ctx, "SELECT "+expression).Scan(&n)
	return n, err
}

// release gives the locks back. It waits for the answer: a run that follows this one at once is not to meet them.
func (l *dataLock) release() {
	if l == nil || l.session == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), lockLimit)
	defer cancel()
	for database := range l.held {
		for _, name := range []string{lockName(database), l.companion(database)} {
			_, _ = l.number(ctx, "RELEASE_LOCK("+quoted(name)+")") // it ends with the connection anyway
		}
	}
	l.close()
}

func (l *dataLock) close() {
	_ = l.session.Close() // nothing was written there
	_ = l.db.Close()
	l.db, l.session = nil, nil
}

// lockName is the name of a database's lock. Servers do not tell capitals from small letters in it, and limit its length.
func lockName(database string) string {
	name := "benchplan:" + database
	if len([]rune(name)) <= longestLock {
		return name
	}
	sum := fmt.Sprintf("~%.8x", sha256.Sum256([]byte(strings.ToLower(database))))
	return string([]rune(name)[:longestLock-len(sum)]) + sum
}
