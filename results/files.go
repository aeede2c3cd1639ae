package results

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// writeFiles keeps a cell's histograms and series and notes their names in the cell.
func (w *Writer) writeFiles(cell *Cell) error {
	var files []keptFile
	if len(cell.Outcome.Histograms) > 0 {
		b, err := encodeHistograms(cell)
		if err != nil {
			return err
		}
		cell.HistogramFile, cell.HistogramCRC = fmt.Sprintf("%s/%04d.hlog", histogramsDir, cell.Seq), sum(b)
		files = append(files, keptFile{filepath.Join(w.folder, cell.HistogramFile), b})
	}
	return replaceFiles(append(files, w.series(cell)...))
}

// encodeHistograms writes an HdrHistogram interval log, one tagged line a histogram. The values are nanoseconds, and
// Interval_Max is milliseconds, as that format has it.
func encodeHistograms(cell *Cell) ([]byte, error) {
	var b bytes.Buffer
	log := hdrhistogram.NewHistogramLogWriter(&b)
	err := errors.Join(log.OutputComment("[Values are nanoseconds]"), log.OutputLogFormatVersion(),
		log.OutputStartTime(cell.Started.UnixMilli()), log.OutputLegend())
	if err != nil {
		return nil, err
	}
	for _, tag := range slices.Sorted(maps.Keys(cell.Outcome.Histograms)) {
		if strings.ContainsFunc(tag, func(r rune) bool { return r <= ' ' || r == ',' }) {
			return nil, fmt.Errorf("histogram %q: a tag cannot hold commas and spaces", tag)
		}
		h := cell.Outcome.Histograms[tag]
		h.SetTag(tag)
		h.SetStartTimeMs(cell.Started.UnixMilli())
		h.SetEndTimeMs(cell.Finished.UnixMilli())
		if err := log.OutputIntervalHistogram(h); err != nil {
			return nil, fmt.Errorf("histogram %q: %w", tag, err)
		}
	}
	return b.Bytes(), nil
}

// ReadHistograms gives the histograms of a cell of that run folder by name, in nanoseconds; none is no error.
func ReadHistograms(folder string, cell *Cell) (map[string]*hdrhistogram.Histogram, error) {
	if cell.HistogramFile == "" {
		return nil, nil
	}
	path, b, err := readNamed(folder, cell.HistogramFile, cell.HistogramCRC)
	if err != nil {
		return nil, err
	}
	histograms, err := decodeHistograms(b)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return histograms, nil
}

// mostHistogram is far above the bytes that a histogram of latencies has in memory.
const mostHistogram = 1 << 20

// decodeHistograms reads such a log. Those of other bounds than ours have are refused: a histogram of few bytes can ask for much memory.
func decodeHistograms(b []byte) (map[string]*hdrhistogram.Histogram, error) {
	log := hdrhistogram.NewHistogramLogReader(bytes.NewReader(b))
	histograms := map[string]*hdrhistogram.Histogram{}
	for {
		h, err := log.NextIntervalHistogram()
		switch {
		case err != nil:
			return nil, err
		case h == nil:
			return histograms, nil
		case h.ByteSize() > mostHistogram:
			return nil, fmt.Errorf("histogram %q has %d bytes, more than one of latencies", h.Tag(), h.ByteSize())
		case histograms[h.Tag()] != nil:
			return nil, fmt.Errorf("histogram %q is there twice", h.Tag())
		}
		histograms[h.Tag()] = h
	}
}

// readNamed reads a file that a record names, and holds it against the checksum that the record has of it; records of version 1 have none.
func readNamed(folder, name, crc string) (path string, b []byte, err error) {
	if path, err = within(folder, name); err != nil {
		return "", nil, err
	}
	if b, err = readRegular(path); err != nil {
		return path, nil, err
	}
	if crc != "" && crc != sum(b) {
		return path, nil, fmt.Errorf("%s is %w: its checksum is not the one that the record of its cell has", path, errDamaged)
	}
	return path, b, nil
}

// within joins a name from a record to its folder; a record that points outside is refused.
func within(folder, name string) (string, error) {
	if !filepath.IsLocal(name) {
		return "", fmt.Errorf("run folder %s: the record names a file outside of it: %q", folder, name)
	}
	return filepath.Join(folder, name), nil
}
