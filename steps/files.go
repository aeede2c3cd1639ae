package steps

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"benchplan/plan"
	"benchplan/workloads/host"

	"github.com/hashicorp/go-multierror"
)

var errNoData = errors.New("no tables are said here, and no files; add `tables: {schema: …, count: …, rows: …}` or `files: {count: …, total_size: …, dir: …}` to the plan or to a group around this step")

// onData does what a step does to the tables of its scope, and then to the files: to those of the two that are there.
func (c *Call) onData(tables func() error, files func(*plan.Files) error) error {
	spec, err := c.Scope.Tables()
	if err != nil {
		return err
	}
	there, err := c.files()
	if err != nil {
		return err
	}
	if spec == nil && there == nil {
		return errNoData
	}
	if spec != nil {
		if err := tables(); err != nil {
			return err
		}
	}
	if there != nil {
		return files(there)
	}
	return nil
}

// files gives the files under test with their folder as a path of this machine; nil where there are none. A rehearsal has small
// ones in a folder of its own within it, so that those of an earlier run stay.
func (c *Call) files() (*plan.Files, error) {
	f, err := c.Scope.Files()
	if f == nil || err != nil {
		return nil, err
	}
	f.Dir = c.path(f.Dir)
	if c.run.Rehearse {
		*f = rehearsedFiles(*f, c.run.smallestFile)
		err = c.run.rehearsalFolder(f)
	}
	return f, err
}

func (c *Call) prepareFiles(ctx context.Context, f *plan.Files, spec *prepareSpec) error {
	if err := c.confirmForeignFiles(f, "Overwrite"); err != nil {
		return err
	}
	options := host.FilesOptions{Reuse: spec.Reuse, Force: c.run.Force, Seed: uint64(c.run.Plan.Seed)}
	report, err := host.PrepareFiles(ctx, *f, options, c.run.Observer.Writing)
	if err != nil {
		return filesError(err)
	}
	c.Log.Info("prepared", "files", report.Files, "reused", report.Reused, "bytes", report.Bytes, "ms", report.Elapsed.Milliseconds())
	c.run.Observer.Written(report)
	return nil
}

func (c *Call) cleanupFiles(f *plan.Files) error {
	if err := c.confirmForeignFiles(f, "Remove"); err != nil {
		return err
	}
	removed, err := host.CleanupFiles(*f, c.run.Force)
	if err != nil {
		return filesError(err)
	}
	c.Log.Info("cleaned up", "files", removed)
	return nil
}

// confirmForeignFiles asks before files that benchplan did not make are overwritten or removed. Without --force they are not.
func (c *Call) confirmForeignFiles(f *plan.Files, what string) error {
	if !c.run.Force || c.run.Confirm == nil {
		return nil
	}
	foreign, err := host.ForeignFiles(*f)
	if err != nil || len(foreign) == 0 {
		return err
	}
	return c.confirm("%s files in %s that benchplan did not make: %s?", what, f.Dir, someOf(foreign))
}

// filesError marks the errors that no retry helps against.
func filesError(err error) error {
	if errors.Is(err, host.ErrForeign) {
		return final{err}
	}
	return err
}

// rehearsalName is the folder, within that of the files under test, in which a rehearsal has its own. A later one takes what a
// killed one has left there.
const rehearsalName = ".benchplan-rehearsal"

// rehearsalFolder makes it, if the folder around it is there.
func (r *run) rehearsalFolder(f *plan.Files) error {
	dir := filepath.Join(f.Dir, rehearsalName)
	err := os.Mkdir(dir, 0o700)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil // whoever works on it says so
	case err != nil && !errors.Is(err, os.ErrExist):
		return fmt.Errorf("files: %w", err)
	}
	f.Dir = dir
	r.rehearsed[dir] = *f
	return nil
}

// removeRehearsed takes the rehearsal's files away.
func (r *run) removeRehearsed() error {
	var failures *multierror.Error
	for _, dir := range sortedKeys(r.rehearsed) {
		_, err := host.CleanupFiles(r.rehearsed[dir], true)
		failures = collect(failures, err)
		if err := os.Remove(dir); err != nil && !errors.Is(err, os.ErrNotExist) {
			failures = collect(failures, err)
		}
	}
	return failures.ErrorOrNil()
}
