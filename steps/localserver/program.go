package localserver

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// ProgramVariable is the environment variable that names the server program to use, before any other place.
const ProgramVariable = "BENCHPLAN_SERVER"

// Family tells the two lines of servers apart: they are set up, and some of their options named, differently.
type Family string

// The families. Percona Server counts as MySQL.
const (
	MariaDB Family = "MariaDB"
	MySQL   Family = "MySQL"
)

// Program is a server program that has been found to run.
type Program struct {
	Path    string // absolute
	Family  Family
	Version string // as the program tells it: 10.11.19-MariaDB-0+deb12u1, 8.4.6

	installed tree
}

// String names the server as messages do: "MariaDB 10.11.19".
func (p Program) String() string {
	number, _, _ := strings.Cut(p.Version, "-")
	return string(p.Family) + " " + number
}

// ErrNotFound is wrapped by the error of Find where no server program runs.
var ErrNotFound = errors.New("no MariaDB or MySQL server program found")

// Find gives the server program to use: the one that BENCHPLAN_SERVER names, else the first that runs of PATH, of the
// folders where packages put servers (an ordinary user has no /usr/sbin on PATH), and of the user's cache, where
// .ci/server unpacks one. In each folder mariadbd comes before mysqld.
func Find(ctx context.Context) (Program, error) {
	if path := os.Getenv(ProgramVariable); path != "" {
		p, err := Inspect(ctx, path)
		if err != nil {
			return Program{}, fmt.Errorf("%s=%s: %w", ProgramVariable, path, err)
		}
		return p, nil
	}
	return findIn(ctx, programFolders())
}

// findIn gives the first server program in the folders that runs.
func findIn(ctx context.Context, folders []string) (Program, error) {
	var broken []string
	for _, folder := range folders {
		for _, name := range []string{"mariadbd", "mysqld"} {
			path := filepath.Join(folder, name)
			if !executable(path) {
				continue
			}
			p, err := Inspect(ctx, path)
			if err == nil {
				return p, nil
			}
			if ctx.Err() != nil {
				return Program{}, err
			}
			broken = append(broken, fmt.Sprintf("%s: %v", path, err))
		}
	}
	return Program{}, notFound(folders, broken)
}

// notFound says where was looked, what was found but does not run, and what to do.
func notFound(folders, broken []string) error {
	const remedy = "install one (Debian, Ubuntu: apt-get install mariadb-server-core; Fedora, RHEL: dnf install mariadb-server; macOS: brew install mariadb) or name its path in " + ProgramVariable
	if len(broken) > 0 {
		return fmt.Errorf("%w that runs: %s; %s", ErrNotFound, strings.Join(broken, "; "), remedy)
	}
	return fmt.Errorf("%w in %s; %s", ErrNotFound, strings.Join(folders, ", "), remedy)
}

// programFolders lists where servers are looked for, each folder once.
func programFolders() []string {
	folders := filepath.SplitList(os.Getenv("PATH"))
	folders = append(folders, "/usr/sbin", "/usr/libexec", "/usr/local/sbin", "/usr/local/bin", "/usr/local/libexec", "/usr/local/mysql/bin")
	if cache, err := os.UserCacheDir(); err == nil {
		folders = append(folders, filepath.Join(cache, "benchplan", "server", "usr", "sbin"))
	}
	var once []string
	for _, folder := range folders {
		if filepath.IsAbs(folder) && !slices.Contains(once, folder) {
			once = append(once, folder)
		}
	}
	return once
}

// executable tells whether the path is a file that somebody may execute.
func executable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}

// versionPattern finds the version in what --version prints: "mariadbd  Ver 10.11.19-MariaDB-…", "mariadbd from 11.8.2-MariaDB".
var versionPattern = regexp.MustCompile(`(?:Ver|from) v?(\d+\.\d+[^\s,]*)`)

// Inspect asks the program at path for its version. The name says nothing: on Debian /usr/sbin/mysqld is MariaDB.
func Inspect(ctx context.Context, path string) (Program, error) {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return Program{}, err
	}
	if info, err := os.Stat(absolute); err != nil {
		return Program{}, fmt.Errorf("cannot be used as the server program: %w", errors.Unwrap(err))
	} else if info.IsDir() {
		return Program{}, errors.New("is a folder: name the server program itself, mariadbd or mysqld")
	}
	p := Program{Path: absolute, installed: surroundings(absolute)}

	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, absolute, "--no-defaults", "--version")
	cmd.Env = p.environment()
	cmd.WaitDelay = time.Second
	var complaint bytes.Buffer
	cmd.Stderr = &complaint
	out, err := cmd.Output()
	if ctx.Err() != nil {
		return Program{}, fmt.Errorf("asked for its version: %w", ctx.Err())
	}
	if err != nil {
		return Program{}, fmt.Errorf("asked for its version: %w%s", err, because(complaint.String()))
	}
	match := versionPattern.FindSubmatch(out)
	if match == nil {
		return Program{}, fmt.Errorf("is no MariaDB or MySQL server: asked for its version it says %q", firstLine(string(out)))
	}
	p.Version, p.Family = string(match[1]), MySQL
	if bytes.Contains(out, []byte("MariaDB")) {
		p.Family = MariaDB
	}
	return p, nil
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return line
}

// tree is what lies around a server program.
type tree struct {
	base      string   // the installation, for --basedir
	messages  string   // the error messages, for --lc-messages-dir; empty where they were not found: the program then knows better
	libraries []string // folders of shared libraries, where the tree was unpacked into a folder of its own
}

// share lists where packages and tarballs put what a server reads: messages, character sets, SQL of its system tables.
func (t tree) share() []string {
	return []string{filepath.Join(t.base, "share", "mysql"), filepath.Join(t.base, "share", "mariadb"), filepath.Join(t.base, "share")}
}

// surroundings looks for what belongs to the program at path, so that a package that was only unpacked into some
// folder, or a tarball, works from the program's path alone.
func surroundings(path string) tree {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	t := tree{base: filepath.Dir(filepath.Dir(path))}
	for _, dir := range t.share() {
		if _, err := os.Stat(filepath.Join(dir, "english", "errmsg.sys")); err == nil {
			t.messages = dir
			break
		}
	}
	// A Debian package unpacked into <root> has <root>/usr/sbin/mariadbd and its libraries in <root>/usr/lib/<triplet>
	// or <root>/lib/<triplet>.
	if root := filepath.Dir(t.base); filepath.Base(t.base) == "usr" && root != "/" {
		for _, pattern := range []string{"usr/lib/*-linux-gnu*", "lib/*-linux-gnu*"} {
			found, _ := filepath.Glob(filepath.Join(root, pattern)) // the pattern is well-formed
			t.libraries = append(t.libraries, found...)
		}
	}
	return t
}

// environment is what the program is started with: little, since benchplan's own may hold secrets of a plan.
func (p Program) environment() []string {
	const libraryPath = "LD_LIBRARY_PATH"
	var env []string
	for _, name := range []string{"PATH", "HOME", "TZ", "LANG", "LD_PRELOAD"} {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	libraries := p.installed.libraries
	if inherited := os.Getenv(libraryPath); inherited != "" {
		libraries = append(slices.Clone(libraries), inherited)
	}
	if len(libraries) > 0 {
		env = append(env, libraryPath+"="+strings.Join(libraries, ":"))
	}
	return env
}
