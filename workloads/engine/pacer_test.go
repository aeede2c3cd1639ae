package engine

import (
	"math/rand/v2"
	"sync"
	"testing"
	"time"
)

// TestWaitersReturnWhenDue whatever the order in which they come.
func TestWaitersReturnWhenDue(t *testing.T) {
	c := &clock{base: time.Now()}
	p := newPacer(c)
	var waiters sync.WaitGroup
	for _, i := range rand.New(rand.NewPCG(1, 1)).Perm(60) {
		waiters.Go(func() {
			w := newWaiter()
			for round := range int64(3) {
				until := round*100*ms + int64(i)*2*ms
				p.wait(w, until)
				if now := c.now(); now < until {
					t.Errorf("waiter %d returned %s too early", i, time.Duration(until-now))
				}
			}
		})
	}
	waiters.Wait()
	if p.led || p.first != nil || p.last != nil {
		t.Error("somebody is left")
	}
	if p.lead < 0 || p.lead > mostLead {
		t.Errorf("a lead of %d ns", p.lead)
	}
}

// TestWhoIsDueEarlierDoesNotWaitForTheLeader, who here is never due; and the end of the cell ends every wait.
func TestWhoIsDueEarlierDoesNotWaitForTheLeader(t *testing.T) {
	c := &clock{base: time.Now()}
	p := newPacer(c)
	var waiters sync.WaitGroup
	for range 5 {
		waiters.Go(func() { p.wait(newWaiter(), never) })
	}
	for led := false; !led; time.Sleep(time.Millisecond) {
		p.mu.Lock()
		led = p.led
		p.mu.Unlock()
	}
	until := c.now() + 10*ms
	p.wait(newWaiter(), until)
	if c.now() < until {
		t.Error("it returned too early")
	}
	p.end()
	waiters.Wait()
	p.wait(newWaiter(), never)
}
