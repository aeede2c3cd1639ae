package results

import (
	"bytes"
	"encoding/json"
	"io"
	"log/slog"
	"strconv"
)

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
