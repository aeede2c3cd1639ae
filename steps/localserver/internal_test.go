package localserver

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestNoServerProgram(t *testing.T) {
	empty, broken := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(broken, "mysqld"), []byte("#!/bin/sh\necho no such library >&2\nexit 1\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		folders []string
		want    []string
	}{
		"none":               {[]string{empty}, []string{"no MariaDB or MySQL server program found in " + empty + "; ", "apt-get install mariadb-server-core", ProgramVariable}},
		"one that is broken": {[]string{empty, broken}, []string{"found that runs: " + broken + "/mysqld: asked for its version: exit status 1: no such library; ", "apt-get install mariadb-server-core"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := findIn(t.Context(), tt.folders)
			if !errors.Is(err, ErrNotFound) {
				t.Fatalf("error: %v", err)
			}
			t.Log(err)
			for _, want := range tt.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%v\ndoes not say %q", err, want)
				}
			}
		})
	}
}

func TestComplaints(t *testing.T) {
	tests := map[string]struct {
		log  string
		want []string
	}{
		"MariaDB": {
			"2026-11-30 10:59:20 0 [Note] Starting MariaDB 10.11.19\n2026-11-30 10:59:20 0 [ERROR] /usr/sbin/mariadbd: unknown variable 'x=1'\n2026-11-30 10:59:20 0 [ERROR] Aborting\n",
			[]string{"unknown variable 'x=1'"},
		},
		"MariaDB, in the morning": {"2026-11-30  9:05:01 12 [ERROR] InnoDB: No space left\n", []string{"InnoDB: No space left"}},
		"MySQL":                   {"2026-01-02T03:04:05.678902Z 0 [ERROR] [MY-012574] [InnoDB] Unable to lock ./ibdata1 error: 11\n", []string{"Unable to lock ./ibdata1 error: 11"}},
		"a statement of the bootstrap": {
			"ERROR: 1064  You have an error in your SQL syntax\n2026-11-30 10:59:20 0 [ERROR] Aborting\n",
			[]string{"1064 You have an error in your SQL syntax"},
		},
		"no error in it": {
			"mariadbd: error while loading shared libraries: liburing.so.2\n\n2026-11-30 10:59:20 0 [Note] bye\n",
			[]string{"mariadbd: error while loading shared libraries: liburing.so.2", "bye"},
		},
		"nothing": {"", nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, complaints(tt.log)); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

func TestLimitsThatAreTooLow(t *testing.T) {
	s := &Server{config: Config{MaxConnections: 1000, MaxPreparedStatements: 20_000}, program: Program{Family: MariaDB, Version: "10.11.19-MariaDB"}}
	tests := map[string]struct {
		options map[string]string
		limits  limits
		want    string
	}{
		"enough":               {nil, limits{1010, 5050, 20_000}, ""},
		"files not known":      {nil, limits{1010, 0, 20_000}, ""},
		"connections lowered":  {nil, limits{214, 1024, 20_000}, "MariaDB 10.11.19 can serve no more than 214 clients where 1000 are needed, since it may open only 1024 files: raise the limit, for example with `ulimit -n 5050`"},
		"connections promised": {nil, limits{1010, 600, 20_000}, "MariaDB 10.11.19 can serve no more than 500 clients where 1000 are needed, since it may open only 600 files: raise the limit, for example with `ulimit -n 5050`"},
		"statements lowered":   {nil, limits{1010, 5050, 16_382}, "MariaDB 10.11.19 allows no more than 16382 prepared statements where 20000 are needed: use fewer clients or tables"},
		"the user's own":       {map[string]string{"max_connections": "10", "max_prepared_stmt_count": "1"}, limits{10, 5050, 1}, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var got string
			if err := s.checkLimits(tt.options, tt.limits); err != nil {
				got = err.Error()
			}
			if got != tt.want {
				t.Errorf("%s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestOverlay(t *testing.T) {
	under := map[string]string{"innodb_buffer_pool_size": "1G", "skip-log-bin": "", "sort_buffer_size": "2M"}
	over := map[string]string{"INNODB-buffer-pool-size": "2G", "loose_log_bin": "mysql-bin"}
	want := map[string]string{"INNODB-buffer-pool-size": "2G", "loose_log_bin": "mysql-bin", "sort_buffer_size": "2M"}
	if diff := cmp.Diff(want, overlay(under, over)); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// A sweep removes what benchplan left and nothing else, whatever the name.
func TestSweepTakesOnlyWhatWasLeft(t *testing.T) {
	base := t.TempDir()
	t.Setenv("TMPDIR", base)
	if len(base) > 60 {
		t.Fatalf("%s is too long to be used for run folders", base)
	}
	left, err := newRunFolder()
	if err != nil {
		t.Fatal(err)
	}
	// The pid is that of a process that is no server.
	if err := os.WriteFile(pidPath(left.path), []byte("1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	left.release() // as the kernel does for one that was killed
	used, err := newRunFolder()
	if err != nil {
		t.Fatal(err)
	}
	open, err := newRunFolder()
	if err != nil {
		t.Fatal(err)
	}
	open.release()
	if err := os.Chmod(open.path, 0o755); err != nil {
		t.Fatal(err)
	}
	unmarked := filepath.Join(base, runPrefix+"notes")
	if err := os.Mkdir(unmarked, 0o700); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(base, runPrefix+"link")
	if err := os.Symlink(used.path, link); err != nil {
		t.Fatal(err)
	}

	sweep(slog.New(slog.DiscardHandler))
	if _, err := os.Lstat(left.path); err == nil {
		t.Errorf("%s was not swept", left.path)
	}
	for name, path := range map[string]string{"in use": used.path, "open to others": open.path, "without a claim": unmarked, "a link": link} {
		if _, err := os.Lstat(path); err != nil {
			t.Errorf("the folder %s was swept", name)
		}
	}
	if err := used.remove(); err != nil {
		t.Error(err)
	}
	sweep(slog.New(slog.DiscardHandler), used.path) // gone already
}
