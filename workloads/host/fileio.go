package host

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"
	"unsafe"

	"benchplan/plan"
	"benchplan/results"
	"benchplan/workloads/engine"
)

// FileIOOptions are the options of fileio. How many files there are, how large, and where, is said by files of the scope.
type FileIOOptions struct {
	BlockSize      plan.Size `key:"file_block_size" default:"16K" min:"1" max:"1G" unit:"bytes" doc:"what one request reads or writes"`
	TestMode       string    `key:"file_test_mode" required:"true" enum:"seqwr|seqrewr|seqrd|rndrd|rndwr|rndrw" doc:"seqwr makes the files anew and writes them, seqrewr writes over them, seqrd reads them, block after block and round again; rndrd, rndwr and rndrw read, write or do both at random places"`
	IOMode         string    `key:"file_io_mode" default:"sync" enum:"sync|async|mmap" doc:"sync: pread and pwrite; async and mmap are not offered"`
	ExtraFlags     []string  `key:"file_extra_flags" enum:"sync|dsync|direct" single:"true" doc:"how the files are opened: O_SYNC, O_DSYNC, O_DIRECT; one or a list"`
	FsyncFreq      int       `key:"file_fsync_freq" default:"100" min:"0" unit:"requests" doc:"after so many requests each file is synced, which is an event each; 0: never"`
	FsyncAll       bool      `key:"file_fsync_all" default:"off" doc:"sync after each write, within its event; file_fsync_freq and file_fsync_end are off then"`
	FsyncEnd       bool      `key:"file_fsync_end" default:"on" doc:"sync each file when the load has ended: the time is the metric fsync_end, and in no other figure"`
	FsyncMode      string    `key:"file_fsync_mode" default:"fsync" enum:"fsync|fdatasync" doc:"how a file is synced"`
	MergedRequests int       `key:"file_merged_requests" default:"0" min:"0" max:"1000000" unit:"requests" doc:"blocks that one request of a sequential mode has; 0: one"`
	RWRatio        float64   `key:"file_rw_ratio" default:"1.5" min:"0" doc:"reads to one write of rndrw"`
}

// The modes and flags.
const (
	modeSeqwr   = "seqwr"
	modeSeqrewr = "seqrewr"
	modeSeqrd   = "seqrd"
	modeRndrd   = "rndrd"
	modeRndwr   = "rndwr"
	modeRndrw   = "rndrw"

	ioSync     = "sync"
	flagSync   = "sync"
	flagDsync  = "dsync"
	flagDirect = "direct"

	syncData = "fdatasync"
)

// FileIO is reading and writing files. The requests and their order are those of sysbench, with these differences: a random
// place is one of all the blocks of all files, each as likely, also where files are no multiple of a block; the syncs of
// file_fsync_end are done once, not by each thread, and are in no rate; what is written is random bytes, not zeros.
func FileIO() engine.Definition {
	return engine.Definition{
		Name:    FileIOName,
		Doc:     "sysbench fileio: an event reads or writes a block of a file, or syncs one",
		Options: func() any { return new(FileIOOptions) },
		Host: &engine.Host{
			Files: true,
			SmallestFile: func(options any) plan.Size {
				o, err := optionsOf[FileIOOptions](options)
				if err != nil {
					return 0
				}
				return o.BlockSize
			},
			Check: func(options any, files *plan.Files) error {
				o, err := optionsOf[FileIOOptions](options)
				if err != nil {
					return err
				}
				return o.check(files)
			},
			New: func(options any, files *plan.Files, force bool) (engine.HostWorkload, error) {
				o, err := optionsOf[FileIOOptions](options)
				if err != nil {
					return nil, err
				}
				if err := o.check(files); err != nil {
					return nil, err
				}
				return newFileIO(*o, *files, force), nil
			},
		},
	}
}

// check says what is wrong with the options together, and with the files they meet.
func (o *FileIOOptions) check(files *plan.Files) error {
	var errs []error
	if o.IOMode != ioSync {
		errs = append(errs, fmt.Errorf("file_io_mode %s is not offered: benchplan reads and writes by pread and pwrite, which is %s", o.IOMode, ioSync))
	}
	if _, err := openFlags(o.ExtraFlags); err != nil {
		errs = append(errs, err)
	}
	if o.direct() && o.BlockSize%512 != 0 {
		errs = append(errs, fmt.Errorf("file_extra_flags direct: file_block_size has to be a multiple of the device's sector, 512 or 4096 bytes, and %d is not", o.BlockSize))
	}
	if o.FsyncMode == syncData && !hasFdatasync {
		errs = append(errs, errors.New("file_fsync_mode fdatasync is not offered on this system"))
	}
	if o.request() > maxRequest {
		errs = append(errs, fmt.Errorf("file_merged_requests %d × file_block_size %d is more than 1G", o.MergedRequests, o.BlockSize))
	}
	switch {
	case files == nil:
		errs = append(errs, errors.New("fileio works on files; add `files: {count: …, total_size: …, dir: …}` to the plan or to a group around this step"))
	case fileSize(*files) < int64(o.BlockSize):
		errs = append(errs, fmt.Errorf("%d files of %d bytes together are %d bytes each, less than a block of %d (file_block_size)", files.Count, files.TotalSize, fileSize(*files), o.BlockSize))
	}
	return errors.Join(errs...)
}

const maxRequest = 1 << 30

func (o *FileIOOptions) direct() bool { return slices.Contains(o.ExtraFlags, flagDirect) }

// writes tells whether the mode writes to files.
func (o *FileIOOptions) writes() bool { return o.TestMode != modeSeqrd && o.TestMode != modeRndrd }

func (o *FileIOOptions) sequential() bool {
	return o.TestMode == modeSeqwr || o.TestMode == modeSeqrewr || o.TestMode == modeSeqrd
}

// request is how many bytes one request has.
func (o *FileIOOptions) request() int64 {
	if o.sequential() {
		return int64(o.BlockSize) * int64(max(o.MergedRequests, 1))
	}
	return int64(o.BlockSize)
}

// fileIO is the load of one cell.
type fileIO struct {
	options FileIOOptions
	files   plan.Files
	force   bool
	size    int64 // of each file, as far as the load goes

	open []*os.File
	fds  []int // of the open files, where fdatasync is asked for

	mu        sync.Mutex
	file      int   // of the next sequential request
	position  int64 // likewise
	performed int64 // reads and writes so far
	dirty     bool  // something was written since the last file was synced
	synced    int   // the file to be synced next
}

func newFileIO(o FileIOOptions, files plan.Files, force bool) *fileIO {
	if o.FsyncAll {
		o.FsyncFreq, o.FsyncEnd = 0, false
	}
	f := &fileIO{options: o, files: files, force: force, size: fileSize(files)}
	if o.direct() {
		f.size -= f.size % int64(o.BlockSize) // the rest cannot be read or written so
	}
	return f
}

// The counters.
const (
	countReads = iota
	countWrites
	countFsyncs
	countBytesRead
	countBytesWritten
)

// Counters implements engine.HostWorkload.
func (f *fileIO) Counters() []string {
	return []string{results.CountFileReads, results.CountFileWrites, results.CountFsyncs, results.CountBytesRead, results.CountBytesWritten}
}

// Open implements engine.HostWorkload: it opens the files, for seqwr new ones.
func (f *fileIO) Open(ctx context.Context, _ int) error {
	flags, err := openFlags(f.options.ExtraFlags)
	if err != nil {
		return err
	}
	if err := f.claim(); err != nil {
		return err
	}
	if f.options.writes() {
		flags |= os.O_RDWR
	}
	if f.options.TestMode == modeSeqwr {
		flags |= os.O_CREATE | os.O_EXCL
	}
	for i := range f.files.Count {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err := f.openFile(filepath.Join(f.files.Dir, FileName(i)), flags); err != nil {
			return err
		}
	}
	return nil
}

// claim sees that the load may write to the files, and takes away those that seqwr makes anew.
func (f *fileIO) claim() error {
	set, err := openSet(f.files)
	if err != nil || !f.options.writes() {
		return err
	}
	if foreign := set.foreign(); len(foreign) > 0 && !f.force {
		return foreignError(f.files.Dir, foreign, "written to")
	}
	if f.options.TestMode != modeSeqwr {
		return nil
	}
	if err := set.enoughSpace(nil); err != nil {
		return err
	}
	if err := set.mark(); err != nil {
		return err
	}
	return set.remove(nil)
}

func (f *fileIO) openFile(path string, flags int) error {
	file, err := os.OpenFile(path, flags, 0o600)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return fmt.Errorf("%w: make the files first (step prepare)", err)
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
		return fmt.Errorf("%w: raise the limit of open files (ulimit -n) above the %d files", err, f.files.Count)
	case errors.Is(err, syscall.EINVAL) && f.options.direct():
		return fmt.Errorf("%w: the file system takes no O_DIRECT; leave direct out of file_extra_flags, or set dir of files to a folder on a disk", err)
	case err != nil:
		return err
	}
	f.open = append(f.open, file)
	if f.options.FsyncMode == syncData {
		f.fds = append(f.fds, int(file.Fd()))
	}
	info, err := file.Stat()
	switch {
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is no regular file", path)
	case f.options.TestMode != modeSeqwr && info.Size() < f.size:
		return fmt.Errorf("%s has %d bytes, and %d are needed: make the files anew (step prepare) with the same count and total_size; a seqwr run that ends early leaves short ones", path, info.Size(), f.size)
	}
	return nil
}

// Close implements engine.HostWorkload: it syncs what was written, and closes the files. What seqwr did not come to stays empty.
func (f *fileIO) Close(ctx context.Context) (map[string]int64, error) {
	var errs []error
	var more map[string]int64
	if f.options.FsyncEnd && f.options.writes() && f.performed > 0 && ctx.Err() == nil {
		begin := time.Now()
		for i := range f.open {
			errs = append(errs, f.fsync(i))
		}
		more = map[string]int64{results.CountFsyncEnd: max(time.Since(begin).Microseconds(), 1)}
	}
	for _, file := range f.open {
		errs = append(errs, file.Close())
	}
	f.open = nil
	return more, errors.Join(errs...)
}

func (f *fileIO) fsync(file int) error {
	if f.options.FsyncMode != syncData {
		return f.open[file].Sync()
	}
	if err := fdatasync(f.fds[file]); err != nil {
		return fmt.Errorf("fdatasync %s: %w", f.open[file].Name(), err)
	}
	return nil
}

// Client implements engine.HostWorkload.
func (f *fileIO) Client(_, _ int, random *rand.Rand) engine.HostClient {
	c := &fileClient{fileIO: f, random: random, buffer: alignedBuffer(int(f.options.request()))}
	fillRandomly(c.buffer, random)
	return c
}

// alignment is what O_DIRECT asks of a buffer: the largest sector that devices have.
const alignment = 4096

// alignedBuffer gives memory that begins at a multiple of the alignment.
func alignedBuffer(size int) []byte {
	b := make([]byte, size+alignment)
	over := int(uintptr(unsafe.Pointer(unsafe.SliceData(b))) % alignment)
	return b[alignment-over:][:size]
}

// operation is what a request does.
type operation uint8

const (
	reading operation = iota
	writing
	syncing
)

// request is what a client does next.
type request struct {
	operation operation
	file      int
	position  int64
	size      int64
}

// fileClient is one thread.
type fileClient struct {
	*fileIO
	random        *rand.Rand
	buffer        []byte
	reads, writes int64 // for the ratio of the two
}

// Do implements engine.HostClient.
func (c *fileClient) Do(context.Context) (result engine.HostResult, err error) {
	r := c.next()
	file := c.open[r.file]
	switch r.operation {
	case reading:
		if _, err = file.ReadAt(c.buffer[:r.size], r.position); err != nil {
			return result, c.failed("read", r, err)
		}
		c.reads++
		result.Counts[countReads], result.Counts[countBytesRead] = 1, r.size
	case writing:
		if _, err = file.WriteAt(c.buffer[:r.size], r.position); err != nil {
			return result, c.failed("write", r, err)
		}
		c.writes++
		result.Counts[countWrites], result.Counts[countBytesWritten] = 1, r.size
		if !c.options.FsyncAll {
			break
		}
		fallthrough
	case syncing:
		if err = c.fsync(r.file); err != nil {
			return result, err
		}
		result.Counts[countFsyncs] = 1
	}
	return result, nil
}

// failed says what a request was, and what can be done.
func (c *fileClient) failed(what string, r request, err error) error {
	switch {
	case errors.Is(err, io.EOF):
		err = fmt.Errorf("%s at %d: the file has become shorter: %w", c.open[r.file].Name(), r.position, io.ErrUnexpectedEOF)
	case errors.Is(err, syscall.EINVAL) && c.options.direct():
		err = fmt.Errorf("%w: with O_DIRECT file_block_size has to be a multiple of the device's sector, mostly 4096", err)
	case errors.Is(err, syscall.ENOSPC):
		err = fmt.Errorf("%w: the files need %s in %s", err, SizeText(c.size*int64(c.files.Count)), c.files.Dir)
	}
	return fmt.Errorf("%s %d bytes at %d: %w", what, r.size, r.position, err)
}

// next draws the client's next request.
func (c *fileClient) next() request {
	r := request{operation: c.kind()}
	if !c.options.sequential() {
		r.file, r.position, r.size = c.place()
	}
	if r.operation == reading && !c.options.sequential() && c.options.TestMode == modeRndrd {
		return r // nothing that clients share is asked for or changed
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.syncDue() {
		return c.nextSync()
	}
	c.performed++
	if r.operation == writing {
		c.dirty = true
	}
	if c.options.sequential() {
		r.file, r.position, r.size = c.file, c.position, min(c.options.request(), c.size-c.position)
		c.advance(r.size)
	}
	return r
}

// kind decides between reading and writing. In rndrw each client keeps to the ratio by what it has done itself.
func (c *fileClient) kind() operation {
	switch c.options.TestMode {
	case modeSeqrd, modeRndrd:
		return reading
	case modeRndrw:
		if float64(c.reads+1)/float64(c.writes+1) < c.options.RWRatio {
			return reading
		}
	}
	return writing
}

// place draws one of all the blocks.
func (c *fileClient) place() (file int, position, size int64) {
	block := int64(c.options.BlockSize)
	perFile := (c.size + block - 1) / block
	n := c.random.Int64N(perFile * int64(c.files.Count))
	position = n % perFile * block
	return int(n / perFile), position, min(block, c.size-position)
}

// syncDue tells whether a file is to be synced next: after each so many requests all files are, one event each.
func (f *fileIO) syncDue() bool {
	freq := int64(f.options.FsyncFreq)
	return freq > 0 && f.dirty && f.performed%freq == 0
}

func (f *fileIO) nextSync() request {
	r := request{operation: syncing, file: f.synced}
	f.synced++
	if f.synced == f.files.Count {
		f.synced, f.dirty = 0, false
	}
	return r
}

// advance goes on by a sequential request.
func (f *fileIO) advance(size int64) {
	f.position += size
	if f.position < f.size {
		return
	}
	f.position = 0
	f.file = (f.file + 1) % f.files.Count
}
