package steps

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

const (
	clocksApart = 2 * time.Second  // from which the clocks of two machines are said to differ
	dearClock   = time.Microsecond // from which reading the clock is said to be slow
)

// utcSeconds asks for the seconds since 1970. It goes by UTC: local time comes twice in an hour of autumn.
const utcSeconds = "SELECT TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) / 1000000.0"

// clockWarning tells that the server's clock is not that of this machine, to what the time of asking allows; empty where it is, where
// both are of one machine, or where the server does not tell.
func (r *run) clockWarning(ctx context.Context, conn *connection, db *sql.DB) string {
	if conn.private != nil {
		return ""
	}
	var text sql.NullString
	before := time.Now()
	err := db.QueryRowContext(ctx, utcSeconds).Scan(&text)
	after := time.Now()
	if err != nil {
		return ""
	}
	server, err := strconv.ParseFloat(text.String, 64)
	if err != nil {
		return ""
	}
	ahead := server - unixSeconds(after)
	behind := unixSeconds(before) - server
	how := "ahead of"
	if behind > ahead {
		ahead, how = behind, "behind"
	}
	if ahead <= clocksApart.Seconds() {
		return ""
	}
	return fmt.Sprintf("the clock of %s is %s %s that of this machine: times of its log do not fit those of the record; keep both by NTP",
		conn.name(), time.Duration(ahead*float64(time.Second)).Round(time.Second), how)
}

func unixSeconds(t time.Time) float64 { return float64(t.UnixNano()) / 1e9 }

// clockCost is how long it takes to read this machine's clock: the shortest of a few means, so that a pause of the program does not count.
func clockCost() time.Duration {
	const readings, tries = 200, 5
	best := time.Hour
	for range tries {
		begin := time.Now()
		for range readings - 1 {
			_ = time.Now()
		}
		best = min(best, time.Since(begin)/readings)
	}
	return best
}

// clockCostWarning tells that reading the clock is slow; empty where it is not.
func clockCostWarning(cost time.Duration) string {
	if cost <= dearClock {
		return ""
	}
	source, _ := os.ReadFile("/sys/devices/system/clocksource/clocksource0/current_clocksource")
	name := strings.TrimSpace(string(source))
	if name == "" {
		name = "unknown"
	}
	return fmt.Sprintf("reading this machine's clock takes %s (clock source: %s), and each statement is timed by it twice: short latencies come out too long; let the kernel use tsc or kvm-clock where it can", cost, name)
}

// now gives the time for the record: counted, by the clock that nobody sets, from when the run began. So what is said to have been before
// was before, and times differ by what passed between them, even where the system clock is set meanwhile.
func (r *run) now() time.Time { return r.origin.Add(time.Since(r.origin)).UTC().Round(0) }

// clockStep tells that the system clock was set since it was last asked; empty where it was not.
func (r *run) clockStep() string {
	moved := r.Now().Round(0).Sub(r.now())
	by := (moved - r.stepped).Round(time.Second)
	if by.Abs() < clocksApart {
		return ""
	}
	r.stepped = moved
	how := "ahead, or the machine slept,"
	if by < 0 {
		how = "back"
	}
	return fmt.Sprintf("this machine's clock was set %s by %s while the plan ran: the times of the record go on as they began, and no duration is touched; those of the log follow the clock", how, by.Abs())
}
