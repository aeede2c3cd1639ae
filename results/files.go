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
		cell.HistogramFile = fmt.Sprintf("%s/%04d.hlog", histogramsDir, cell.Seq)
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
	path, err := within(folder, cell.HistogramFile)
	if err != nil {
		return nil, err
	}
	b, err := readRegular(path)
	if err != nil {
		return nil, err
	}
	log := hdrhistogram.NewHistogramLogReader(bytes.NewReader(b))
	histograms := map[string]*hdrhistogram.Histogram{}
	for {
		h, err := log.NextIntervalHistogram()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		if h == nil {
			return histograms, nil
		}
		histograms[h.Tag()] = h
	}
}

// within joins a name from a record to its folder; a record that points outside is refused.
func within(folder, name string) (string, error) {
	if !filepath.IsLocal(name) {
		return "", fmt.Errorf("run folder %s: the record names a file outside of it: %q", folder, name)
	}
	return filepath.Join(folder, name), nil
}
