package steps

import (
	"context"
	"database/sql"
	"fmt"
	"slices"

	"benchplan/results"
)

// isSet notes in the run's record what a global variable was that is about to be set on a server of somebody else: who is killed puts
// nothing back, and a resume has to know.
func (r *run) isSet(conn *connection, variable string, before sql.NullString) error {
	u := results.Unset{Address: conn.server.Address, Variable: variable}
	if before.Valid {
		u.Before = &before.String
	}
	r.Run.Unset = append(r.Run.Unset, u)
	return r.Writer.WriteRun(r.Run)
}

// isBack strikes that out: it was put back, or never set.
func (r *run) isBack(conn *connection, variable string) error {
	for i, u := range slices.Backward(r.Run.Unset) {
		if u.Address == conn.server.Address && u.Variable == variable {
			r.Run.Unset = slices.Delete(slices.Clone(r.Run.Unset), i, i+1)
			return r.Writer.WriteRun(r.Run)
		}
	}
	return nil
}

// restore puts back what steps had set on a server before the run was killed.
func (r *run) restore(ctx context.Context, conn *connection) error {
	if conn.private != nil {
		return nil // what was set there is gone with it
	}
	for i := r.left - 1; i >= 0; i-- {
		u := r.Run.Unset[i]
		if u.Address != conn.server.Address {
			continue
		}
		before := sql.NullString{Valid: u.Before != nil}
		if before.Valid {
			before.String = *u.Before
		}
		if err := conn.putBackGlobal(ctx, u.Variable, before); err != nil {
			return fmt.Errorf("putting back what was set before the run was killed: %w", err)
		}
		r.left--
		r.Run.Unset = slices.Delete(slices.Clone(r.Run.Unset), i, i+1)
		r.tell("restored "+u.Address+" "+u.Variable, fmt.Sprintf("%s: %s was still set when the run was killed, and is put back", u.Address, u.Variable))
		if err := r.Writer.WriteRun(r.Run); err != nil {
			return err
		}
	}
	return nil
}

// restoreAll does so on all servers that can be reached before the first step.
func (r *run) restoreAll(ctx context.Context) error {
	if r.left == 0 {
		return nil
	}
	for _, s := range r.stages() {
		conn, err := r.targets.reach(ctx, s.target)
		if err != nil {
			continue // the step that needs it will tell
		}
		if err := r.restore(ctx, conn); err != nil {
			return err
		}
	}
	return nil
}
