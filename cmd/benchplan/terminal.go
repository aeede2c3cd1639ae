package main

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"unicode"

	"benchplan/results"
	"benchplan/results/render"

	"golang.org/x/term"
)

// isTerminal tells whether a stream is a terminal that can move its cursor.
func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd())) && os.Getenv("TERM") != "dumb"
}

// color tells whether a stream takes colours (https://no-color.org).
func color(stream io.Writer) bool {
	return isTerminal(stream) && os.Getenv("NO_COLOR") == ""
}

// width gives the columns of a stream; 0 where it is no terminal, and COLUMNS before all.
func width(stream io.Writer) int {
	if n, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && n > 0 {
		return n
	}
	f, ok := stream.(*os.File)
	if !ok {
		return 0
	}
	n, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0
	}
	return n
}

func (t *terminal) options(runs ...results.Recorded) render.Options {
	return render.Options{Width: width(t.out), Color: color(t.out), Runs: runs}
}

// paintErrors makes the messages of a list stand out from the lines that they quote.
func (t *terminal) paintErrors(text string) string {
	if !color(t.err) {
		return text
	}
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if !strings.HasPrefix(line, " ") {
			lines[i] = "\x1b[31m" + line + "\x1b[0m"
		}
	}
	return strings.Join(lines, "\n")
}

// plainText takes out what would move a terminal's cursor or change its colours: messages quote servers and commands.
func plainText(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r):
			return '\uFFFD'
		}
		return r
	}, s)
}

// confirm asks a question on the terminal; without one the answer is yes, since the rules of what is dropped hold anyway.
func (t *terminal) confirm(question string) bool {
	if !isTerminal(t.in) || !isTerminal(t.err) {
		return true
	}
	fmt.Fprintf(t.err, "%s [y/N] ", question)
	var answer string
	_, _ = fmt.Fscanln(t.in, &answer)
	answer = strings.ToLower(answer)
	return answer == "y" || answer == "yes"
}
