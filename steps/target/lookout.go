package target

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/go-sql-driver/mysql"

	"benchplan/workloads/engine"
)

// Patience is how long a connection waits at the least before it is found to wait for nothing. See Lookout.
const Patience = 30 * time.Second

// ErrNoAnswer is that a connection was given up since its answer will not come.
var ErrNoAnswer = errors.New("no answer")

// errDiskFull is that the server waits for room.
var errDiskFull = errors.New("the server's disk is full, and it waits until somebody makes room there")

// Lookout tells a statement that takes long from one whose answer will not come: of a server that hangs, or one to which the connection is
// open on one side only. A statement may take as long as it does. But while a connection waits, the lookout asks on another one how the
// server is, a few times within its patience. The connection is closed, and the statement fails, when for that long
//
//   - the server has let nobody in or has not answered,
//   - it has nothing to do for the connection, as its process list tells, or
//   - it waits until somebody makes room on its disk, as a server does for its binary log.
//
// Whether a process list is that of the same server is known by host name and port; where these or the list cannot be had, and behind a
// proxy that lists something else, only the first holds.
type Lookout struct {
	config   *mysql.Config // for connections of its own
	patience time.Duration

	looking chan struct{} // held by who looks
	seen    sight         // of the server, shared by all connections that wait

	mu     sync.Mutex
	last   error           // why a connection was last given up
	broken []chan struct{} // statements that were broken off, until the server was told
}

// NewLookout makes the lookout of a server that the configuration leads to; a patience of 0 means Patience.
func NewLookout(config *mysql.Config, patience time.Duration) *Lookout {
	return &Lookout{config: config, patience: cmp.Or(patience, Patience), looking: make(chan struct{}, 1)}
}

// Connector makes connections by the configuration, which leads to the same server, that are looked after, and wary: see Dial. What was
// given up before is forgotten.
func (l *Lookout) Connector(config *mysql.Config) (driver.Connector, error) {
	l.giveUp(nil)
	c := config.Clone()
	c.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := Dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		a := &attended{Conn: conn, lookout: l}
		if slot, ok := ctx.Value(attendedKey{}).(**attended); ok {
			*slot = a
		}
		return a, nil
	}
	connector, err := engine.NewConnector(c)
	if err != nil {
		return nil, err
	}
	return attendedConnector{Wary(connector)}, nil
}

// Explain puts the reason in the place of the driver's error where the lookout has closed a connection. Before, it waits until the server
// was told of statements that were broken off, so that they are not in the way of what comes next.
func (l *Lookout) Explain(err error) error {
	l.Settle()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.last == nil {
		return err
	}
	for _, driverError := range []error{mysql.ErrInvalidConn, driver.ErrBadConn} {
		if errors.Is(err, driverError) {
			return &explained{strings.Replace(err.Error(), driverError.Error(), l.last.Error(), 1), []error{l.last, err}}
		}
	}
	return err
}

// Settle waits until the server was told of all statements that were broken off, or cannot be told.
func (l *Lookout) Settle() {
	l.mu.Lock()
	broken := l.broken
	l.broken = nil
	l.mu.Unlock()
	for _, told := range broken {
		<-told
	}
}

// breakOff has the server end the statement of a connection that nobody waits for any more: by itself it would go on with it to the end,
// under the load of what comes next or keeping it waiting for its locks. A server that cannot be asked whether the connection is one of
// its own is told nothing.
func (l *Lookout) breakOff(instance string, id int64) {
	told := make(chan struct{})
	l.mu.Lock()
	l.broken = append(l.broken, told)
	l.mu.Unlock()
	go func() {
		defer close(told)
		ctx, cancel := context.WithTimeout(context.Background(), questionTime)
		defer cancel()
		db, err := l.dial()
		if err != nil {
			return
		}
		defer db.Close()
		var s sight
		if err := s.list(ctx, db); err == nil && s.instance == instance && s.busy[id] {
			_, _ = db.ExecContext(ctx, "KILL "+strconv.FormatInt(id, 10))
		}
	}()
}

// explained is an error with the reason of it.
type explained struct {
	text   string
	causes []error
}

func (e *explained) Error() string   { return e.text }
func (e *explained) Unwrap() []error { return e.causes }

// sight is what a look at the server gave.
type sight struct {
	at       time.Time // when it was begun
	err      error     // it did not let anybody in, or did not answer
	instance string    // which server answered; empty: it does not tell
	busy     map[int64]bool
	full     bool // its disk is, and it waits for that to change
}

// look asks how the server is, unless that was asked not long ago. false: ctx ended.
func (l *Lookout) look(ctx context.Context) (sight, bool) {
	select {
	case l.looking <- struct{}{}:
		defer func() { <-l.looking }()
	case <-ctx.Done():
		return sight{}, false
	}
	if time.Since(l.seen.at) < l.interval() {
		return l.seen, true
	}
	s := l.ask(ctx)
	if ctx.Err() != nil {
		return s, false
	}
	l.seen = s
	return s, true
}

// giveUp notes why a connection is closed.
func (l *Lookout) giveUp(reason error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last = reason
}

// interval is the time between two looks.
func (l *Lookout) interval() time.Duration { return max(l.patience/6, time.Millisecond) }

// ask lets the server say who it is and what it is doing.
func (l *Lookout) ask(ctx context.Context) (s sight) {
	s.at = time.Now()
	limited, cancel := context.WithTimeout(ctx, l.patience)
	defer cancel()
	db, err := l.dial()
	if err != nil {
		return s
	}
	defer db.Close()
	if err = db.PingContext(limited); err == nil {
		err = s.list(limited, db)
	}
	if serverError(err) == 0 {
		s.err = err // an error of the server is an answer
	}
	return s
}

// dial opens a pool of one connection that nobody looks after.
func (l *Lookout) dial() (*sql.DB, error) {
	c := l.config.Clone()
	c.DialFunc = Dial
	connector, err := engine.NewConnector(c)
	if err != nil {
		return nil, err
	}
	db := sql.OpenDB(Wary(connector))
	db.SetMaxOpenConns(1)
	return db, nil
}

// list reads the process list.
func (s *sight) list(ctx context.Context, db *sql.DB) error {
	var instance string
	var own int64
	if err := each(ctx, db, whereAmI, func(row map[string]string) { instance, own = instanceOf(row) }); err != nil {
		return err
	}
	busy, ownListed := map[int64]bool{}, false
	err := each(ctx, db, "SHOW PROCESSLIST", func(row map[string]string) {
		id, err := strconv.ParseInt(row["id"], 10, 64)
		if err != nil {
			return
		}
		ownListed = ownListed || id == own
		busy[id] = row["command"] != "Sleep"
		s.full = s.full || waitsForRoom(row["state"])
	})
	if err == nil && ownListed {
		s.instance, s.busy = instance, busy
	}
	return err
}

// waitsForRoom tells whether a statement cannot go on before there is room on the server's disk.
func waitsForRoom(state string) bool {
	return state == "Waiting for someone to free space" || state == "Waiting for disk space"
}

// whereAmI asks which server a connection leads to, and what it is called there.
const whereAmI = "SELECT CONNECTION_ID() AS id, @@hostname AS host, @@port AS port"

func instanceOf(row map[string]string) (instance string, id int64) {
	id, err := strconv.ParseInt(row["id"], 10, 64)
	if err != nil {
		return "", 0
	}
	return row["host"] + ":" + row["port"], id
}

// attendedKey is that of a context in which dialling leaves the connection.
type attendedKey struct{}

// attendedConnector has each new connection say where it leads.
type attendedConnector struct{ driver.Connector }

// Connect implements driver.Connector.
func (c attendedConnector) Connect(ctx context.Context) (driver.Conn, error) {
	var a *attended
	conn, err := c.Connector.Connect(context.WithValue(ctx, attendedKey{}, &a))
	if err != nil || a == nil {
		return conn, err
	}
	limited, cancel := context.WithTimeout(ctx, questionTime)
	defer cancel()
	row, err := one(limited, conn, whereAmI)
	if err != nil && serverError(err) == 0 {
		_ = conn.Close()
		return nil, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.instance, a.id = instanceOf(row)
	return conn, nil
}

// one gives the only row of an answer.
func one(ctx context.Context, conn driver.Conn, query string) (map[string]string, error) {
	queryer, ok := conn.(driver.QueryerContext)
	if !ok {
		return nil, nil
	}
	rows, err := queryer.QueryContext(ctx, query, nil)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	values := make([]driver.Value, len(rows.Columns()))
	if err := rows.Next(values); err != nil && err != io.EOF {
		return nil, err
	}
	row := map[string]string{}
	for i, name := range rows.Columns() {
		if text, ok := values[i].([]byte); ok {
			row[name] = string(text)
		} else if values[i] != nil {
			row[name] = fmt.Sprint(values[i])
		}
	}
	return row, nil
}

// attended is a connection that is looked after while somebody waits for it. One goroutine at a time reads and writes, any may close it.
type attended struct {
	net.Conn
	lookout *Lookout

	mu       sync.Mutex
	instance string // where it leads; empty: not known
	id       int64  // and what it is called there
	waits    bool   // somebody waits for it
}

// SyscallConn lets the driver see whether the server has closed the connection meanwhile.
func (a *attended) SyscallConn() (syscall.RawConn, error) {
	conn, ok := a.Conn.(syscall.Conn)
	if !ok {
		return nil, errors.ErrUnsupported
	}
	return conn.SyscallConn()
}

// Read implements net.Conn.
func (a *attended) Read(b []byte) (int, error) {
	defer a.attend()()
	return a.Conn.Read(b)
}

// Write implements net.Conn.
func (a *attended) Write(b []byte) (int, error) {
	defer a.attend()()
	return a.Conn.Write(b)
}

// Close implements net.Conn. Of a connection that somebody waits for it breaks off the statement.
func (a *attended) Close() error {
	a.mu.Lock()
	if a.waits && a.instance != "" {
		a.waits = false
		a.lookout.breakOff(a.instance, a.id)
	}
	a.mu.Unlock()
	return a.Conn.Close()
}

// waiting notes whether somebody waits for the connection.
func (a *attended) waiting(yes bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.waits = yes
}

// attend begins to look after what is waited for, until the function that it gives is called.
func (a *attended) attend() (done func()) {
	a.waiting(true)
	ctx, end := context.WithCancel(context.Background())
	var watching sync.WaitGroup
	watching.Add(1)
	began := time.Now()
	timer := time.AfterFunc(a.lookout.interval(), func() {
		defer watching.Done()
		a.watch(ctx, began)
	})
	return func() {
		end()
		if timer.Stop() {
			watching.Done()
		}
		watching.Wait()
		a.waiting(false)
	}
}

// watch looks at the server again and again while the connection waits, and closes the connection where that is of no use.
func (a *attended) watch(ctx context.Context, began time.Time) {
	tick := time.NewTicker(a.lookout.interval())
	defer tick.Stop()
	for good := began; ; {
		s, ok := a.lookout.look(ctx)
		if !ok {
			return
		}
		switch trouble := a.trouble(s); {
		case trouble == nil:
			good = time.Now()
		case time.Since(good) >= a.lookout.patience:
			a.lookout.giveUp(fmt.Errorf("%w for %s: %w", ErrNoAnswer, time.Since(began).Round(time.Second/10), trouble))
			a.waiting(false) // the server has no statement to break off, or does not listen
			_ = a.Close()
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// trouble tells why the connection may wait for nothing; nil where the server is at work for it, or that cannot be told.
func (a *attended) trouble(s sight) error {
	switch {
	case s.err != nil:
		return fmt.Errorf("the server does not answer on another connection either: %w", s.err)
	case s.full:
		return errDiskFull
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.instance == "" || a.instance != s.instance || s.busy[a.id] {
		return nil
	}
	return errors.New("the server answers on another connection and has nothing to do for this one, so what lies between has lost it (a proxy, a firewall, a router)")
}
