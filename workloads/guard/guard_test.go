package guard

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
)

func crash(list []int) int { return list[len(list)] }

// TestPanicBecomesAnError with its place, whatever panic was given; and what does not panic is let through.
func TestPanicBecomesAnError(t *testing.T) {
	for name, c := range map[string]struct {
		do   func() error
		text string
	}{
		"index":  {func() error { crash(nil); return nil }, "index out of range [0] with length 0, at workloads/guard.crash (guard_test.go:12)"},
		"text":   {func() error { panic("no") }, "no, at workloads/guard.TestPanicBecomesAnError"},
		"error":  {func() error { panic(io.ErrUnexpectedEOF) }, "unexpected EOF, at "},
		"divide": {func() error { return fmt.Errorf("%d", 1/len(os.Args[:0])) }, "integer divide by zero"},
		"passed on": {func() error {
			err := Call(func() error { crash(nil); return nil })
			panic(err)
		}, "guard_test.go:12"},
	} {
		err := Func(c.do)()
		p, ok := errors.AsType[*Panic](err)
		if !ok || !strings.Contains(err.Error(), c.text) || !strings.Contains(string(p.Stack), "guard_test.go") {
			t.Errorf("%s: %v", name, err)
		}
		if errors.Is(err, io.ErrUnexpectedEOF) != (name == "error") {
			t.Errorf("%s: it wraps another error", name)
		}
	}
	if err := Call(func() error { return io.EOF }); err != io.EOF {
		t.Error(err)
	}
	if err := Call(func() error { return nil }); err != nil {
		t.Error(err)
	}
}
