package results

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"
)

// The files of a run folder.
const (
	runFile       = "run.json"
	cellsFile     = "cells.jsonl"
	logFile       = "log.jsonl"
	lockFile      = "lock"
	histogramsDir = "histograms"
	seriesDir     = "series"
)

// timeLayout names a run folder; it sorts as time does.
const timeLayout = "20060102T150405Z"

// Writer keeps a run in its folder. While it is open the folder is locked: no other process writes into it.
// Its methods may be called from several goroutines.
type Writer struct {
	folder string
	mask   func(string) string
	log    *slog.Logger

	mu      sync.Mutex
	lock    *os.File
	logTo   *logFileWriter
	journal *os.File
	size    int64 // of the journal up to the end of the last good line
	seqs    map[int]bool
	lastSeq int
	lost    []Cell // that could not be written
}

// Create makes a new run folder root/<plan>/<UTC time>, with -2, -3 … after it where that is taken. Every free text
// (errors, messages, the log) is put through mask before it is written; nil leaves it as it is.
func Create(root, planName string, at time.Time, mask func(string) string) (*Writer, error) {
	parent := filepath.Join(root, folderName(planName))
	if err := os.MkdirAll(parent, 0o700); err != nil {
		return nil, folderError(parent, err)
	}
	base := filepath.Join(parent, at.UTC().Format(timeLayout))
	folder := base
	for n := 2; ; n++ {
		err := os.Mkdir(folder, 0o700)
		if err == nil {
			break
		}
		if !errors.Is(err, fs.ErrExist) {
			return nil, folderError(folder, err)
		}
		folder = fmt.Sprintf("%s-%d", base, n)
	}
	if err := errors.Join(syncDir(parent), syncDir(root)); err != nil {
		return nil, folderError(folder, err)
	}
	return newWriter(folder, mask)
}

// CreateAt makes the run folder at that very place, which has to be missing or an empty folder.
func CreateAt(folder string, mask func(string) string) (*Writer, error) {
	entries, err := os.ReadDir(folder)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if err := os.MkdirAll(folder, 0o700); err != nil {
			return nil, folderError(folder, err)
		}
	case err != nil:
		return nil, folderError(folder, err)
	case len(entries) > 0:
		return nil, fmt.Errorf("run folder %s is not empty: name a new one, or leave --out out for one of its own", folder)
	}
	return newWriter(folder, mask)
}

// Resume opens the folder of an earlier run to go on with it: it takes the lock, cuts a torn last line off the journal
// and gives what is there, as Open does.
func Resume(folder string, mask func(string) string) (w *Writer, run *Run, cells []Cell, warnings []string, err error) {
	found, err := readRun(folder)
	if err != nil {
		return nil, nil, nil, nil, err
	}
	if w, err = newWriter(folder, mask); err != nil {
		return nil, nil, nil, nil, err
	}
	// Only now: until the lock was taken another process may have added cells.
	run, cells, warnings, err = Open(folder)
	if err == nil {
		err = w.continueJournal()
	}
	if err != nil {
		return nil, nil, nil, nil, errors.Join(err, w.Close())
	}
	run.Status = found.Status // as it was before this lock made it look alive
	return w, run, cells, warnings, nil
}

func newWriter(folder string, mask func(string) string) (w *Writer, err error) {
	if mask == nil {
		mask = func(s string) string { return s }
	}
	w = &Writer{folder: folder, mask: mask, seqs: map[int]bool{}}
	defer func() {
		if err != nil {
			err = errors.Join(folderError(folder, err), w.Close())
			w = nil
		}
	}()
	if w.lock, err = lockFolder(folder); err != nil {
		return w, err
	}
	for _, dir := range []string{histogramsDir, seriesDir} {
		if err := os.Mkdir(filepath.Join(folder, dir), 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return w, err
		}
	}
	if w.journal, err = os.OpenFile(filepath.Join(folder, cellsFile), os.O_RDWR|os.O_CREATE, 0o600); err != nil {
		return w, err
	}
	if w.logTo, err = openLog(filepath.Join(folder, logFile)); err != nil {
		return w, err
	}
	w.log = newLog(w.logTo, mask)
	return w, syncDir(folder)
}

// Folder is where the run is kept.
func (w *Writer) Folder() string { return w.folder }

// Log is where the run's log.jsonl is written; messages and the texts in attributes are masked.
func (w *Writer) Log() *slog.Logger { return w.log }

// LogError tells the first error that kept a line out of the log; nil: it is whole.
func (w *Writer) LogError() error {
	w.mu.Lock()
	log := w.logTo
	w.mu.Unlock()
	if log == nil {
		return nil
	}
	if err := log.failed(); err != nil {
		return folderError(w.folder, fmt.Errorf("the log is not whole: %w", err))
	}
	return nil
}

// Mask masks a free text as those of the record are.
func (w *Writer) Mask(text string) string { return w.mask(text) }

// Masked gives a copy of the run as run.json has it: a run in memory may hold secrets in what the plan does not say.
func (w *Writer) Masked(run *Run) *Run { return Masked(run, w.mask) }

// Masked gives a copy of the run whose free texts are masked.
func Masked(run *Run, mask func(string) string) *Run {
	r := maskRun(run, mask)
	return &r
}

// LastSeq is the highest number of a cell in the journal; 0 where there is none.
func (w *Writer) LastSeq() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.lastSeq
}

// WriteRun replaces run.json: a reader sees the old one or the new one, never a part. The version is filled in.
func (w *Writer) WriteRun(run *Run) error {
	r := maskRun(run, w.mask)
	r.Version = RunVersion
	w.mu.Lock()
	defer w.mu.Unlock()
	r.Records = len(w.seqs)
	b, err := seal(r)
	if err != nil {
		return fmt.Errorf("run folder %s: %s: %w", w.folder, runFile, err)
	}
	return folderError(w.folder, replaceFile(filepath.Join(w.folder, runFile), b))
}

// Close ends the writing and gives the folder free. It may be called more than once.
func (w *Writer) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	var errs []error
	if w.logTo != nil {
		errs = append(errs, w.logTo.Close())
		w.logTo = nil
	}
	for _, f := range []**os.File{&w.journal, &w.lock} {
		if *f != nil {
			errs = append(errs, (*f).Close())
			*f = nil
		}
	}
	return errors.Join(errs...)
}

// tempSuffix ends the name of a file that is being written.
const tempSuffix = ".tmp"

// replaceFile writes a file in such a way that after a power cut either the old or the new content is there.
func replaceFile(path string, content []byte) error {
	return replaceFiles([]keptFile{{path, content}})
}

// keptFile is a file with what it is to hold.
type keptFile struct {
	path    string
	content []byte
}

// replaceFiles does what replaceFile does for several files at once: a disk that syncs has its own pace, and between two cells of a run
// nobody works.
func replaceFiles(files []keptFile) error {
	var dirs []string
	var written, synced errgroup.Group
	for _, f := range files {
		written.Go(func() error {
			temp := f.path + tempSuffix
			if err := writeSynced(temp, f.content); err != nil {
				os.Remove(temp) //nolint:errcheck // the first error is the one to tell
				return err
			}
			return os.Rename(temp, f.path)
		})
		if dir := filepath.Dir(f.path); !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	if err := written.Wait(); err != nil {
		return err
	}
	for _, dir := range dirs {
		synced.Go(func() error { return syncDir(dir) })
	}
	return synced.Wait()
}

func writeSynced(path string, content []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// syncDir makes the names in a folder durable. Systems that cannot sync a folder are left alone.
func syncDir(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	err = d.Sync()
	if errors.Is(err, errors.ErrUnsupported) || errors.Is(err, syscall.EINVAL) || errors.Is(err, fs.ErrPermission) {
		err = nil
	}
	return errors.Join(err, d.Close())
}

// folderError says which folder could not be written, and what to do where that is known.
func folderError(folder string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return fmt.Errorf("run folder %s: the disk is full: free some space, or put the run elsewhere with --out: %w", folder, err)
	case errors.Is(err, syscall.EFBIG):
		return fmt.Errorf("run folder %s: a file would be larger than this process may make it: raise the limit, as by `ulimit -f unlimited`: %w", folder, err)
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("run folder %s was removed or moved, or a part of it was: %w", folder, err)
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return fmt.Errorf("run folder %s cannot be written: allow it, or put the run elsewhere with --out: %w", folder, err)
	}
	return fmt.Errorf("run folder %s: %w", folder, err)
}

// folderName makes a plan's name usable as the name of one folder.
func folderName(plan string) string {
	name := strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || strings.ContainsRune(`/\:*?"<>|`, r) {
			return '-'
		}
		return r
	}, strings.TrimSpace(plan))
	name = strings.TrimLeft(name, ".")
	if name == "" {
		return "plan"
	}
	if len(name) > 100 {
		name = strings.ToValidUTF8(name[:100], "")
	}
	return name
}
