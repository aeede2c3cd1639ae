package localserver

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// errorLog is what one process writes into the server's log, which goes on from process to process.
type errorLog struct {
	file *os.File
	from int64 // where this process's part begins
}

// openLog opens the log of home for one more process.
func openLog(home string) (*errorLog, error) {
	file, err := os.OpenFile(filepath.Join(home, "error.log"), os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("the server's log: %w", err)
	}
	end, err := file.Seek(0, io.SeekEnd)
	if err != nil {
		file.Close()
		return nil, fmt.Errorf("the server's log: %w", err)
	}
	return &errorLog{file: file, from: end}, nil
}

func (l *errorLog) close() { _ = l.file.Close() } // nothing of ours is written

// How much of a log is looked at and shown.
const (
	logTail  = 64 << 10
	logLines = 3
)

// text gives this process's part, at most the last 64 KB.
func (l *errorLog) text() string {
	end, err := l.file.Seek(0, io.SeekEnd)
	if err != nil {
		return ""
	}
	part := make([]byte, min(end-l.from, logTail))
	n, _ := l.file.ReadAt(part, end-int64(len(part))) // what can be read is better than nothing
	return string(part[:n])
}

// entryPattern takes an entry of the log apart: time and thread; [ERROR]; MySQL's code and subsystem; the program's path; the message.
var entryPattern = regexp.MustCompile(`^\d{4}-\d\d-\d\d[ T]\s*[\d:.]+\S*\s+\d+\s+\[(\w+)\]\s*(?:\[MY-\d+\]\s*\[\w+\]\s*)?(?:/.*/(?:mariadbd|mysqld): )?(.*)$`)

// complaints gives the messages of the log that matter: those of level ERROR or, where there is none (a shared library
// that is missing, a crash), all. Which end of them tells the cause differs: the first of a start, the last of a death.
func complaints(text string) []string {
	var failures, all []string
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		entry := entryPattern.FindStringSubmatch(line)
		if entry == nil {
			if message, ok := strings.CutPrefix(line, "ERROR: "); ok { // of a statement in MariaDB's bootstrap
				failures = append(failures, strings.Join(strings.Fields(message), " "))
			}
			all = append(all, line)
			continue
		}
		all = append(all, entry[2])
		if entry[1] == "ERROR" && entry[2] != "Aborting" {
			failures = append(failures, entry[2])
		}
	}
	if len(failures) > 0 {
		return failures
	}
	return all
}

// departures gives what the log says of options that the server did not take as they were given: a value out of range
// is moved into it, and limits are lowered where files run short. The server starts all the same.
func departures(text string) []string {
	var found []string
	for line := range strings.Lines(text) {
		entry := entryPattern.FindStringSubmatch(strings.TrimSpace(line))
		if entry == nil || entry[1] != "Warning" {
			continue
		}
		message := strings.TrimPrefix(entry[2], "Buffered warning: ")
		if strings.HasPrefix(message, "option '") && strings.Contains(message, "adjusted to") || strings.HasPrefix(message, "Changed limits") {
			found = append(found, message)
		}
	}
	return found
}

// because makes what a program printed into the tail of an error, if it printed anything.
func because(text string) string {
	lines := complaints(text)
	if len(lines) == 0 {
		return ""
	}
	return ": " + strings.Join(lines[:min(len(lines), logLines)], "; ")
}

// startFailure is the error of a process that ended before it was of use.
func (p Program) startFailure(process *process) error {
	err := process.err
	if err == nil {
		err = errors.New("exit status 0")
	}
	lines := complaints(process.said)
	if len(lines) == 0 {
		return fmt.Errorf("%s did not start: %w", p, err)
	}
	return fmt.Errorf("%s did not start: %s (%w)%s", p, strings.Join(lines[:min(len(lines), logLines)], "; "), err, p.hint(process.said))
}

// death is the error of a server that ended though nobody asked.
func (p Program) death(process *process) error {
	how := "exit status 0"
	if process.err != nil {
		how = process.err.Error()
	}
	if how == "signal: killed" {
		how += " (as the kernel does when memory runs out)"
	}
	if lines := complaints(process.said); len(lines) > 0 {
		how += "; the last lines of its log: " + strings.Join(lines[max(0, len(lines)-logLines):], "; ")
	}
	return fmt.Errorf("%s (pid %d) ended by itself: %s", p, process.pid(), how)
}

// hint names the cause where the server tells only a number, and the remedy where it cannot know it.
func (p Program) hint(text string) string {
	if strings.Contains(text, "error 28") || strings.Contains(text, "Errcode: 28") || strings.Contains(text, "No space left") {
		return "; no space is left on the disk of its folder: make some, or choose another disk with TMPDIR or a data folder"
	}
	profile := "/etc/apparmor.d/" + strings.ReplaceAll(strings.TrimPrefix(p.Path, "/"), "/", ".")
	denied := strings.Contains(text, "Permission denied") || strings.Contains(text, "Errcode: 13") || strings.Contains(text, "errno: 13")
	if _, err := os.Stat(profile); denied && err == nil {
		return fmt.Sprintf("; the AppArmor profile %s may keep it from its data folder: allow the folder in /etc/apparmor.d/local/%s, or name another program in %s",
			profile, filepath.Base(profile), ProgramVariable)
	}
	return ""
}
