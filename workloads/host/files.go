package host

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"benchplan/plan"
)

// ErrForeign is the error of what would write to or remove a file that benchplan did not make.
var ErrForeign = errors.New("not made by benchplan")

// FileName is the name of file i (from 0) of the files under test, as sysbench has it.
func FileName(i int) string { return filePrefix + strconv.Itoa(i) }

const filePrefix = "test_file."

// fileSize is the size of each file.
func fileSize(f plan.Files) int64 { return int64(f.TotalSize) / int64(max(f.Count, 1)) }

// FilesOptions says how files are made.
type FilesOptions struct {
	Reuse bool   // keep those that benchplan made and that have the size already
	Force bool   // overwrite files that benchplan did not make
	Seed  uint64 // of what is written
}

// FilesReport is what making the files came to.
type FilesReport struct {
	Files   int
	Reused  int   // of them
	Bytes   int64 // written
	Elapsed time.Duration
}

// PrepareFiles makes the files under test, full of random bytes and synced to the disk; its own of an earlier time that are
// not among them go. progress is told the bytes written, and may be nil. When it fails it leaves none of the files that it was
// making. A file that benchplan did not make is ErrForeign, without Force.
func PrepareFiles(ctx context.Context, f plan.Files, o FilesOptions, progress func(done, total int64)) (FilesReport, error) {
	begin := time.Now()
	set, err := openSet(f)
	if err != nil {
		return FilesReport{}, err
	}
	if foreign := set.foreign(); len(foreign) > 0 && !o.Force {
		return FilesReport{}, foreignError(f.Dir, foreign, "overwritten")
	}
	keep := map[int]bool{}
	if o.Reuse {
		keep = set.whole()
	}
	if err := set.enoughSpace(keep); err != nil {
		return FilesReport{}, err
	}
	if err := set.mark(); err != nil {
		return FilesReport{}, err
	}
	report := FilesReport{Files: f.Count, Reused: len(keep)}
	w := &fileWriter{set: set, random: rand.NewChaCha8(seedOf(o.Seed)), progress: progress}
	report.Bytes, err = w.write(ctx, keep)
	report.Elapsed = time.Since(begin)
	return report, err
}

// CleanupFiles removes the files under test, and others that benchplan made in their folder, and says how many those were. Missing
// ones are fine, and so is a missing folder. A file that benchplan did not make is ErrForeign, without force, and none is removed then.
func CleanupFiles(f plan.Files, force bool) (removed int, err error) {
	set, err := openSet(f)
	if errors.Is(err, os.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	if foreign := set.foreign(); len(foreign) > 0 && !force {
		return 0, foreignError(f.Dir, foreign, "removed")
	}
	if err := set.remove(nil); err != nil {
		return 0, err
	}
	return len(set.found), removeIfThere(set.marker())
}

// ForeignFiles lists those of the files under test that are there and that benchplan did not make.
func ForeignFiles(f plan.Files) ([]string, error) {
	set, err := openSet(f)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return set.foreign(), nil
}

func foreignError(dir string, names []string, what string) error {
	shown := strings.Join(names[:min(len(names), 5)], ", ")
	if n := len(names) - 5; n > 0 {
		shown += fmt.Sprintf(" and %d more", n)
	}
	return fmt.Errorf("there are files in %s %w, which are not %s: %s; --force does it all the same", dir, ErrForeign, what, shown)
}

// fileSet is the files under test as they are found in their folder, by their numbers: those below Count, and beyond them what
// benchplan made there at another time.
type fileSet struct {
	plan.Files
	made  map[int]bool        // what the marker lists: what benchplan has made
	found map[int]os.FileInfo // what is there of the files under test and of those that were made
}

// markerName is the name of the file that lists what benchplan has made in its folder. A mark on the files themselves would be
// better, but extended attributes are not everywhere.
const markerName = ".benchplan-files"

const markerHead = "# Files that benchplan made in this folder, and may overwrite and remove. Without this list it leaves them alone."

// openSet looks at the folder.
func openSet(f plan.Files) (*fileSet, error) {
	info, err := os.Stat(f.Dir)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil, fmt.Errorf("files: dir: %w; make the folder, or correct dir", err)
	case err != nil:
		return nil, fmt.Errorf("files: dir: %w", err)
	case !info.IsDir():
		return nil, fmt.Errorf("files: dir: %s is no folder", f.Dir)
	}
	s := &fileSet{Files: f, made: map[int]bool{}, found: map[int]os.FileInfo{}}
	if err := s.readMarker(); err != nil {
		return nil, fmt.Errorf("files: %w", err)
	}
	for _, i := range s.numbers() {
		if info, err := os.Lstat(s.path(i)); err == nil {
			s.found[i] = info
		} else if !errors.Is(err, os.ErrNotExist) {
			return nil, fmt.Errorf("files: %w", err)
		}
	}
	return s, nil
}

func (s *fileSet) path(i int) string { return filepath.Join(s.Dir, FileName(i)) }

func (s *fileSet) marker() string { return filepath.Join(s.Dir, markerName) }

// numbers lists the files under test, then what else was made.
func (s *fileSet) numbers() []int {
	list := make([]int, s.Count)
	for i := range list {
		list[i] = i
	}
	for _, i := range slices.Sorted(maps.Keys(s.made)) {
		if i >= s.Count {
			list = append(list, i)
		}
	}
	return list
}

func (s *fileSet) readMarker() error {
	b, err := os.ReadFile(s.marker())
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(b)) {
		number, ours := strings.CutPrefix(strings.TrimSpace(line), filePrefix)
		if i, err := strconv.Atoi(number); ours && err == nil && i >= 0 {
			s.made[i] = true
		}
	}
	return nil
}

// mark writes down that the files under test are benchplan's, before they are made: so those that a kill leaves are known too.
func (s *fileSet) mark() error {
	var text strings.Builder
	text.WriteString(markerHead + "\n")
	for _, i := range s.numbers() {
		if i < s.Count || s.found[i] != nil {
			text.WriteString(FileName(i) + "\n")
		}
	}
	if err := os.WriteFile(s.marker()+".new", []byte(text.String()), 0o600); err != nil {
		return fmt.Errorf("files: %w", err)
	}
	if err := os.Rename(s.marker()+".new", s.marker()); err != nil {
		return fmt.Errorf("files: %w", err)
	}
	return nil
}

// foreign lists the files under test that are there and that benchplan did not make.
func (s *fileSet) foreign() []string {
	var list []string
	for i := range s.Count {
		if s.found[i] != nil && !s.made[i] {
			list = append(list, FileName(i))
		}
	}
	return list
}

// whole gives the files under test that are benchplan's and have the size that they are to have.
func (s *fileSet) whole() map[int]bool {
	out := map[int]bool{}
	for i := range s.Count {
		if info := s.found[i]; info != nil && s.made[i] && info.Mode().IsRegular() && info.Size() == fileSize(s.Files) {
			out[i] = true
		}
	}
	return out
}

// enoughSpace sees that the disk has room for the files, but for those that are kept.
func (s *fileSet) enoughSpace(keep map[int]bool) error {
	free, known := freeSpace(s.Dir)
	if !known {
		return nil
	}
	need := fileSize(s.Files) * int64(s.Count-len(keep))
	for i, info := range s.found {
		if !keep[i] {
			free += diskUsed(info)
		}
	}
	if need <= free {
		return nil
	}
	return fmt.Errorf("files: %s has %s free, and the files need %s (%d bytes): make room, set dir to another folder, or lower total_size", s.Dir, SizeText(free), SizeText(need), need)
}

// remove removes all that is there, but for those that are kept.
func (s *fileSet) remove(keep map[int]bool) error {
	for _, i := range s.numbers() {
		if keep[i] {
			continue
		}
		if err := removeIfThere(s.path(i)); err != nil {
			return fmt.Errorf("files: %w", err)
		}
	}
	return nil
}

func removeIfThere(path string) error {
	if err := os.Remove(path); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// fileWriter writes the files of a set, one after the other: they lie on the disk as they are read in sequence.
type fileWriter struct {
	set         *fileSet
	random      *rand.ChaCha8
	progress    func(done, total int64)
	done, total int64
}

const writeChunk = 1 << 20

// write writes all files but those that are kept.
func (w *fileWriter) write(ctx context.Context, keep map[int]bool) (written int64, err error) {
	s := w.set
	if err := s.remove(keep); err != nil {
		return 0, err
	}
	w.total = fileSize(s.Files) * int64(s.Count-len(keep))
	for i := range s.Count {
		if keep[i] {
			continue
		}
		if err := w.writeFile(ctx, s.path(i)); err != nil {
			return w.done, errors.Join(err, s.remove(keep))
		}
	}
	clear(s.found) // what is not under test is gone, and no longer to be listed
	return w.done, s.mark()
}

// writeFile makes one file.
func (w *fileWriter) writeFile(ctx context.Context, path string) (err error) {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("files: %w", err)
	}
	defer func() {
		if closeErr := file.Close(); err == nil && closeErr != nil {
			err = fmt.Errorf("files: %w", closeErr)
		}
	}()
	size := fileSize(w.set.Files)
	chunk := make([]byte, min(size, writeChunk))
	for left := size; left > 0; left -= int64(len(chunk)) {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		chunk = chunk[:min(left, int64(len(chunk)))]
		_, _ = w.random.Read(chunk) // it never fails
		if _, err := file.Write(chunk); err != nil {
			return fmt.Errorf("files: %w: the files need %s in all", err, SizeText(size*int64(w.set.Count)))
		}
		w.done += int64(len(chunk))
		if w.progress != nil {
			w.progress(w.done, w.total)
		}
	}
	// What is not on the disk yet would be written while the load is measured.
	if err := file.Sync(); err != nil {
		return fmt.Errorf("files: %w", err)
	}
	return nil
}

// seedOf makes a seed of ChaCha8 from one of the plan.
func seedOf(seed uint64) (out [32]byte) {
	for i := range 8 {
		out[i] = byte(seed >> (8 * i))
	}
	return out
}

// fillRandomly fills a buffer that is then written again and again.
func fillRandomly(b []byte, random *rand.Rand) {
	_, _ = rand.NewChaCha8(seedOf(random.Uint64())).Read(b)
}

// SizeText writes a number of bytes as people do: 512 bytes, 16.0 KiB, 2.0 GiB.
func SizeText(n int64) string {
	if n < 1024 {
		return fmt.Sprintf("%d bytes", n)
	}
	v, unit := float64(n)/1024, 0
	units := []string{"KiB", "MiB", "GiB", "TiB", "PiB"}
	for v >= 1024 && unit < len(units)-1 {
		v /= 1024
		unit++
	}
	return fmt.Sprintf("%.1f %s", v, units[unit])
}
