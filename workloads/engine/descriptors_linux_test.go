package engine_test

import (
	"context"
	"errors"
	"maps"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/go-sql-driver/mysql"
	"golang.org/x/sys/unix"

	"benchplan/plan"
	"benchplan/results"
	"benchplan/workloads/engine"
	"benchplan/workloads/internal/testdb"
)

// descriptors gives what this process has open, by number, and which of it a program that it starts would inherit.
func descriptors(t *testing.T) (open, inherited map[string]string) {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	open, inherited = map[string]string{}, map[string]string{}
	for _, e := range entries {
		number, err := strconv.Atoi(e.Name())
		target, gone := os.Readlink(filepath.Join("/proc/self/fd", e.Name()))
		if err != nil || gone != nil {
			continue
		}
		open[e.Name()] = target
		if flags, err := unix.FcntlInt(uintptr(number), unix.F_GETFD, 0); err == nil && flags&unix.FD_CLOEXEC == 0 {
			inherited[e.Name()] = target
		}
	}
	return open, inherited
}

// TestDescriptorsAreKept from the programs that are started meanwhile, and given back after the cell. It runs alone.
func TestDescriptorsAreKept(t *testing.T) {
	d := testdb.Shared(t)
	counterTable(d, 1)
	before, already := descriptors(t)
	looked := false
	o := engine.Order{IO: engine.IOLoop, Clients: clients(20), Duration: second + second/5, Rate: rate(200)}
	out, err := engine.Run(t.Context(), d.Connector(), unhurried(0), o, func(engine.Snapshot) {
		looked = true
		var sockets, kernel int
		during, inherited := descriptors(t)
		for number, target := range during {
			switch {
			case before[number] == target:
			case strings.HasPrefix(target, "socket:"):
				sockets++
			case strings.HasPrefix(target, "anon_inode:"):
				kernel++
			}
		}
		if !maps.Equal(inherited, already) || sockets != 20 || kernel < 3 { // epoll, eventfd, timerfd of each loop
			t.Errorf("a program would inherit %v; %d sockets of 20 clients, %d of the loop's own", inherited, sockets, kernel)
		}
	}, nil)
	if err != nil || !looked || out.Reconnects != 0 {
		t.Fatalf("looked: %t, %d reconnects, %v", looked, out.Reconnects, err)
	}
	if after, _ := descriptors(t); len(after) > len(before) {
		t.Errorf("open before: %v, after: %v", before, after)
	}
}

// fewFiles names the server's socket for the process that TestTooFewFilesAreTold starts.
const fewFiles = "BENCHPLAN_TEST_FEW_FILES"

// TestTooFewFilesAreTold, with what to do. The limit is one of a process, so it is another one that has it.
func TestTooFewFilesAreTold(t *testing.T) {
	if address := os.Getenv(fewFiles); address != "" {
		withFewFiles(t, address)
		return
	}
	t.Parallel()
	d := testdb.Shared(t)
	c := exec.CommandContext(t.Context(), "sh", "-c", `ulimit -n 60 && exec "$0" -test.run '^TestTooFewFilesAreTold$'`, os.Args[0])
	c.Env = append(os.Environ(), fewFiles+"="+d.Server.Socket())
	if out, err := c.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

func withFewFiles(t *testing.T, address string) {
	for _, mode := range ioModes {
		cfg := mysql.NewConfig()
		cfg.Net, cfg.Addr, cfg.User = "unix", address, "root"
		connector, err := engine.NewConnector(cfg)
		if err != nil {
			t.Fatal(err)
		}
		_, err = engine.Run(t.Context(), connector, sleeps("0"), engine.Order{IO: mode, Clients: clients(100), Events: 1}, nil, nil)
		if !errors.Is(err, unix.EMFILE) || !strings.Contains(err.Error(), "ulimit -n") {
			t.Errorf("%s: %v", mode, err)
		}
	}
}

// wrapped is a connection that is more than a socket.
type wrapped struct{ net.Conn }

// TestAServerThatLaterWantsMore, as one that is started again with TLS does: its clients go on by the driver.
func TestAServerThatLaterWantsMore(t *testing.T) {
	t.Parallel()
	for name, r := range map[string]*engine.Rate{"closed": nil, "open": rate(100)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := testdb.Own(t, nil)
			counterTable(d, 1)
			var more atomic.Bool
			connector := d.Connector(func(c *mysql.Config) {
				c.DialFunc = func(ctx context.Context, network, addr string) (net.Conn, error) {
					conn, err := new(net.Dialer).DialContext(ctx, network, addr)
					if err == nil && more.Load() {
						conn = wrapped{conn}
					}
					return conn, err
				}
			})
			var n atomic.Int64
			w := load{templates: increment, event: func(int, *rand.Rand) []engine.Statement {
				if n.Add(1) == 20 {
					more.Store(true)
					d.KillConnections(100)
				}
				return []engine.Statement{write(0, 0)}
			}}
			out, err := engine.Run(t.Context(), connector, w, engine.Order{Clients: clients(3), Events: plan.Count(60), Rate: r}, nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			if out.IO != string(engine.IOLoop) || out.Events != 60 || out.Reconnects != 3 || lost(out.Restarts) != 3 || out.Statements[results.Write].Count != 60 {
				t.Errorf("driven by %s, %d events, %d reconnects, restarts %+v", out.IO, out.Events, out.Reconnects, out.Restarts)
			}
		})
	}
}
