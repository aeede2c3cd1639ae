package monitor

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"benchplan/results"

	"github.com/go-sql-driver/mysql"
)

// slowStatus is how long an answer may take to be asked for each second.
const slowStatus = time.Second

// errNoStatus tells that a server answers SHOW GLOBAL STATUS by something else than names and values.
var errNoStatus = errors.New("the answer to SHOW GLOBAL STATUS is no list of names and values")

// statusReader asks one server for its status beside one cell.
type statusReader struct {
	db *sql.DB
	notes
	conn *sql.Conn
	own  map[string]int64 // what one asking adds to the counters itself

	begun time.Time // of the first answer
	first map[string]int64
	ended time.Time // of the last answer
	last  map[string]int64
	asked int  // after the first
	gap   bool // the last answer is not of the end of the last second

	slow    bool // it is not asked each second any more
	over    bool // it is not asked any more
	seconds []map[string]int64
}

// read does its work until the measured part is over and the last answer there.
func (r *statusReader) read(ctx context.Context, b *bell) {
	defer r.drop()
	if has, err := r.prepare(ctx); err != nil {
		r.note("no figures of the server's status: %w", err)
		return
	} else if !has {
		return
	}
	b.ready()
	for {
		s := b.wait(ctx)
		began := r.first != nil || !s.begin.IsZero()
		if began && !r.over {
			r.heed(ctx, s)
		}
		if s.over {
			return
		}
	}
}

// prepare readies the connection, and learns what asking adds to the counters. A server that refuses the question has no status: that is
// no error.
func (r *statusReader) prepare(ctx context.Context) (has bool, err error) {
	var answers [3]map[string]int64
	for i := range answers {
		if answers[i], err = r.ask(ctx); err != nil {
			_, refused := errors.AsType[*mysql.MySQLError](err)
			if refused && r.conn != nil || errors.Is(err, errNoStatus) {
				return false, nil
			}
			return false, err
		}
	}
	r.own = ownShare(answers)
	return len(answers[0]) > 0, nil
}

// heed asks, and notes what the answer is of. A second has figures only where its beginning and its end were both asked for in time.
func (r *statusReader) heed(ctx context.Context, s strokes) {
	var answer map[string]int64
	at := time.Now()
	if !r.slow || s.over {
		answer = r.answer(ctx, at, s)
	}
	if r.first == nil {
		r.begun, r.first = at, answer
		r.ended, r.last = at, answer
		r.over = answer == nil
		r.seconds = make([]map[string]int64, s.seconds)
		return
	}
	for range s.seconds {
		var second map[string]int64
		if answer != nil && !r.gap && s.seconds == 1 {
			second = r.second(answer)
		}
		r.seconds = append(r.seconds, second)
	}
	r.gap = answer == nil
	if answer != nil {
		r.ended, r.last = at, answer
		r.asked++
	}
}

// answer asks, and notes what is wrong with the answer; nil is none.
func (r *statusReader) answer(ctx context.Context, at time.Time, s strokes) map[string]int64 {
	answer, err := r.ask(ctx)
	took := time.Since(at)
	switch {
	case err != nil:
		if len(r.problems) == 0 {
			r.note("SHOW GLOBAL STATUS failed while the load ran (%w); the status has gaps there, or ends", err)
		}
		return nil
	case beganAnew(r.last, answer):
		r.note("the server was started anew while the load ran: its status counts from 0 again, and is kept up to then only")
		r.over = true
		return nil
	case took > slowStatus && !r.slow && !s.over:
		r.slow = true
		r.note("SHOW GLOBAL STATUS took %v; it is not asked each second any more, only at the end of the cell", took.Round(time.Millisecond))
	}
	return answer
}

// beganAnew tells that the server was started between two answers. Its uptime alone does not: that is counted by its system clock,
// which may have been set back.
func beganAnew(before, now map[string]int64) bool {
	if now["uptime"] >= before["uptime"] {
		return false
	}
	known := false
	for _, name := range []string{"questions", "connections", "bytes_received", "bytes_sent"} {
		was, ok := before[name]
		if ok && now[name] < was {
			return true
		}
		known = known || ok
	}
	return !known
}

// ask gives the numeric status variables by their names in lower case. A connection that failed is made anew the next time.
func (r *statusReader) ask(ctx context.Context) (map[string]int64, error) {
	ctx, cancel := context.WithTimeout(ctx, readLimit)
	defer cancel()
	if r.conn == nil {
		conn, err := r.db.Conn(ctx)
		if err != nil {
			return nil, err
		}
		r.conn = conn
	}
	answer, err := status(ctx, r.conn)
	if _, refused := errors.AsType[*mysql.MySQLError](err); err != nil && !refused {
		r.drop()
	}
	return answer, err
}

func (r *statusReader) drop() {
	if r.conn != nil {
		r.conn.Close() // back to the pool, which drops a broken one
		r.conn = nil
	}
}

func status(ctx context.Context, conn *sql.Conn) (map[string]int64, error) {
	rows, err := conn.QueryContext(ctx, "SHOW GLOBAL STATUS")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	if columns, err := rows.Columns(); err != nil {
		return nil, err
	} else if len(columns) != 2 {
		return nil, errNoStatus
	}
	answer := map[string]int64{}
	for rows.Next() {
		var name string
		var value sql.NullString
		if err := rows.Scan(&name, &value); err != nil {
			return nil, err
		}
		if n, err := strconv.ParseInt(value.String, 10, 64); err == nil {
			answer[strings.ToLower(name)] = n
		}
	}
	return answer, rows.Err()
}

// ownShare gives what one asking adds to the counters itself, by the lesser difference of three answers in a row. Other load may add to
// that: it is limited to what an asking is known to add at most, and to the counters that it adds to.
func ownShare(answers [3]map[string]int64) map[string]int64 {
	own := map[string]int64{}
	rows := int64(len(answers[0])) + 200 // those that are no numbers are not among them
	for name := range answers[0] {
		limit := int64(1)
		switch {
		case slices.Contains([]string{"questions", "queries", "com_show_status", "created_tmp_tables", "created_tmp_disk_tables", "select_scan"}, name):
		case strings.HasPrefix(name, "handler_"), name == "rows_sent", name == "rows_read", name == "rows_tmp_read":
			limit = 2 * rows
		case name == "bytes_sent", name == "bytes_received":
			limit = 100 * rows
		default:
			continue
		}
		n := min(answers[1][name]-answers[0][name], answers[2][name]-answers[1][name], limit)
		if n > 0 {
			own[name] = n
		}
	}
	return own
}

// second gives what the series keeps of the last second.
func (r *statusReader) second(answer map[string]int64) map[string]int64 {
	second := map[string]int64{}
	for _, name := range results.StatusSeries {
		if n, ok := answer[name]; ok {
			second[name] = max(0, n-r.last[name]-r.own[name])
		}
	}
	return second
}

// result gives what was read; nil where that spans no time.
func (r *statusReader) result() *results.ServerStatus {
	if r.asked == 0 {
		return nil
	}
	s := &results.ServerStatus{Elapsed: r.ended.Sub(r.begun).Seconds(), Counters: map[string]int64{}, Seconds: r.seconds}
	for name, to := range r.last {
		from, ok := r.first[name]
		// One that only the asking changed is there as 0: it tells that the server has it, and which server it is.
		if ok && to > from && !isGauge(name) {
			s.Counters[name] = max(0, to-from-int64(r.asked)*r.own[name])
		}
	}
	return s
}
