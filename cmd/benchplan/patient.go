package main

import (
	"errors"
	"io"
	"time"
)

// patientWriter writes to where somebody may not read: a pipe that is full, a terminal that was stopped. It waits as any writer does,
// until there is hurry; then for a second, and from then on what is written is lost.
type patientWriter struct {
	to      io.Writer
	hurried <-chan struct{} // nil: never
	lost    bool
}

var errNobodyReads = errors.New("nobody reads what is written")

// Write is called by one goroutine at a time. It keeps nothing of p.
func (w *patientWriter) Write(p []byte) (int, error) {
	if w.lost {
		return 0, errNobodyReads
	}
	type result struct {
		n   int
		err error
	}
	written := make(chan result, 1)
	text := append([]byte(nil), p...)
	go func() {
		n, err := w.to.Write(text)
		written <- result{n, err}
	}()
	select {
	case r := <-written:
		return r.n, r.err
	case <-w.hurried:
	}
	limit := time.NewTimer(time.Second)
	defer limit.Stop()
	select {
	case r := <-written:
		return r.n, r.err
	case <-limit.C:
		w.lost = true
		return 0, errNobodyReads
	}
}
