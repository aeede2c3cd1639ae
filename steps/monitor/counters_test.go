package monitor

import (
	"context"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"benchplan/results"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/prometheus/procfs"
)

// nearly compares shares that were worked out in another order.
var nearly = cmpopts.EquateApprox(0, 1e-9)

func TestUsageBetweenTwoMoments(t *testing.T) {
	for _, c := range []struct {
		fixture string
		disks   []string
		nets    []string
		missing string
		want    results.Usage
	}{{
		fixture: "physical.txtar",
		disks:   []string{"nvme0n1", "sda"},
		nets:    []string{"eth0", "eth1", "eth2"},
		want: results.Usage{
			Elapsed: 10, CPUs: 2,
			// 2,000 ticks in all: 700 of user and 100 of nice, in which the 550 of guests are; 300, 50 and 50 of system and interrupts.
			User: 0.4, System: 0.2, IOWait: 0.1, Steal: 0.1, Idle: 0.2,
			ContextSwitches: 12345, RunQueue: 5,
			Reads: 150, Writes: 380, BytesRead: 8400 * 512, BytesWritten: 24640 * 512,
			BytesReceived: 7000, BytesSent: 700,
			Free: 900_000 << 10, Cached: 3_210_000 << 10,
		},
	}, {
		fixture: "container.txtar",
		disks:   []string{"nvme1n1", "vda", "vdb", "xvda1"},
		nets:    []string{"eth0"},
		missing: "no figures of memory",
		want: results.Usage{
			Elapsed: 1, CPUs: 1, User: 0.75, System: 0.25, ContextSwitches: 100, RunQueue: 2,
			Reads: 1 + 4 + 16, Writes: 2 + 8 + 32, BytesRead: (1 + 4 + 16) * 8 * 512, BytesWritten: (2 + 8 + 32) * 8 * 512,
			BytesSent: 1000,
		},
	}} {
		t.Run(c.fixture, func(t *testing.T) {
			folder := fixture(t, c.fixture)
			devices := readDevices(filepath.Join(folder, "1"))
			if diff := cmp.Diff(c.disks, slices.Sorted(maps.Keys(devices.disks))); diff != "" {
				t.Error("disks", diff)
			}
			if diff := cmp.Diff(c.nets, slices.Sorted(maps.Keys(devices.nets))); diff != "" {
				t.Error("network devices", diff)
			}
			from, err := readCounters(filepath.Join(folder, "1"), devices)
			if err != nil {
				t.Fatal(err)
			}
			to, err := readCounters(filepath.Join(folder, "2"), devices)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, usage(from, to), nearly); diff != "" {
				t.Error(diff)
			}
			switch {
			case c.missing == "" && to.missing != nil:
				t.Error(to.missing)
			case c.missing != "" && (to.missing == nil || !strings.Contains(to.missing.Error(), c.missing)):
				t.Errorf("missing is %v, not %q", to.missing, c.missing)
			}
		})
	}
}

func TestAProcessBetweenTwoMoments(t *testing.T) {
	folder := fixture(t, "physical.txtar")
	read := func(moment string, pid int) process {
		t.Helper()
		p, err := readProcess(filepath.Join(folder, moment), pid)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	got, ok := took(77, read("1", 77), read("2", 77))
	// The first thread waited for 0.25 s more, the one that is new for 1 s; one has ended.
	want := results.Process{PID: 77, User: 6, System: 2.5, Wait: 1.25, Memory: 410_000 << 10}
	if diff := cmp.Diff(want, got, nearly); diff != "" || !ok {
		t.Error(ok, diff)
	}
	if _, ok := took(88, read("1", 88), read("2", 88)); ok {
		t.Error("another process with the id of the one that has gone was taken for it")
	}
	if _, err := readProcess(filepath.Join(folder, "1"), 99); err == nil {
		t.Error("a process that is not there was read")
	}
}

func TestDiskThatHoldsAPath(t *testing.T) {
	root := filepath.Join(fixture(t, "physical.txtar"), "1")
	proc, err := procfs.NewFS(filepath.Join(root, "proc"))
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"/":                   "sda WDC WD4003FRYZ (hdd), ext4",
		"/var/lib/mysql-else": "sda WDC WD4003FRYZ (hdd), ext4",
		"/var/lib/mysql":      "dm-0 (vg-data) on sda WDC WD4003FRYZ (hdd), xfs",
		"/var/lib/mysql/db":   "dm-0 (vg-data) on sda WDC WD4003FRYZ (hdd), xfs",
		"/raid/x":             "md0 (raid1) on nvme0n1 INTEL SSDPE2KX040T8 (ssd) and sda WDC WD4003FRYZ (hdd), ext4",
		"/with space/x":       "nvme0n1 INTEL SSDPE2KX040T8 (ssd), xfs",
		"/btr":                "sda WDC WD4003FRYZ (hdd), btrfs",
		"/nfs":                "filer:/export, nfs4",
		"/mem":                "tmpfs",
	} {
		m := &Machine{source: pathsAsTheyAre{}}
		if got := m.disk(t.Context(), root, proc, path); got != want {
			t.Errorf("%s is on %q, not on %q", path, got, want)
		}
	}
}

// pathsAsTheyAre is a source without symbolic links.
type pathsAsTheyAre struct{ local }

func (pathsAsTheyAre) resolve(_ context.Context, path string) (string, error) { return path, nil }
