package monitor

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"go.uber.org/goleak"

	"benchplan/steps/localserver/servertest"
	"benchplan/workloads/engine"
)

var _ engine.Meter = (*Watch)(nil)

func TestMain(m *testing.M) {
	status := servertest.Main(m)
	if err := goleak.Find(); err != nil && status == 0 {
		fmt.Println(err)
		status = 1
	}
	os.Exit(status)
}

// noLeak lets the test fail when goroutines are left at its end, after all its other clean-up.
func noLeak(t *testing.T) {
	t.Helper()
	before := goleak.IgnoreCurrent()
	t.Cleanup(func() { goleak.VerifyNone(t, servertest.Goroutine(), before) })
}

// fixture puts the files of an archive into a folder, and gives that.
func fixture(t *testing.T, name string) string {
	t.Helper()
	archive, err := txtar.ParseFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	if err := txtar.Write(archive, folder); err != nil {
		t.Fatal(err)
	}
	return folder
}
