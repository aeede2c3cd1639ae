package engine

import (
	"context"
	"slices"
	"sync"
	"time"

	"benchplan/workloads/guard"
)

// settleLimit bounds how long a cell that is over takes to roll back what clients without a connection have left on the server.
const settleLimit = 5 * time.Second

// settle puts an end to what stranded clients have open on the server, each on a connection of its own: what is prepared
// outlives the connection that was cut. It gives the number of clients for which that could not be done.
func (r *run) settle() int64 {
	ctx, cancel := context.WithTimeout(context.Background(), settleLimit)
	defer cancel()
	var failed int64
	var mu sync.Mutex
	var clients sync.WaitGroup
	free := make(chan struct{}, dialsAtOnce)
	for _, client := range r.runners {
		lost, ok := client.line.(*connection)
		if !ok || !client.session.stranded {
			continue
		}
		clients.Go(func() {
			free <- struct{}{}
			defer func() { <-free }()
			settled := false
			err := guard.Call(func() error {
				settled = client.session.settle(ctx, &connection{script: lost.script, connector: lost.connector})
				return nil
			})
			if err != nil || !settled {
				mu.Lock()
				defer mu.Unlock()
				failed++
			}
		})
	}
	clients.Wait()
	return failed
}

// settle asks the client what is left to roll back and to finish, and has it executed; the connection is opened only if there is
// something. false: not all of it could be.
func (s *session) settle(ctx context.Context, c *connection) bool {
	defer c.close()
	defer context.AfterFunc(ctx, c.sever)()
	var doubtful []Statement
	execute := func() bool {
		if c.conn == nil && c.open(ctx) != nil {
			return false
		}
		_, _, err := c.execute(&s.statement)
		if err != nil && s.statement.Tolerant && !c.classify(err).lost {
			doubtful = append(doubtful, Statement{Template: Plain, Text: slices.Clone(s.statement.Text), Class: s.statement.Class})
			return true
		}
		return err == nil
	}
	if s.phase != closing {
		for lost := true; ; lost = false {
			s.statement.reset()
			if !s.client.Undo(&s.statement, lost) {
				break
			}
			if !execute() {
				return false
			}
		}
	}
	closer, ok := s.client.(Closer)
	for ok {
		s.statement.reset()
		if !closer.Close(&s.statement) {
			break
		}
		if !execute() {
			return false
		}
	}
	return c.repeat(ctx, doubtful)
}

// repeat executes once more what the server had nothing to roll back for: a server that hung may find a statement of the
// connection that was cut in its buffer, and execute it only now. That it has nothing to roll back then either is no error.
func (c *connection) repeat(ctx context.Context, statements []Statement) bool {
	const times, pause = 4, 150 * time.Millisecond
	for range times {
		if len(statements) == 0 {
			return true
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return false
		}
		statements = slices.DeleteFunc(statements, func(s Statement) bool {
			_, _, err := c.execute(&s)
			return err == nil
		})
	}
	return true
}
