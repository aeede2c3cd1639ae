package steps

import (
	"errors"
	"regexp"
	"strings"
)

var (
	delimiterCommand = regexp.MustCompile(`(?i)^delimiter\b`)
	// storedProgram begins a statement with a body of statements.
	storedProgram = regexp.MustCompile(`(?is)^create\b[^(]*?\b(procedure|function|trigger|event)\b.*\bbegin\b`)
)

// splitScript cuts a script at the semicolons that stand outside of quotes and comments. What holds only comments is left
// out. A stored program with a body in BEGIN and END is not cut, and takes all that follows it.
func splitScript(script string) ([]string, error) {
	var out []string
	start, content := 0, -1 // where the statement begins, and its first character that is no comment
	end := func(i int) error {
		if content >= 0 {
			if delimiterCommand.MatchString(script[content:i]) {
				return errors.New("DELIMITER is a command of the mysql client, and no SQL; leave it out, and write each stored program as an item of a list")
			}
			out = append(out, strings.TrimSpace(script[start:i]))
		}
		start, content = i+1, -1
		return nil
	}
	for i := 0; i < len(script); {
		rest := script[i:]
		length := 1
		switch c := script[i]; {
		case c == '\'' || c == '"' || c == '`':
			length = quotedLength(rest)
		case c == '#' || dashComment(rest):
			i += lengthUntil(rest, "\n")
			continue
		case strings.HasPrefix(rest, "/*"):
			length = lengthUntil(rest, "*/")
			if !strings.HasPrefix(rest, "/*!") && !strings.HasPrefix(rest, "/*M!") { // those the server executes
				i += length
				continue
			}
		case strings.IndexByte(" \t\r\n\f\v", c) >= 0:
			i++
			continue
		case c == ';' && (content < 0 || !storedProgram.MatchString(script[content:i])):
			if err := end(i); err != nil {
				return nil, err
			}
			i++
			continue
		}
		if content < 0 {
			content = i
		}
		i += length
	}
	return out, end(len(script))
}

// dashComment tells a comment from two minuses: white space or a control character follows it, or nothing.
func dashComment(s string) bool {
	return strings.HasPrefix(s, "--") && (len(s) == 2 || s[2] <= ' ' || s[2] == 0x7f)
}

// quotedLength is the length of the quoted text that s begins with; a doubled quote inside begins the next one, which is as good.
func quotedLength(s string) int {
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == '\\' && s[0] != '`':
			i++
		case s[i] == s[0]:
			return i + 1
		}
	}
	return len(s)
}

func lengthUntil(s, mark string) int {
	if i := strings.Index(s, mark); i >= 0 {
		return i + len(mark)
	}
	return len(s)
}
