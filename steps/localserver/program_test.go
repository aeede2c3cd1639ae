//go:build linux

package localserver_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"benchplan/steps/localserver"
	"benchplan/steps/localserver/servertest"
)

func TestFind(t *testing.T) {
	t.Setenv("PATH", "")
	t.Setenv(localserver.ProgramVariable, "")
	p, err := localserver.Find(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%s, version %s, at %s", p, p.Version, p.Path)
	if !filepath.IsAbs(p.Path) || p.Family == "" || p.Version == "" {
		t.Errorf("%+v", p)
	}
}

func TestProgramNamedByTheEnvironment(t *testing.T) {
	dir := t.TempDir()
	tests := map[string]struct{ path, want string }{
		"nothing there":   {filepath.Join(dir, "nonsense"), "cannot be used as the server program: no such file or directory"},
		"a folder":        {dir, "is a folder: name the server program itself"},
		"another program": {script(t, dir, "tail", `echo "tail (GNU coreutils) 9.1"`), `is no MariaDB or MySQL server: asked for its version it says "tail (GNU coreutils) 9.1"`},
		"one that fails": {
			script(t, dir, "mariadbd", `echo "mariadbd: error while loading shared libraries: liburing.so.2: cannot open shared object file" >&2; exit 127`),
			"exit status 127: mariadbd: error while loading shared libraries: liburing.so.2",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Setenv(localserver.ProgramVariable, tt.path)
			_, err := localserver.Start(t.Context(), localserver.Config{})
			if err == nil {
				t.Fatal("no error")
			}
			t.Log(err)
			for _, want := range []string{localserver.ProgramVariable + "=" + tt.path, tt.want} {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%v\ndoes not say %q", err, want)
				}
			}
		})
	}
}

func TestInspectTellsTheFamily(t *testing.T) {
	tests := map[string]struct{ says, want string }{
		"Debian's mysqld": {"/usr/sbin/mysqld  Ver 10.11.19-MariaDB-0+deb12u1 for debian-linux-gnu on x86_64 (Debian 12)", "MariaDB 10.11.19"},
		"a later MariaDB": {"mariadbd from 11.8.2-MariaDB, for Linux on x86_64", "MariaDB 11.8.2"},
		"MySQL":           {"/usr/sbin/mysqld  Ver 8.4.6 for Linux on x86_64 (MySQL Community Server - GPL)", "MySQL 8.4.6"},
		"Percona Server":  {"/usr/sbin/mysqld  Ver 8.0.36-28 for Linux on x86_64 (Percona Server (GPL), Release 28, Revision 47601f19)", "MySQL 8.0.36"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			p, err := localserver.Inspect(t.Context(), script(t, t.TempDir(), "mysqld", "echo '"+tt.says+"'"))
			if err != nil {
				t.Fatal(err)
			}
			if got := p.String(); got != tt.want {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}

// script writes a shell script that stands in for a program.
func script(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

// A package that was unpacked into some folder works from the path of its server program alone. The real program is
// copied, since a link would lead back to where it is installed.
func TestUnpackedPackage(t *testing.T) {
	installed, err := localserver.Find(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	real, err := filepath.EvalSymlinks(installed.Path)
	if err != nil {
		t.Fatal(err)
	}
	root := filepath.Join(t.TempDir(), "with a blank")
	if err := os.MkdirAll(filepath.Join(root, "usr/sbin"), 0o700); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(root, "usr/sbin/mariadbd")
	copyFile(t, real, path)
	for _, dir := range []string{"share", "lib"} {
		if err := os.Symlink(filepath.Join(filepath.Dir(filepath.Dir(real)), dir), filepath.Join(root, "usr", dir)); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv(localserver.ProgramVariable, path)
	server := servertest.Start(t, localserver.Config{})
	want := map[string]string{"basedir": root + "/usr", "lc_messages_dir": root + "/usr/share/mysql", "character_sets_dir": root + "/usr/share/mysql/charsets"}
	got := map[string]string{}
	for name := range want {
		got[name] = filepath.Clean(variable(t, server, name))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	in, err := os.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY, 0o700)
	if err != nil {
		t.Fatal(err)
	}
	_, err = io.Copy(out, in)
	if err := errors.Join(err, out.Close()); err != nil {
		t.Fatal(err)
	}
}

// fakeMySQL is not MySQL but a shell script, since MySQL is in no package of Debian: it writes down how it was called,
// and fails to start the way MySQL does. What is tested is the command lines, not a server.
const fakeMySQL = `
case "$*" in *--version*) echo "$0  Ver 8.4.6 for Linux on x86_64 (MySQL Community Server - GPL)"; exit;; esac
printf '%s\n' "$@" >>"$0.calls"; echo >>"$0.calls"
case "$*" in *--initialize-insecure*) exit;; esac
echo "2026-01-02T03:04:05.678901Z 0 [Warning] [MY-010918] [Server] 'default_authentication_plugin' is deprecated"
echo "2026-01-02T03:04:05.678902Z 0 [ERROR] [MY-000067] [Server] unknown variable 'innodb_nonsense=1'."
echo "2026-01-02T03:04:05.678903Z 0 [ERROR] [MY-010119] [Server] Aborting"
exit 7`

func TestCommandLinesOfMySQL(t *testing.T) {
	dir := temporary(t)
	path := script(t, t.TempDir(), "mysqld", fakeMySQL)
	t.Setenv(localserver.ProgramVariable, path)
	home := filepath.Join(t.TempDir(), "kept")
	_, err := localserver.Start(t.Context(), localserver.Config{
		Data:           home,
		Options:        map[string]string{"innodb_nonsense": "1", "innodb_redo_log_capacity": "1G"},
		MaxConnections: 1000,
	})
	if want := "MySQL 8.4.6 did not start: unknown variable 'innodb_nonsense=1'. (exit status 7)"; err == nil || err.Error() != want {
		t.Errorf("error: %v\nwant:  %s", err, want)
	}
	wantNothingLeft(t, dir)

	text, err := os.ReadFile(path + ".calls")
	if err != nil {
		t.Fatal(err)
	}
	var calls [][]string
	for call := range strings.SplitSeq(strings.TrimSpace(string(text)), "\n\n") {
		var args []string
		for arg := range strings.SplitSeq(call, "\n") {
			name, value, _ := strings.Cut(arg, "=")
			if name == "--socket" || name == "--pid-file" {
				arg = name + "=" + filepath.Base(value) // in a folder of a random name
			}
			args = append(args, strings.ReplaceAll(arg, home, "HOME"))
		}
		calls = append(calls, args)
	}
	common := []string{
		"--no-defaults",
		"--innodb-buffer-pool-size=64M", "--performance-schema=OFF", "--skip-log-bin", "--skip-name-resolve", "--loose-mysqlx=OFF", "--local-infile=ON", "--secure-file-priv=",
		"--max-connections=1010", "--back-log=1010", "--tmpdir=HOME/tmp",
		"--innodb_nonsense=1", "--innodb_redo_log_capacity=1G",
		"--datadir=HOME/data",
	}
	if os.Geteuid() == 0 {
		common = append(common, "--user=root")
	}
	want := [][]string{
		append(common[:len(common):len(common)], "--initialize-insecure"),
		append(common[:len(common):len(common)], "--socket=socket", "--pid-file=pid", "--skip-networking"),
	}
	if diff := cmp.Diff(want, calls); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

func TestDataOfTheOtherFamilyAreRefused(t *testing.T) {
	home := filepath.Join(t.TempDir(), "kept")
	server := servertest.Start(t, localserver.Config{Data: home})
	if err := server.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Setenv(localserver.ProgramVariable, script(t, t.TempDir(), "mysqld", fakeMySQL))
	_, err := localserver.Start(t.Context(), localserver.Config{Data: home})
	if want := home + " holds the data of " + server.Program().String() + ", but the server program "; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v\ndoes not say %q", err, want)
	}
}
