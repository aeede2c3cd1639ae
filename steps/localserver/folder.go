package localserver

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A server has two folders, which are one and the same if its data are temporary: the run folder, short enough for a
// socket's path and always removed, has socket and pid; the home has data, tmp and error.log. Both hold a claim: a file
// that marks the folder as benchplan's, and that the benchplan at work there keeps locked.
const (
	runPrefix = "benchplan-server-"
	claimName = "benchplan-server.json"

	// maxSocketPath is what a socket's address can hold: 103 bytes on the BSDs and macOS, 107 on Linux.
	maxSocketPath = 103
)

func dataFolder(home string) string { return filepath.Join(home, "data") }
func tmpFolder(home string) string  { return filepath.Join(home, "tmp") }
func socketPath(run string) string  { return filepath.Join(run, "socket") }
func pidPath(run string) string     { return filepath.Join(run, "pid") }

// claim is what the marking file says.
type claim struct {
	Note    string `json:"note"`
	Home    string `json:"home,omitempty"`    // in a run folder: the home, where it is another folder
	Family  Family `json:"family,omitempty"`  // in a home: whose data they are; empty until the data folder is complete
	Version string `json:"version,omitempty"` // in a home: of the server that made them
	Run     string `json:"run,omitempty"`     // in a home: the run folder last used
}

const claimNote = "A private database server of benchplan lives here. The folder is in use while this file is locked."

// folder is a folder under claim.
type folder struct {
	path  string
	made  bool // the folder was not there before
	lock  *os.File
	claim claim
}

// write brings the claim to the disk, in place: a new file would have another lock.
func (f *folder) write() error {
	f.claim.Note = claimNote
	text, err := json.MarshalIndent(f.claim, "", "  ")
	if err != nil {
		return err
	}
	if err := f.lock.Truncate(0); err != nil {
		return err
	}
	if _, err := f.lock.WriteAt(append(text, '\n'), 0); err != nil {
		return err
	}
	return f.lock.Sync()
}

// read takes the claim in; one that was not written to the end counts as empty.
func (f *folder) read() error {
	text, err := io.ReadAll(io.NewSectionReader(f.lock, 0, 1<<16))
	if err != nil {
		return err
	}
	if json.Unmarshal(text, &f.claim) != nil {
		f.claim = claim{}
	}
	return nil
}

// release gives the folder back as it is.
func (f *folder) release() { _ = f.lock.Close() } // what was written has been synced

// remove takes the whole folder away, the claim last: who is killed meanwhile leaves a folder that a sweep knows.
func (f *folder) remove() error {
	defer f.release()
	// A server that was killed a moment ago may still write into it.
	for deadline := time.Now().Add(removePatience); ; time.Sleep(20 * time.Millisecond) {
		if err := f.empty(); err == nil || time.Now().After(deadline) {
			if err != nil {
				return err
			}
			return os.RemoveAll(f.path)
		}
	}
}

// removePatience is how long a folder may fill up again while it is emptied.
const removePatience = 2 * time.Second

// empty removes all of a folder but the claim.
func (f *folder) empty() error {
	entries, err := os.ReadDir(f.path)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.Name() != claimName {
			if err := os.RemoveAll(filepath.Join(f.path, e.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}

// claimGrace is the age from which a folder without a claim was left by somebody who was killed before making one.
const claimGrace = time.Minute

// newRunFolder makes a run folder, for this user alone, where temporary files go or, if that path is too long for a
// socket in it, in /tmp.
func newRunFolder() (*folder, error) {
	base := os.TempDir()
	if len(socketPath(filepath.Join(base, runPrefix+"0123456789"))) > maxSocketPath || !filepath.IsAbs(base) {
		base = "/tmp"
	}
	path, err := os.MkdirTemp(base, runPrefix+"*")
	if err != nil {
		return nil, fmt.Errorf("a folder for the private server, where TMPDIR says: %w", err)
	}
	f := &folder{path: path}
	if err := f.claimNew(); err != nil {
		return nil, errors.Join(fmt.Errorf("a folder for the private server: %w", err), os.RemoveAll(path))
	}
	return f, nil
}

// claimNew locks the claim before it gets its name: a sweep never sees a folder that is marked but not locked yet.
func (f *folder) claimNew() error {
	path := filepath.Join(f.path, claimName)
	file, err := os.OpenFile(path+".new", os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	f.lock = file
	if _, err = tryLock(file); err == nil {
		err = f.write()
	}
	if err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		file.Close()
	}
	return err
}

// openHome claims a folder that is to be kept: a new one, an empty one, or one that was a home before.
func openHome(path string) (*folder, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	_, missing := os.Stat(path)
	if err := os.MkdirAll(path, 0o700); err != nil {
		return nil, fmt.Errorf("data folder of the private server: %w", err)
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, fmt.Errorf("data folder of the private server: %w", err)
	}
	marked := slices.ContainsFunc(entries, func(e os.DirEntry) bool { return e.Name() == claimName })
	foreign := slices.IndexFunc(entries, func(e os.DirEntry) bool { return e.Name() != "lost+found" })
	if !marked && foreign >= 0 {
		return nil, fmt.Errorf("data folder %s holds something that benchplan did not make (%s): name a new or an empty folder", path, entries[foreign].Name())
	}
	lock, err := os.OpenFile(filepath.Join(path, claimName), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("data folder of the private server: %w", err)
	}
	f := &folder{path: path, lock: lock, made: missing != nil}
	free, err := tryLock(lock)
	if err == nil && !free {
		err = fmt.Errorf("data folder %s is in use by another benchplan: wait for its end, or name another folder", path)
	}
	if err == nil {
		err = f.read()
	}
	if err != nil {
		f.release()
		return nil, err
	}
	return f, nil
}

// furnish makes the folders that a server needs; data that were never completed are made anew.
func (f *folder) furnish() error {
	if f.claim.Family == "" {
		if err := os.RemoveAll(dataFolder(f.path)); err != nil {
			return err
		}
	}
	for _, dir := range []string{dataFolder(f.path), tmpFolder(f.path)} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
	}
	return nil
}

// Sweep removes the run folders of private servers that a killed benchplan of this user left behind, and ends a server that still runs in
// one of them. Start does so by itself. Trouble is told to the log.
func Sweep(log *slog.Logger) { sweep(log) }

// sweep removes the run folders that a killed benchplan of this user left behind, and ends a server that still runs
// there. Trouble is logged only: it is not the trouble of the one who starts a server now.
func sweep(log *slog.Logger, more ...string) {
	for _, base := range slices.Compact([]string{os.TempDir(), "/tmp"}) {
		found, _ := filepath.Glob(filepath.Join(globQuote(base), runPrefix+"*")) // the pattern is well-formed
		more = append(more, found...)
	}
	for _, path := range more {
		swept, err := sweepRun(path)
		if err != nil {
			log.Warn("what an earlier private server left behind cannot be removed", "folder", path, "error", err)
		} else if swept {
			log.Info("removed what an earlier private server left behind", "folder", path)
		}
	}
}

// globQuote takes their meaning from the characters of a path that a pattern would take as its own.
func globQuote(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}

// sweepRun removes one run folder if it is one, is this user's, and nobody is at work there.
func sweepRun(path string) (bool, error) {
	info, err := os.Lstat(path)
	if err != nil || !strings.HasPrefix(info.Name(), runPrefix) || !ownAlone(info) {
		return false, nil
	}
	lock, err := os.OpenFile(filepath.Join(path, claimName), os.O_RDWR, 0)
	if errors.Is(err, os.ErrNotExist) {
		if time.Since(info.ModTime()) < claimGrace {
			return false, nil // its maker is about to claim it
		}
		return true, os.RemoveAll(path)
	}
	if err != nil {
		return false, err
	}
	f := &folder{path: path, lock: lock}
	free, err := tryLock(lock)
	if err != nil || !free {
		f.release()
		return false, err
	}
	if err := f.read(); err != nil {
		f.release()
		return false, err
	}
	var grace time.Duration // temporary data need no orderly end
	if f.claim.Home != "" {
		grace = stopGrace
	}
	if err := endStray(path, grace); err != nil {
		f.release()
		return false, err
	}
	return true, f.remove()
}

// endStray ends the server that was started for the run folder, if it still runs. A process counts as that server only
// if its command line names the folder's socket.
func endStray(run string, grace time.Duration) error {
	text, err := os.ReadFile(pidPath(run))
	if err != nil {
		return nil // none was started
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil || pid <= 1 {
		return nil
	}
	// The handle is taken first: were the pid given to another process after the look at its arguments, the signal
	// would go nowhere rather than to that one.
	handle, err := os.FindProcess(pid)
	if err != nil {
		return nil
	}
	defer handle.Release()
	runs := func() bool { return slices.Contains(commandLine(pid), "--socket="+socketPath(run)) }
	if !runs() {
		return nil
	}
	terminate(handle)
	for deadline := time.Now().Add(grace); time.Now().Before(deadline) && runs(); {
		time.Sleep(20 * time.Millisecond)
	}
	if runs() {
		_ = handle.Kill() // fails only where it has ended
	}
	for range 100 {
		if !runs() {
			return nil
		}
		time.Sleep(20 * time.Millisecond)
	}
	return fmt.Errorf("its server, pid %d, does not end", pid)
}
