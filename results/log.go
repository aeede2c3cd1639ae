package results

import (
	"bytes"
	"encoding/json"
	"io"
	"log/slog"
	"os"
	"slices"
	"strconv"
	"sync"
)

// logFileWriter is the open log. What cannot be written there is no reason to stop: the first error is kept, for the end.
type logFileWriter struct {
	mu   sync.Mutex
	file *os.File
	torn bool // the last line is not whole
	err  error
}

func openLog(path string) (*logFileWriter, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	return &logFileWriter{file: f}, nil
}

// Write appends a line. One that follows a part of another begins anew.
func (l *logFileWriter) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.torn {
		if _, err := l.file.WriteString("\n"); err != nil {
			return 0, err
		}
		l.torn = false
	}
	n, err := l.file.Write(line)
	if err != nil {
		l.torn = n > 0
		if l.err == nil {
			l.err = err
		}
	}
	return n, err
}

func (l *logFileWriter) failed() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}

// Close closes the file.
func (l *logFileWriter) Close() error { return l.file.Close() }

// newLog makes a logger of JSON lines whose messages and texts are masked; keys and numbers are left alone.
func newLog(w io.Writer, mask func(string) string) *slog.Logger {
	return slog.New(slog.NewJSONHandler(w, &slog.HandlerOptions{
		Level: slog.LevelDebug,
		ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			switch a.Value.Kind() {
			case slog.KindString:
				a.Value = slog.StringValue(mask(a.Value.String()))
			case slog.KindAny:
				a.Value = maskAny(a.Value.Any(), mask)
			}
			return a
		},
	}))
}

func maskAny(v any, mask func(string) string) slog.Value {
	switch v := v.(type) {
	case error:
		return slog.StringValue(mask(v.Error()))
	case slog.Level, *slog.Source, nil:
		return slog.AnyValue(v)
	}
	b, err := json.Marshal(v)
	if err != nil {
		return slog.StringValue("cannot be written as JSON: " + mask(err.Error()))
	}
	b, err = maskJSON(b, mask)
	if err != nil {
		return slog.StringValue(mask(err.Error()))
	}
	return slog.AnyValue(json.RawMessage(b))
}

// maskJSON masks the text values of a JSON document.
func maskJSON(b []byte, mask func(string) string) ([]byte, error) {
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	return json.Marshal(maskTree(v, mask))
}

func maskTree(v any, mask func(string) string) any {
	switch v := v.(type) {
	case string:
		return mask(v)
	case []any:
		for i := range v {
			v[i] = maskTree(v[i], mask)
		}
	case map[string]any:
		for k := range v {
			v[k] = maskTree(v[k], mask)
		}
	}
	return v
}

// maskRun gives a copy of the run whose free texts are masked.
func maskRun(run *Run, mask func(string) string) Run {
	r := *run
	r.Errors = maskList(run.Errors, mask)
	r.NotPutBack = slices.Clone(run.NotPutBack)
	for i := range r.NotPutBack {
		r.NotPutBack[i].Send = maskList(r.NotPutBack[i].Send, mask)
	}
	r.Settings = maskMap(run.Settings, mask)
	r.Resumed = append([]Resumption(nil), run.Resumed...)
	for i := range r.Resumed {
		r.Resumed[i].Errors, r.Resumed[i].Changed = maskList(r.Resumed[i].Errors, mask), maskList(r.Resumed[i].Changed, mask)
	}
	r.Targets = append([]Server(nil), run.Targets...)
	for i := range r.Targets {
		r.Targets[i].Variables = maskMap(r.Targets[i].Variables, mask)
		r.Targets[i].Topology = maskMap(r.Targets[i].Topology, mask)
		r.Targets[i].Unknown = maskList(r.Targets[i].Unknown, mask)
	}
	return r
}

// maskCell gives a copy of the cell whose free texts are masked.
func maskCell(cell *Cell, mask func(string) string) Cell {
	c := *cell
	c.Error, c.Unmet = mask(cell.Error), mask(cell.Unmet)
	c.Attributes = maskMap(cell.Attributes, mask)
	c.Marks = append([]Mark(nil), cell.Marks...)
	for i := range c.Marks {
		c.Marks[i].Text, c.Marks[i].Remedy = mask(c.Marks[i].Text), mask(c.Marks[i].Remedy)
	}
	c.Outcome.Errors = maskErrors(cell.Outcome.Errors, mask)
	c.Outcome.Restarts = maskErrors(cell.Outcome.Restarts, mask)
	if cell.Server != nil {
		server := *cell.Server
		server.Variables = maskMap(server.Variables, mask)
		c.Server = &server
	}
	return c
}

func maskErrors(list []ErrorCount, mask func(string) string) []ErrorCount {
	masked := append([]ErrorCount(nil), list...)
	for i := range masked {
		masked[i].Message = mask(masked[i].Message)
	}
	return masked
}

func maskList(list []string, mask func(string) string) []string {
	masked := append([]string(nil), list...)
	for i := range masked {
		masked[i] = mask(masked[i])
	}
	return masked
}

// maskMap masks values that are not figures: a buffer size whose digits happen to hold a secret's stays what it is.
func maskMap(m map[string]string, mask func(string) string) map[string]string {
	if m == nil {
		return nil
	}
	masked := make(map[string]string, len(m))
	for k, v := range m {
		if _, err := strconv.ParseFloat(v, 64); err != nil {
			v = mask(v)
		}
		masked[k] = v
	}
	return masked
}
