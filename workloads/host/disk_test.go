//go:build linux

package host

import (
	"context"
	"errors"
	"os"
	"strings"
	"syscall"
	"testing"

	"benchplan/plan"
	"benchplan/workloads/engine"
)

// mounted gives a folder with a file system of its own.
func mounted(t *testing.T, kind, options string) string {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("NOT TRIED ON OTHER FILE SYSTEMS: mounting one takes root; run the tests as root to see what the file workloads say of them")
	}
	dir := t.TempDir()
	if err := syscall.Mount("none", dir, kind, 0, options); err != nil {
		t.Skipf("a file system of the kind %s cannot be mounted here: %v", kind, err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
	return dir
}

func TestFullDiskIsFoundBefore(t *testing.T) {
	f := plan.Files{Count: 4, TotalSize: 8 << 20, Dir: mounted(t, "tmpfs", "size=4m")}
	_, err := PrepareFiles(t.Context(), f, FilesOptions{}, nil)
	if err == nil || !strings.Contains(err.Error(), "has 4.0 MiB free, and the files need 8.0 MiB (8388608 bytes)") {
		t.Errorf("error %v", err)
	}
	if got := names(t, f.Dir); len(got) != 0 {
		t.Errorf("%v was made", got)
	}
	_, _, err = run(t, FileIO(), fileOptions(modeSeqwr, nil), &f, engine.Order{Clients: clients(1), Events: 10})
	if err == nil || !strings.Contains(err.Error(), "the files need 8.0 MiB") {
		t.Errorf("seqwr: %v", err)
	}

	// Its own files make room for those that take their place.
	f.TotalSize = 3 << 20
	for range 2 {
		if _, err := PrepareFiles(t.Context(), f, FilesOptions{}, nil); err != nil {
			t.Fatal(err)
		}
	}
}

// TestDiskThatFillsUp while the files are made: the error says so, and the half that was made goes.
func TestDiskThatFillsUp(t *testing.T) {
	dir := mounted(t, "tmpfs", "size=4m")
	f := plan.Files{Count: 3, TotalSize: 3 << 20, Dir: dir}
	filled := false
	_, err := PrepareFiles(t.Context(), f, FilesOptions{}, func(int64, int64) {
		if !filled {
			filled = true
			if err := os.WriteFile(dir+"/other", make([]byte, 5<<19), 0o600); err != nil {
				t.Error(err)
			}
		}
	})
	if !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), "the files need 3.0 MiB in all") {
		t.Errorf("error %v", err)
	}
	if _, err := os.Stat(dir + "/test_file.0"); err == nil {
		t.Error("test_file.0 was left")
	}
}

func TestLoadOnADiskThatFillsUp(t *testing.T) {
	dir := mounted(t, "tmpfs", "size=4m")
	f := &plan.Files{Count: 2, TotalSize: 3 << 20, Dir: dir}
	w, err := FileIO().Host.New(fileOptions(modeSeqwr, nil), f, false)
	if err != nil {
		t.Fatal(err)
	}
	opened := opener{w, func() error { return os.WriteFile(dir+"/other", make([]byte, 2<<20), 0o600) }}
	out, err := engine.RunHost(t.Context(), opened, engine.Order{Workload: FileIOName, Clients: clients(2), Events: 1000}, nil, nil)
	if !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), "the files need 3.0 MiB") || len(out.Errors) == 0 || out.Errors[0].Code != int(syscall.ENOSPC) || out.Events == 0 {
		t.Errorf("error %v, %d events, errors %+v", err, out.Events, out.Errors)
	}
}

// opener does something once a workload is open.
type opener struct {
	engine.HostWorkload
	then func() error
}

func (o opener) Open(ctx context.Context, clients int) error {
	if err := o.HostWorkload.Open(ctx, clients); err != nil {
		return err
	}
	return o.then()
}

// TestFileSystemWithoutDirectIO: one that keeps all in memory, and nothing but the page cache.
func TestFileSystemWithoutDirectIO(t *testing.T) {
	f := &plan.Files{Count: 1, TotalSize: 1 << 20, Dir: mounted(t, "ramfs", "")}
	if _, err := PrepareFiles(t.Context(), *f, FilesOptions{}, nil); err != nil {
		t.Fatal(err)
	}
	o := fileOptions(modeRndrd, func(o *FileIOOptions) { o.ExtraFlags = []string{flagDirect} })
	_, _, err := run(t, FileIO(), o, f, engine.Order{Clients: clients(1), Events: 10})
	if err == nil || !strings.Contains(err.Error(), "the file system takes no O_DIRECT") {
		t.Errorf("error %v", err)
	}
}
