package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"golang.org/x/sys/unix"
)

// shortPlan has two cells in a group; each takes long enough to be seen.
const shortPlan = `
tables: { schema: benchyou, count: 1, rows: 100 }
steps:
  - prepare:
  - name: config
    matrix: { flush: [1, 2] }
    steps:
      - name: mix
        run: { workload: benchyou_random, keys: existing, threads: { write: 1, read: 1 }, duration: %s }
`

// TestTerminal: while a plan runs a terminal shows where it is and what the load does; at the end the lines of what was done
// are left. Nothing but the result is on standard output.
func TestTerminal(t *testing.T) {
	t.Parallel()
	screen, out, wait := runOnTerminal(t, 80, 24, nil, fmt.Sprintf(shortPlan, "3s"))
	var seen string
	screen.wait(t, "the tree", func(text string) bool {
		seen = text
		return regexp.MustCompile(`(?m)^config flush=1 +1 of 2, \d+s\n  mix +\d+s of 3s\n    \d+ tps, p95 [\d.]+ ms\n \[[=>-]+\] cell 1 of 2, \d+s, at least \d+s left\n`).MatchString(text)
	})
	for line := range strings.SplitSeq(seen, "\n") {
		if strings.Count(line, "[") > 1 {
			t.Errorf("a line over another one: %q", line)
		}
	}
	screen.wait(t, "the second cell", func(text string) bool {
		return regexp.MustCompile(`(?m)^cell 1 of 2 config / mix flush=1  \d+ tps, p95 [\d.]+ ms, [\d.]+s\nconfig flush=2 +2 of 2, \d+s\n`).MatchString(text)
	})
	if status := wait(); status != exitDone {
		t.Errorf("exit status %d", status)
	}
	want := regexp.MustCompile(`^2 cells, at least 6s, kept in \S+\n(private server.*\n)?(prepare.*\n)?cell 1 of 2 .*\ncell 2 of 2 .*\n(config .*\n)?kept in \S+\n$`)
	if text := screen.text(); !want.MatchString(text) {
		t.Errorf("at the end there is\n%s", text)
	}
	if text := out.String(); !strings.HasPrefix(text, "p · ") || strings.Contains(text, "\x1b") || strings.Contains(text, "cell 1") {
		t.Errorf("standard output is\n%s", text)
	}
}

// TestTerminalInterrupted: ^C leaves no half of a line behind.
func TestTerminalInterrupted(t *testing.T) {
	t.Parallel()
	screen, _, wait := runOnTerminal(t, 100, 20, nil, fmt.Sprintf(shortPlan, "1h"))
	screen.wait(t, "the load", func(text string) bool { return strings.Contains(text, " tps, p95 ") })
	if _, err := screen.terminal.WriteString("\x03"); err != nil {
		t.Fatal(err)
	}
	if status := wait(); status != exitInterrupted {
		t.Errorf("exit status %d", status)
	}
	text := screen.text()
	if strings.Contains(text, "^C") || strings.Contains(text, "[") && strings.Contains(text, " left") {
		t.Errorf("what was drawn is left:\n%s", text)
	}
	for _, line := range []string{
		`interrupted: what was measured is kept and finally runs; once more ends at once, without finally`,
		`cell 1 of 2 config / mix flush=1  \d+ tps, p95 .*, partial, .*`, `run mix flush=1 interrupted`, `kept in .*`,
	} {
		if !regexp.MustCompile(`(?m)^` + line + `$`).MatchString(text) {
			t.Errorf("there is no line %s in\n%s", line, text)
		}
	}
}

// TestTerminalWithoutRoom: one that is narrow, low or dumb gets lines, and nothing that moves a cursor.
func TestTerminalWithoutRoom(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		columns, rows int
		env           []string
	}{"narrow": {narrowest - 1, 24, nil}, "low": {80, leastRows - 1, nil}, "dumb": {80, 24, []string{"TERM=dumb"}}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			screen, _, wait := runOnTerminal(t, tt.columns, tt.rows, tt.env, fmt.Sprintf(shortPlan, "300ms"))
			if status := wait(); status != exitDone {
				t.Errorf("exit status %d", status)
			}
			screen.mu.Lock()
			defer screen.mu.Unlock()
			if text := screen.raw.String(); strings.Contains(text, "\x1b") || strings.Count(text, "\ncell ") != 2 {
				t.Errorf("%q", text)
			}
		})
	}
}

// runOnTerminal runs a plan on the tests' server with a terminal as standard error and input. Wait gives its exit status.
func runOnTerminal(t *testing.T, columns, rows int, env []string, text string) (*screenOf, *bytes.Buffer, func() int) {
	t.Helper()
	target, _, _ := onServer(t)
	file := planFile(t, "p.yaml", target+text)
	master, slave := openTerminal(t, columns, rows)
	program, err := exec.LookPath("benchplan") // put there by testscript.Main
	if err != nil {
		t.Fatal(err)
	}
	command := exec.Command(program, "run", file, "--yes", "--runs", "runs")
	out := &bytes.Buffer{}
	command.Dir = t.TempDir()
	command.Env = append(slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "COLUMNS=") }), append([]string{"TERM=xterm"}, env...)...)
	command.Stdin, command.Stdout, command.Stderr = slave, out, slave
	command.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 0}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	_ = slave.Close()
	s := &screenOf{terminal: master, columns: columns, rows: rows}
	var reading sync.WaitGroup
	reading.Go(s.read)
	wait := sync.OnceValue(func() int {
		limit := time.AfterFunc(time.Minute, func() { _ = command.Process.Kill() })
		defer limit.Stop()
		_ = command.Wait()
		reading.Wait()
		return command.ProcessState.ExitCode()
	})
	t.Cleanup(func() {
		_ = command.Process.Signal(os.Interrupt)
		wait()
		_ = master.Close()
	})
	return s, out, wait
}

// openTerminal makes a pseudo-terminal of a size.
func openTerminal(t *testing.T, columns, rows int) (master, slave *os.File) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	fd := int(master.Fd())
	number, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		err = unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: uint16(rows), Col: uint16(columns)})
	}
	if err == nil {
		slave, err = os.OpenFile("/dev/pts/"+strconv.Itoa(number), os.O_RDWR|unix.O_NOCTTY, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	return master, slave
}

// screenOf is what a terminal shows: it understands what the program writes, and no more.
type screenOf struct {
	terminal      *os.File
	columns, rows int

	mu       sync.Mutex
	raw      bytes.Buffer
	lines    [][]rune // from the first line on, those that were scrolled away included
	row, col int
	rest     []byte // of a sequence or a character that has not ended
	odd      []string
}

func (s *screenOf) read() {
	b := make([]byte, 4096)
	for {
		n, err := s.terminal.Read(b)
		s.mu.Lock()
		s.raw.Write(b[:n])
		s.take(b[:n])
		s.mu.Unlock()
		if err != nil { // the program has ended
			return
		}
	}
}

var sequence = regexp.MustCompile(`^\x1b\[([0-9]*)([A-Za-z])`)

func (s *screenOf) take(b []byte) {
	b = append(s.rest, b...)
	for len(b) > 0 {
		size := 1
		switch m := sequence.FindSubmatch(b); {
		case m != nil:
			size = len(m[0])
			n, _ := strconv.Atoi(string(m[1]))
			s.move(string(m[2]), n)
		case b[0] == 0x1b && len(b) < 8, !utf8.FullRune(b):
			s.rest = slices.Clone(b)
			return
		case b[0] == '\r':
			s.col = 0
		case b[0] == '\n':
			s.row++
		default:
			r, n := utf8.DecodeRune(b)
			size = n
			s.put(r)
		}
		b = b[size:]
	}
	s.rest = nil
}

func (s *screenOf) move(what string, n int) {
	switch what {
	case "A":
		s.row = max(s.row-max(n, 1), s.top())
	case "J":
		s.line()
		s.lines = s.lines[:s.row+1]
		s.lines[s.row] = s.lines[s.row][:min(s.col, len(s.lines[s.row]))]
	default:
		s.odd = append(s.odd, what)
	}
}

// top is the first line that has not been scrolled away.
func (s *screenOf) top() int { return max(0, max(len(s.lines), s.row+1)-s.rows) }

func (s *screenOf) line() {
	for len(s.lines) <= s.row {
		s.lines = append(s.lines, nil)
	}
}

func (s *screenOf) put(r rune) {
	if s.col == s.columns {
		s.row, s.col = s.row+1, 0
	}
	s.line()
	for len(s.lines[s.row]) <= s.col {
		s.lines[s.row] = append(s.lines[s.row], ' ')
	}
	s.lines[s.row][s.col] = r
	s.col++
}

// text is what was and is on the screen, without empty lines at its end.
func (s *screenOf) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var b strings.Builder
	for _, line := range s.lines {
		b.WriteString(strings.TrimRight(string(line), " ") + "\n")
	}
	if s.odd != nil {
		fmt.Fprintf(&b, "sequences that the test does not know: %q\n", s.odd)
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}

// wait waits until the screen shows something.
func (s *screenOf) wait(t *testing.T, what string, shows func(string) bool) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); !shows(s.text()); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s did not show; there is\n%s", what, s.text())
		}
	}
}
