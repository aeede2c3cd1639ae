package results

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// writeFiles keeps a cell's histograms and series and notes their names in the cell.
func (w *Writer) writeFiles(cell *Cell) error {
	if len(cell.Outcome.Histograms) > 0 {
		b, err := encodeHistograms(cell)
		if err != nil {
			return err
		}
		cell.HistogramFile = fmt.Sprintf("%s/%04d.hlog", histogramsDir, cell.Seq)
		if err := replaceFile(filepath.Join(w.folder, cell.HistogramFile), b); err != nil {
			return err
		}
	}
	if len(cell.Outcome.Series) > 0 {
		cell.SeriesFile = fmt.Sprintf("%s/%04d.csv", seriesDir, cell.Seq)
		if err := replaceFile(filepath.Join(w.folder, cell.SeriesFile), encodeSeries(cell.Outcome.Series)); err != nil {
			return err
		}
	}
	return nil
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

var seriesHeader = []string{"at_s", "length_s", "events", "queries", "p50_ms", "p95_ms", "p99_ms", "errors"}

func encodeSeries(series []Second) []byte {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	w.Write(seriesHeader) //nolint:errcheck // a buffer takes everything
	float := func(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) }
	whole := func(n int64) string { return strconv.FormatInt(n, 10) }
	for _, s := range series {
		w.Write([]string{float(s.At), float(s.Length), whole(s.Events), whole(s.Queries), //nolint:errcheck // as above
			float(s.P50), float(s.P95), float(s.P99), whole(s.Errors)})
	}
	w.Flush()
	return b.Bytes()
}

// ReadSeries gives the one-second series of a cell of that run folder; none is no error.
func ReadSeries(folder string, cell *Cell) ([]Second, error) {
	if cell.SeriesFile == "" {
		return nil, nil
	}
	path, err := within(folder, cell.SeriesFile)
	if err != nil {
		return nil, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // only read
	r := csv.NewReader(f)
	r.FieldsPerRecord = len(seriesHeader)
	if _, err := r.Read(); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	var series []Second
	for {
		record, err := r.Read()
		if errors.Is(err, io.EOF) {
			return series, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		second, err := parseSecond(record)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		series = append(series, second)
	}
}

func parseSecond(record []string) (Second, error) {
	var values [8]float64
	for i, field := range record {
		v, err := strconv.ParseFloat(field, 64)
		if err != nil {
			return Second{}, err
		}
		values[i] = v
	}
	return Second{
		At: values[0], Length: values[1], Events: int64(values[2]), Queries: int64(values[3]),
		P50: values[4], P95: values[5], P99: values[6], Errors: int64(values[7]),
	}, nil
}

// within joins a name from a record to its folder; a record that points outside is refused.
func within(folder, name string) (string, error) {
	if !filepath.IsLocal(name) {
		return "", fmt.Errorf("run folder %s: the record names a file outside of it: %q", folder, name)
	}
	return filepath.Join(folder, name), nil
}
