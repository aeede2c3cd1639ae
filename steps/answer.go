package steps

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
)

// The most of an answer that is read, and the most values that one in JSON has: they take many times the memory of their text.
const (
	maxBody    = 16 << 20
	maxHeaders = 256 << 10
	maxValues  = 500_000
)

// answer is what came back on an HTTP request.
type answer struct {
	status  int
	headers map[string]any // by their names as HTTP writes them, and in lower case
	body    []byte
}

func readAnswer(response *http.Response) (*answer, error) {
	body, err := io.ReadAll(io.LimitReader(response.Body, maxBody+1))
	if err != nil {
		return nil, fmt.Errorf("the answer (status %d) broke off after %d bytes: %w", response.StatusCode, len(body), err)
	}
	if len(body) > maxBody {
		return nil, fmt.Errorf("the answer (status %d) is longer than %d MiB", response.StatusCode, maxBody>>20)
	}
	if separators(body) > maxValues && jsonBegins(body) {
		return nil, fmt.Errorf("the answer (status %d) is JSON of more than %d values", response.StatusCode, maxValues)
	}
	a := &answer{status: response.StatusCode, headers: map[string]any{}, body: body}
	for name, values := range response.Header {
		a.setHeader(name, strings.Join(values, ", "))
	}
	return a, nil
}

func (a *answer) setHeader(name, value string) {
	a.headers[http.CanonicalHeaderKey(name)], a.headers[strings.ToLower(name)] = value, value
}

// yields gives the names that an assert can read. A body that is not JSON has json nil.
func (a *answer) yields() map[string]any {
	parsed, err := parseJSON(a.body)
	if err != nil {
		parsed = nil
	}
	return map[string]any{"status": a.status, "body": string(a.body), "headers": a.headers, "json": parsed}
}

// separators counts what stands before or behind each value of a list or an object.
func separators(b []byte) int {
	return bytes.Count(b, []byte(",")) + bytes.Count(b, []byte("[")) + bytes.Count(b, []byte("{"))
}

// jsonBegins tells whether a text begins as a list or an object.
func jsonBegins(b []byte) bool {
	b = bytes.TrimLeft(bytes.TrimPrefix(b, byteOrderMark), " \t\r\n")
	return len(b) > 0 && (b[0] == '[' || b[0] == '{')
}

var byteOrderMark = []byte("\uFEFF")

// parseJSON reads one JSON value; whole numbers keep all their digits. A byte order mark, which some servers send, is passed over.
func parseJSON(b []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(bytes.TrimPrefix(b, byteOrderMark)))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, errors.New("something follows the value")
	}
	return numbers(v), nil
}

// numbers turns the numbers of a JSON value into those of expressions.
func numbers(v any) any {
	switch v := v.(type) {
	case json.Number:
		if n, err := strconv.ParseInt(string(v), 10, 64); err == nil {
			return n
		}
		if n, err := strconv.ParseUint(string(v), 10, 64); err == nil {
			return n
		}
		f, err := v.Float64()
		if err != nil {
			return string(v) // beyond what a float64 can be
		}
		return f
	case []any:
		for i := range v {
			v[i] = numbers(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = numbers(v[k])
		}
	}
	return v
}

// excerpt is as much of an answer as a message or the log needs. It is masked before it is cut: half a secret is not known again.
func excerpt(b []byte, mask func(string) string) string {
	const most, before = 500, 8000
	s := strings.TrimSpace(strings.ToValidUTF8(string(b[:min(len(b), before)]), "\uFFFD"))
	s = mask(s)
	if len(s) > most {
		return strings.ToValidUTF8(s[:most], "") + "…"
	}
	return s
}
