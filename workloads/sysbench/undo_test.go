package sysbench_test

import (
	"math/rand/v2"
	"testing"

	"benchplan/results"
	"benchplan/workloads/engine"
	"benchplan/workloads/sysbench"
)

// TestAFailedStatementRestartsTheEvent fails each statement of an event in turn: what was begun is ended once, unless the
// connection was lost, and the event begins anew with new values.
func TestAFailedStatementRestartsTheEvent(t *testing.T) {
	const lock, unlock = "LOCK TABLES sbtest WRITE", "UNLOCK TABLES"
	for _, tt := range []struct {
		name, workload string
		options        any
		length         int // statements of an event
		begin, undo    string
	}{
		{"transaction", "oltp_read_write", standard(t, "oltp_read_write"), 20, "BEGIN", "ROLLBACK"},
		{"without", "oltp_write_only", options(t, func(o *sysbench.WriteOnlyOptions) { o.SkipTrx = true }), 4, "", ""},
		{"alone", "oltp_point_select", standard(t, "oltp_point_select"), 1, "", ""},
		{"locks", "oltp_0_4", options(t, func(o *sysbench.Version4Options) { o.EngineTrx.EngineTrx = "off" }), 21, lock, unlock},
		{"transfer", "transfer", standard(t, "transfer"), 4, "BEGIN", "ROLLBACK"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := workload(t, tt.workload)
			w, err := d.New(tt.options, spec(d.Schema, 1, 1_000_000), nil)
			if err != nil {
				t.Fatal(err)
			}
			for _, lost := range []bool{false, true} {
				c := w.Client("", 0, 1, rand.New(rand.NewPCG(1, 2)))
				for at := range tt.length {
					first := advance(c, at)
					var s engine.Statement
					again := c.Undo(&s, lost)
					if want := !lost && at > 0 && tt.undo != ""; again != want {
						t.Fatalf("lost %v, statement %d: there is something to undo: %v", lost, at, again)
					}
					if again {
						if string(s.Text) != tt.undo || s.Class != results.Other || s.Tolerant {
							t.Errorf("statement %d is undone by %+v", at, s)
						}
						if c.Undo(&engine.Statement{}, false) {
							t.Errorf("statement %d is undone twice", at)
						}
					}
					second := advance(c, tt.length-1)
					if tt.begin != "" && string(second[0].Text) != tt.begin {
						t.Errorf("after statement %d failed the event begins with %q", at, second[0].Text)
					}
					for i := range first {
						if len(first[i].Args) > 0 && first[i].Args[0].Int == second[i].Args[0].Int && first[i].Args[0].Kind == engine.Int && tt.workload != "transfer" {
							t.Errorf("after statement %d failed statement %d has its old values", at, i)
						}
					}
					if !second[tt.length-1].Last {
						t.Errorf("after statement %d failed the event has not %d statements", at, tt.length)
					}
					c.Done(1, 1)
				}
			}
		})
	}
}

// advance asks for the statements of an event up to one, and answers all but that.
func advance(c engine.Client, to int) []engine.Statement {
	list := make([]engine.Statement, to+1)
	for i := range list {
		c.Next(&list[i])
		if i < to {
			c.Done(1, 1)
		}
	}
	return list
}

// TestTransferLeavesOutWhatItCannotTake rolls back where a row is not there.
func TestTransferLeavesOutWhatItCannotTake(t *testing.T) {
	w, err := workload(t, "transfer").New(standard(t, "transfer"), spec("sbtest", 2, 10), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, missing := range []int{1, 2} {
		c := w.Client("", 0, 1, rand.New(rand.NewPCG(1, 2)))
		advance(c, missing)
		c.Done(0, 0)
		var s engine.Statement
		c.Next(&s)
		if string(s.Text) != "ROLLBACK" || !s.Last {
			t.Errorf("after update %d met no row comes %+v", missing, s)
		}
		c.Done(0, 0)
		if list := advance(c, 3); string(list[0].Text) != "BEGIN" || string(list[3].Text) != "COMMIT" {
			t.Errorf("the next event is %+v", list)
		}
	}
}
