package results

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	// The decoder that is to become encoding/json/v2, with the behaviour of encoding/json: it reads a record three times as fast.
	jsonv1 "github.com/go-json-experiment/json/v1"
)

var errLocked = errors.New("another benchplan is writing into it: wait for it to end")

// The journal, cells.jsonl, has one cell a line. The last field of a line is
//
//	"crc":"89abcdef"
//
// the CRC-32 (IEEE) of all bytes of the line that stand before it and its comma, in eight hexadecimal digits. So a
// line is still plain JSON, and a damaged one is told from a whole one.
const (
	crcBefore = `,"crc":"`
	crcAfter  = `"}`
	crcLen    = len(crcBefore) + 8 + len(crcAfter)
)

// Append records a finished or partial cell: first its histograms and series, then its line in the journal, each
// synced. After it returns nil the cell is safe. It fills in Version, Seq (where 0, the next free number), the trend, the file
// names, and the marks that Check finds. After an error the journal is as it was before, and Cells gives the cell nevertheless.
func (w *Writer) Append(cell *Cell) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	err := w.append(cell)
	w.lost = slices.DeleteFunc(w.lost, func(c Cell) bool { return c.Seq == cell.Seq })
	if err != nil {
		lost := maskCell(cell, w.mask)
		lost.HistogramFile, lost.SeriesFile = "", ""
		w.lost = append(w.lost, lost)
	}
	return err
}

func (w *Writer) append(cell *Cell) error {
	if w.journal == nil {
		return fmt.Errorf("run folder %s: %w", w.folder, fs.ErrClosed)
	}
	if cell.Seq == 0 {
		cell.Seq = w.lastSeq + 1
	}
	if w.seqs[cell.Seq] {
		return fmt.Errorf("run folder %s: cell number %d is there already", w.folder, cell.Seq)
	}
	cell.Version = CellVersion
	if cell.Outcome.Trend == nil {
		cell.Outcome.Trend = cell.trend()
	}
	cell.Marks = mergeMarks(cell.Marks, Check(cell))
	if err := w.inPlace(); err != nil {
		return folderError(w.folder, fmt.Errorf("cell %s: %w", cell.Key(), err))
	}
	if err := w.writeFiles(cell); err != nil {
		return folderError(w.folder, fmt.Errorf("cell %s: %w", cell.Key(), err))
	}
	masked := maskCell(cell, w.mask)
	line, err := encodeLine(&masked)
	if err != nil {
		return fmt.Errorf("run folder %s: cell %s: %w", w.folder, cell.Key(), err)
	}
	if err := w.appendLine(line); err != nil {
		return folderError(w.folder, fmt.Errorf("cell %s: %w", cell.Key(), err))
	}
	w.note(cell.Seq)
	return nil
}

// inPlace finds out whether the journal that is written is the one that stands in the folder. Into a file that was removed, one can
// write for ever.
func (w *Writer) inPlace() error {
	ours, err := w.journal.Stat()
	if err != nil {
		return err
	}
	there, err := os.Stat(filepath.Join(w.folder, cellsFile))
	if err == nil && !os.SameFile(ours, there) {
		err = fmt.Errorf("%s is another file than the one that is written: %w", cellsFile, fs.ErrNotExist)
	}
	return err
}

// Cells gives the cells of the run so far, as Open does, from the open journal: also where the folder has been removed meanwhile.
// Those that could not be written are among them. It has to be called before Close.
func (w *Writer) Cells() (cells []Cell, warnings []string, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.journal == nil {
		return nil, nil, fmt.Errorf("run folder %s: %w", w.folder, fs.ErrClosed)
	}
	b := make([]byte, w.size)
	if _, err := w.journal.ReadAt(b, 0); err != nil && !errors.Is(err, io.EOF) {
		return w.lost, nil, folderError(w.folder, err)
	}
	cells, _, warnings, err = readJournal(b)
	if err != nil {
		return w.lost, nil, fmt.Errorf("run folder %s: %w", w.folder, err)
	}
	for i := range w.lost {
		warnings = append(warnings, fmt.Sprintf("cell %s could not be written into the run folder: its figures are here and nowhere else", w.lost[i].Key()))
	}
	return currentCells(append(cells, w.lost...)), warnings, nil
}

// appendLine writes and syncs a line; a part of a line that a full disk let through is cut off again.
func (w *Writer) appendLine(line []byte) error {
	_, err := w.journal.WriteAt(line, w.size)
	if err == nil {
		err = w.journal.Sync()
	}
	if err != nil {
		if failed := w.journal.Truncate(w.size); failed != nil {
			err = fmt.Errorf("%w; and what was written of it cannot be taken away: %w", err, failed)
		}
		return err
	}
	w.size += int64(len(line))
	return nil
}

func (w *Writer) note(seq int) {
	w.seqs[seq] = true
	w.lastSeq = max(w.lastSeq, seq)
}

// continueJournal places the writer behind the last whole line and cuts off what a crash left after it.
func (w *Writer) continueJournal() error {
	b, err := io.ReadAll(w.journal)
	if err != nil {
		return folderError(w.folder, err)
	}
	cells, end, _, err := readJournal(b)
	if err != nil {
		return fmt.Errorf("run folder %s: %w", w.folder, err)
	}
	for i := range cells {
		w.note(cells[i].Seq)
	}
	if err := w.journal.Truncate(int64(end)); err != nil {
		return folderError(w.folder, err)
	}
	w.size = int64(end)
	if end > 0 && b[end-1] != '\n' {
		if err := w.appendLine([]byte("\n")); err != nil {
			return folderError(w.folder, err)
		}
	}
	return folderError(w.folder, w.removeOrphans())
}

// removeOrphans removes the files of a cell whose line in the journal was never written: who was killed had begun to record it.
func (w *Writer) removeOrphans() error {
	for _, dir := range []string{histogramsDir, seriesDir} {
		entries, err := os.ReadDir(filepath.Join(w.folder, dir))
		if err != nil {
			return err
		}
		for _, e := range entries {
			digits, _, _ := strings.Cut(e.Name(), ".")
			seq, err := strconv.Atoi(digits)
			if err != nil || seq <= w.lastSeq && !strings.HasSuffix(e.Name(), tempSuffix) {
				continue // somebody else's, or of a cell that is there, or was before its line was damaged
			}
			if err := os.Remove(filepath.Join(w.folder, dir, e.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}

// encodeLine writes a cell as a line of the journal.
func encodeLine(c *Cell) ([]byte, error) {
	b, err := json.Marshal(c)
	if err != nil {
		return nil, err
	}
	body := b[:len(b)-1] // without its closing brace
	return append(body, checksum(body)+"\n"...), nil
}

// checksum is the end of a line whose other bytes are body.
func checksum(body []byte) string {
	return crcBefore + sum(body) + crcAfter
}

var errDamaged = errors.New("damaged")

// cellStart is how a line of this version begins.
var cellStart = fmt.Appendf(nil, `{"v":%d,`, CellVersion)

// decodeLine reads a line of the journal, without its newline.
func decodeLine(line []byte) (Cell, error) {
	n := len(line) - crcLen
	if n <= 0 {
		return Cell{}, errDamaged
	}
	if string(line[n:]) != checksum(line[:n]) {
		return Cell{}, errDamaged
	}
	if !bytes.HasPrefix(line, cellStart) { // of another version: only then is it read twice
		var head struct {
			Version int `json:"v"`
		}
		if err := json.Unmarshal(line, &head); err != nil {
			return Cell{}, fmt.Errorf("%w: %w", errDamaged, err)
		}
		if head.Version > CellVersion {
			return Cell{}, newerError(head.Version, CellVersion)
		}
	}
	var record struct {
		Cell
		Options exactNumbers `json:"options"`
	}
	if err := jsonv1.Unmarshal(line, &record); err != nil {
		return Cell{}, fmt.Errorf("%w: %w", errDamaged, err)
	}
	record.Cell.Options = record.Options
	return record.Cell, nil
}

// exactNumbers keeps numbers as they were written, so that a count among the options is printed so.
type exactNumbers map[string]any

// UnmarshalJSON decodes an object.
func (e *exactNumbers) UnmarshalJSON(b []byte) error {
	d := jsonv1.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	return d.Decode((*map[string]any)(e))
}

func newerError(got, known int) error {
	return fmt.Errorf("format %d is of a newer benchplan (this one reads up to %d): update benchplan", got, known)
}

// journalLine is a line of the journal, without its newline, and what it was decoded to.
type journalLine struct {
	text  []byte
	end   int // the offset behind its newline
	cells []Cell
	err   error
}

// readJournal gives the cells, the offset behind the last whole line, and warnings of damaged lines. The lines are decoded
// by as many goroutines as there are processors: of a large run that is most of the time that a report takes.
func readJournal(b []byte) (cells []Cell, end int, warnings []string, err error) {
	lines := splitJournal(b)
	inParallel(len(lines), func(i int) { lines[i].cells, lines[i].err = decodeLines(lines[i].text) })
	cells = make([]Cell, 0, len(lines))
	damaged, first := 0, 0
	for i, line := range lines {
		n := i + 1
		cells = append(cells, line.cells...)
		switch {
		case line.err == nil:
			end = line.end
		case !errors.Is(line.err, errDamaged):
			return nil, 0, nil, fmt.Errorf("%s line %d: %w", cellsFile, n, line.err)
		case n == len(lines):
			warnings = append(warnings, fmt.Sprintf("%s line %d, the last, is torn or damaged: its cell is lost", cellsFile, n))
		default:
			if end = line.end; damaged == 0 {
				first = n
			}
			damaged++
		}
	}
	switch {
	case damaged == 1:
		warnings = append(warnings, fmt.Sprintf("%s line %d is damaged and was skipped: its cell is lost", cellsFile, first))
	case damaged > 1:
		warnings = append(warnings, fmt.Sprintf("%d lines of %s are damaged and were skipped, the first of them line %d: their cells are lost", damaged, cellsFile, first))
	}
	return cells, end, warnings, nil
}

func splitJournal(b []byte) []journalLine {
	var lines []journalLine
	for offset := 0; offset < len(b); {
		text, size := b[offset:], len(b)-offset
		if i := bytes.IndexByte(text, '\n'); i >= 0 {
			text, size = text[:i], i+1
		}
		offset += size
		lines = append(lines, journalLine{text: text, end: offset})
	}
	return lines
}

// inParallel does something for each index below n, in stretches, by as many goroutines as there are processors.
func inParallel(n int, do func(i int)) {
	const stretch = 64
	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), (n+stretch-1)/stretch) {
		workers.Go(func() {
			for from := int(next.Add(stretch)) - stretch; from < n; from = int(next.Add(stretch)) - stretch {
				for i := from; i < min(from+stretch, n); i++ {
					do(i)
				}
			}
		})
	}
	workers.Wait()
}

// decodeLines reads a line; where the newline between two was damaged, both of them.
func decodeLines(line []byte) ([]Cell, error) {
	c, err := decodeLine(line)
	if err == nil {
		return []Cell{c}, nil
	}
	if !errors.Is(err, errDamaged) {
		return nil, err
	}
	const begin = `{"v":`
	const most = 100 // seams tried: a record of its own has none inside but where a label says so
	for seam, tries := 1, 0; seam < len(line) && tries < most; seam++ {
		if !bytes.HasPrefix(line[seam:], []byte(begin)) {
			continue
		}
		tries++
		first, err1 := decodeLine(line[:seam-1])
		second, err2 := decodeLine(line[seam:])
		if err1 == nil && err2 == nil {
			return []Cell{first, second}, nil
		}
	}
	return nil, err
}

// Open reads a run folder, also one that is being written. Warnings tell of lines that were lost. Where a resumed run
// executed a cell again, only one record of it is given: a complete one before a partial one, else the later.
func Open(folder string) (*Run, []Cell, []string, error) {
	run, damage := readRun(folder)
	if run == nil {
		return nil, nil, nil, damage
	}
	b, err := readRegular(filepath.Join(folder, cellsFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil, fmt.Errorf("run folder %s: %w", folder, err)
	}
	cells, _, warnings, err := readJournal(b)
	if err != nil {
		return nil, nil, nil, fmt.Errorf("run folder %s: %w", folder, err)
	}
	switch {
	case damage != nil:
		warnings = append(warnings, damage.Error())
	case len(cells) < run.Records:
		warnings = append(warnings, fmt.Sprintf("%s has %d of the %d records that %s counts: the others are lost", cellsFile, len(cells), run.Records, runFile))
	}
	return run, currentCells(cells), warnings, nil
}

// readRun reads run.json. One that is damaged and can be read nevertheless comes with the error that says so.
func readRun(folder string) (*Run, error) {
	b, err := readRegular(filepath.Join(folder, runFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s is not a run folder: it has no %s", folder, runFile)
	}
	if err != nil {
		return nil, fmt.Errorf("run folder %s: %w", folder, err)
	}
	var run Run
	readable, err := unseal(runFile, b, RunVersion, &run)
	if err != nil {
		err = fmt.Errorf("run folder %s: %w", folder, err)
	}
	if !readable {
		return nil, err
	}
	if run.Status == Running && !folderLocked(folder) {
		run.Status = Killed
	}
	return &run, err
}

// currentCells leaves one record of each repeat of each cell.
func currentCells(cells []Cell) []Cell {
	type id struct {
		key    string
		repeat int
	}
	at := make(map[id]int, len(cells))
	current := make([]Cell, 0, len(cells))
	for _, c := range cells {
		k := id{c.Key(), c.Repeat}
		i, seen := at[k]
		switch {
		case !seen:
			at[k] = len(current)
			current = append(current, c)
		case c.Status == Complete || current[i].Status != Complete:
			current[i] = c
		}
	}
	return current
}

// maxFile bounds what is read of a file in a run folder: a journal of a hundred thousand cells is far below it.
const maxFile = 2 << 30

// readRegular reads a file that is one: a run folder may come from anybody, and a pipe or a device in it would be read for ever.
func readRegular(path string) ([]byte, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is no regular file", path)
	case info.Size() > maxFile:
		return nil, fmt.Errorf("%s has %d bytes, more than a run folder's file may have", path, info.Size())
	}
	return os.ReadFile(path)
}
