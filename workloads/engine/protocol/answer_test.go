package protocol_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"runtime"
	"slices"
	"strings"
	"testing"

	"benchplan/workloads/engine/protocol"
)

// read feeds an answer in pieces of a size until it is done, refusing a local file, and gives how much was used.
func read(a *protocol.Answer, data []byte, size int) (used int, status protocol.Status, err error) {
	for used < len(data) {
		piece := data[used:min(used+size, len(data))]
		n, status, err := a.Feed(piece)
		used += n
		switch {
		case err != nil:
			return used, status, err
		case status == protocol.Refuse:
			a.Refusal()
		case status == protocol.Done:
			return used, status, nil
		case n < len(piece):
			return used, status, errors.New("more is wanted, and not all was taken")
		}
	}
	return used, protocol.More, nil
}

// check holds the answers of a server against the table, in pieces of several sizes.
func check(t *testing.T, c capture) {
	t.Helper()
	for _, x := range exchanges {
		answer, err := hex.DecodeString(c.Answers[x.name])
		if err != nil || len(answer) == 0 {
			t.Fatalf("%s: no answer (%v): run the test with -update", x.name, err)
		}
		for _, size := range []int{1, 2, 3, 7, 1000, len(answer)} {
			a := protocol.Answer{Capabilities: c.Capabilities}
			a.Begin(1, x.prepare != "" && !x.execute)
			used, status, err := read(&a, answer, size)
			if err != nil || status != protocol.Done || used != len(answer) {
				t.Errorf("%s, in pieces of %d: %d of %d bytes, status %d, %v", x.name, size, used, len(answer), status, err)
				continue
			}
			server, _ := errors.AsType[*protocol.ServerError](a.Err())
			switch {
			case x.local:
				if !errors.Is(a.Err(), protocol.ErrLocalFile) || !strings.Contains(a.Err().Error(), "/etc/passwd") {
					t.Errorf("%s: error %v", x.name, a.Err())
				}
			case x.code != 0:
				if server == nil || server.Code != x.code || server.State == [5]byte{} || server.Message == "" {
					t.Errorf("%s: error %+v, want %d", x.name, server, x.code)
				}
			case a.Err() != nil || a.Rows != x.rows || a.Affected != x.affected || a.Params != x.params:
				t.Errorf("%s: %d rows, %d changed, %d parameters, error %v", x.name, a.Rows, a.Affected, a.Params, a.Err())
			}
		}
	}
}

func TestAnswersOfARealServer(t *testing.T) {
	for _, c := range loadCaptures(t) {
		check(t, c)
	}
}

// packets makes packets of payloads, numbered from 1, split where they are too large for one.
func packets(payloads ...[]byte) (all []byte) {
	sequence := byte(1)
	for _, p := range payloads {
		for {
			n := min(len(p), protocol.MaxPayload)
			all = append(all, byte(n), byte(n>>8), byte(n>>16), sequence)
			all = append(all, p[:n]...)
			sequence++
			if p = p[n:]; n < protocol.MaxPayload {
				break
			}
		}
	}
	return all
}

var (
	column  = []byte("\x03def\x00\x00\x00\x01x\x00\x0c\x21\x00\x01\x00\x00\x00\xfd\x00\x00\x00\x00\x00")
	oldEOF  = []byte{0xfe, 0, 0, 2, 0}
	newEOF  = []byte{0xfe, 0, 0, 2, 0, 0, 0}
	moreEOF = []byte{0xfe, 0, 0, 0x0a, 0, 0, 0}
	ok3     = []byte{0, 3, 0, 2, 0, 0, 0}
)

func large(first byte, size int) []byte {
	row := make([]byte, size)
	row[0] = first
	return row
}

func TestRowsLargerThanAPacket(t *testing.T) {
	for name, size := range map[string]int{
		"just below": protocol.MaxPayload - 1, "exactly one": protocol.MaxPayload, "one and a byte": protocol.MaxPayload + 1,
		"exactly two": 2 * protocol.MaxPayload,
	} {
		for _, first := range []byte{0x00, 0xfd, 0xfe} {
			if first == 0xfe && size < protocol.MaxPayload {
				continue // such a value has at least 16 MiB
			}
			for _, c := range []protocol.Capabilities{{}, {DeprecateEOF: true}} {
				answer := packets([]byte{1}, column, large(first, size), []byte{1, 'a'}, newEOF)
				if !c.DeprecateEOF {
					answer = packets([]byte{1}, column, oldEOF, large(first, size), []byte{1, 'a'}, oldEOF)
				}
				for _, piece := range []int{64 << 10} {
					a := protocol.Answer{Capabilities: c}
					a.Begin(1, false)
					used, status, err := read(&a, answer, piece)
					if err != nil || status != protocol.Done || used != len(answer) || a.Rows != 2 {
						t.Errorf("%s, first byte %#x, %+v: %d of %d bytes, status %d, %d rows, %v", name, first, c, used, len(answer), status, a.Rows, err)
					}
				}
			}
		}
	}
}

func TestAnswersThatAreRareOrWrong(t *testing.T) {
	modern := protocol.Capabilities{DeprecateEOF: true}
	maria := protocol.Capabilities{DeprecateEOF: true, CacheMetadata: true}
	renumber := func(b []byte, sequence byte) []byte { b = slices.Clone(b); b[3] = sequence; return b }
	for _, tt := range []struct {
		name           string
		capabilities   protocol.Capabilities
		answer         []byte
		rows, affected int64
		err            error  // of Feed
		code           uint16 // of the server
		left           int    // bytes after the answer
	}{
		{name: "columns left out", capabilities: maria, answer: packets([]byte{1, 0}, []byte{0, 0, 7}, newEOF), rows: 1},
		{name: "columns sent", capabilities: maria, answer: packets([]byte{1, 1}, column, []byte{0, 0, 7}, newEOF), rows: 1},
		{name: "not said whether columns follow", capabilities: maria, answer: packets([]byte{1}, column), err: protocol.ErrMalformed},
		{name: "columns left out, with EOF", capabilities: protocol.Capabilities{CacheMetadata: true}, answer: packets([]byte{1, 0}, oldEOF, []byte{0, 0, 7}, oldEOF), rows: 1},
		{name: "report of progress", capabilities: modern, answer: packets([]byte{0xff, 0xff, 0xff, 1, 1, 1, 0, 0, 0, 0}, ok3), affected: 3},
		{name: "rows of the first result, changes of the last", capabilities: modern,
			answer: packets([]byte{1}, column, []byte{1, 'a'}, moreEOF, []byte{1}, column, []byte{1, 'a'}, []byte{1, 'b'}, moreEOF, ok3), rows: 1, affected: 3},
		{name: "changes first, rows then", capabilities: modern, answer: packets([]byte{0, 3, 0, 0x0a, 0, 0, 0}, []byte{1}, column, []byte{1, 'a'}, newEOF), rows: 1},
		{name: "message after the status", capabilities: modern, answer: packets(append(slices.Clone(ok3), "\x05hello"...)), affected: 3},
		{name: "many changes", capabilities: modern, answer: packets([]byte{0, 0xfe, 0, 0, 0, 0, 1, 0, 0, 0, 0, 2, 0, 0, 0}), affected: 1 << 32},
		// As MySQL with CLIENT_SESSION_TRACK has it: status 0x4000, a message, and what has changed.
		{name: "OK with the state of the session", capabilities: modern, answer: packets([]byte("\x00\x03\x00\x02\x40\x00\x00\x00\x0f\x00\x0d\x0aautocommit\x02ON")), affected: 3},
		{name: "end of rows with the state of the session", capabilities: modern,
			answer: packets([]byte{1}, column, []byte{1, 'a'}, []byte("\xfe\x00\x00\x02\x40\x00\x00\x00\x09\x01\x07\x06sbtest")), rows: 1},
		{name: "end of rows with a message", capabilities: modern, answer: packets([]byte{1}, column, append(slices.Clone(newEOF), "\x05hello"...))},
		{name: "end of rows with warnings", capabilities: modern, answer: packets([]byte{1}, column, []byte{1, 'a'}, []byte{0xfe, 0, 0, 2, 0, 0xff, 0xff}), rows: 1},
		{name: "end of rows with more, before OK", answer: packets([]byte{1}, column, oldEOF, []byte{1, 'a'}, []byte{0xfe, 0, 0, 0x0a, 0}, ok3), rows: 1, affected: 3},
		{name: "rows of NULL", capabilities: modern, answer: packets([]byte{1}, column, []byte{0xfb}, []byte{0xfb}, newEOF), rows: 2},
		{name: "error in a later result", capabilities: modern, answer: packets([]byte{1}, column, []byte{1, 'a'}, moreEOF, []byte("\xff\xda\x04#21000x")), code: 1242},
		{name: "4096 columns", capabilities: modern, answer: packets(append([][]byte{{0xfc, 0, 0x10}}, append(slices.Repeat([][]byte{column}, 4096), newEOF)...)...)},
		{name: "error with another number", capabilities: modern, answer: renumber(packets([]byte("\xff\x87\x07#70100killed")), 0), code: 1927},
		{name: "error without a state", capabilities: modern, answer: packets([]byte("\xff\x10\x04Too many")), code: 1040},
		{name: "error without a message", capabilities: modern, answer: packets([]byte("\xff\x10\x04")), code: 1040},
		{name: "error in place of a column", capabilities: modern, answer: packets([]byte{2}, column, []byte("\xff\x10\x04#08004x")), code: 1040},
		{name: "more than the answer", capabilities: modern, answer: append(packets(ok3), "rest"...), affected: 3, left: 4},

		{name: "a length that is NULL", capabilities: modern, answer: packets([]byte{0, 0xfb, 0, 2, 0, 0, 0}), err: protocol.ErrMalformed},
		{name: "OK whose second number is cut off", capabilities: modern, answer: packets([]byte{0, 1, 0xfd, 2, 0}), err: protocol.ErrMalformed},
		{name: "end of rows that is no OK", capabilities: modern, answer: packets([]byte{1}, column, []byte{0xfe, 0xff, 0, 2, 0, 0, 0}), err: protocol.ErrMalformed},
		{name: "no columns, by a long number", capabilities: modern, answer: packets([]byte{0xfc, 0, 0}), err: protocol.ErrMalformed},
		{name: "further part with another number", capabilities: modern, answer: append(packets([]byte{1}, column), slices.Concat([]byte{0xff, 0xff, 0xff, 3}, large(0, protocol.MaxPayload), []byte{0, 0, 0, 3})...), err: protocol.ErrSequence},
		{name: "wrong number", capabilities: modern, answer: renumber(packets(ok3), 2), err: protocol.ErrSequence},
		{name: "wrong number in the middle", capabilities: modern, answer: append(packets([]byte{1}), packets(column)...), err: protocol.ErrSequence},
		{name: "empty packet", capabilities: modern, answer: []byte{0, 0, 0, 1}, err: protocol.ErrMalformed},
		{name: "OK cut off", capabilities: modern, answer: packets([]byte{0, 3, 0, 2}), err: protocol.ErrMalformed},
		{name: "OK of a number cut off", capabilities: modern, answer: packets([]byte{0, 0xfe, 1, 2}), err: protocol.ErrMalformed},
		{name: "OK that is nothing else", capabilities: modern, answer: packets([]byte{0}), err: protocol.ErrMalformed},
		{name: "error cut off", capabilities: modern, answer: packets([]byte{0xff, 1}), err: protocol.ErrMalformed},
		{name: "too many columns", capabilities: modern, answer: packets([]byte{0xfe, 0, 0, 0, 0, 0, 0, 0, 0x10}), err: protocol.ErrMalformed},
		{name: "columns cut off", capabilities: modern, answer: packets([]byte{0xfc, 1}), err: protocol.ErrMalformed},
		{name: "the end in place of a column", capabilities: modern, answer: packets([]byte{2}, column, newEOF), err: protocol.ErrMalformed},
		{name: "no end after the columns", answer: packets([]byte{1}, column, []byte{1, 'a'}), err: protocol.ErrMalformed},
		{name: "the end cut off", answer: packets([]byte{1}, column, oldEOF, []byte{0xfe, 0}), err: protocol.ErrMalformed},
		{name: "the new end cut off", capabilities: modern, answer: packets([]byte{1}, column, []byte{0xfe, 0, 0}), err: protocol.ErrMalformed},
	} {
		sizes := []int{1, 5, len(tt.answer)}
		if len(tt.answer) > 1<<20 {
			sizes = []int{1 << 16, len(tt.answer)}
		}
		for _, size := range sizes {
			a := protocol.Answer{Capabilities: tt.capabilities}
			a.Begin(1, false)
			used, status, err := read(&a, tt.answer, size)
			if !errors.Is(err, tt.err) {
				t.Errorf("%s, in pieces of %d: error %v, want %v", tt.name, size, err, tt.err)
			}
			if tt.err != nil {
				continue
			}
			server, _ := errors.AsType[*protocol.ServerError](a.Err())
			if (server != nil) != (tt.code != 0) || server != nil && server.Code != tt.code {
				t.Errorf("%s: error %v, want %d", tt.name, a.Err(), tt.code)
			}
			if status != protocol.Done || used != len(tt.answer)-tt.left || tt.code == 0 && (a.Rows != tt.rows || a.Affected != tt.affected) {
				t.Errorf("%s, in pieces of %d: status %d, %d of %d bytes, %d rows, %d changed", tt.name, size, status, used, len(tt.answer), a.Rows, a.Affected)
			}
		}
	}
}

func TestAnswersAllocateNothing(t *testing.T) {
	a := protocol.Answer{Capabilities: protocol.Capabilities{DeprecateEOF: true}}
	answer := packets(append([][]byte{{1}, column}, append(slices.Repeat([][]byte{[]byte("\x77some text of a row")}, 100), newEOF)...)...)
	for _, size := range []int{10, len(answer)} {
		n := testing.AllocsPerRun(100, func() {
			a.Begin(1, false)
			if _, status, err := read(&a, answer, size); status != protocol.Done || err != nil || a.Rows != 100 {
				t.Fatal(status, err, a.Rows)
			}
		})
		if n != 0 {
			t.Errorf("%v allocations, in pieces of %d", n, size)
		}
	}
}

func TestWhatAnAnswerHoldsIsBounded(t *testing.T) {
	// A packet of an error that does not end, in the largest parts.
	part := append([]byte{0xff, 0xff, 0xff, 1, 0xff, 0x10, 0x04}, bytes.Repeat([]byte("x"), protocol.MaxPayload-3)...)
	a := protocol.Answer{}
	a.Begin(1, false)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for i := range 20 {
		part[3] = byte(i + 1)
		if _, status, err := a.Feed(part); status != protocol.More || err != nil {
			t.Fatal(status, err)
		}
	}
	if runtime.ReadMemStats(&after); after.TotalAlloc-before.TotalAlloc > 64<<10 {
		t.Errorf("%d bytes for a packet of %d", after.TotalAlloc-before.TotalAlloc, 20*len(part))
	}
}

// FuzzAnswer: whatever a server sends, reading it ends, and neither how it is cut into pieces nor what was read before makes a difference.
func FuzzAnswer(f *testing.F) {
	for _, c := range loadCaptures(f) {
		for _, x := range exchanges {
			answer, err := hex.DecodeString(c.Answers[x.name])
			if err != nil {
				f.Fatal(err)
			}
			if len(answer) < 2000 {
				f.Add(answer, x.prepare != "" && !x.execute, c.Capabilities.DeprecateEOF, c.Capabilities.CacheMetadata, uint8(3))
			}
		}
	}
	f.Add([]byte{0xff, 0xff, 0xff, 1, 0xfe}, false, false, false, uint8(1))
	f.Fuzz(func(t *testing.T, data []byte, prepare, deprecate, cache bool, size uint8) {
		type outcome struct {
			used           int
			status         protocol.Status
			err, server    string
			rows, affected int64
			id             uint32
			params         int
		}
		feed := func(a *protocol.Answer, size int) (o outcome) {
			a.Begin(1, prepare)
			var err error
			o.used, o.status, err = read(a, data, size)
			o.rows, o.affected, o.id, o.params = a.Rows, a.Affected, a.ID, a.Params
			if o.used > len(data) || o.rows < 0 || o.rows > int64(len(data)) || o.params < 0 || o.params > 1<<16 {
				t.Fatalf("%+v of %d bytes", o, len(data))
			}
			if err != nil {
				o.err, o.used = err.Error(), 0
			} else if a.Err() != nil {
				o.server = a.Err().Error()
			}
			return o
		}
		capabilities := protocol.Capabilities{DeprecateEOF: deprecate, CacheMetadata: cache}
		used := protocol.Answer{Capabilities: capabilities}
		whole, pieces, again := feed(&protocol.Answer{Capabilities: capabilities}, len(data)+1), feed(&used, int(size)+1), feed(&used, len(data)+1)
		if whole != pieces || whole != again {
			t.Errorf("at once %+v, in pieces %+v, by what has read before %+v", whole, pieces, again)
		}
	})
}
