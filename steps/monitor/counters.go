package monitor

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"benchplan/results"

	"github.com/prometheus/procfs"
	"github.com/prometheus/procfs/blockdevice"
)

// counterFiles are what counters are read from.
var counterFiles = []string{"/proc/uptime", "/proc/stat", "/proc/diskstats", "/proc/net/dev", "/proc/meminfo"}

// counters is what a machine's kernel had counted at one moment since it was started.
type counters struct {
	uptime   float64 // seconds
	cpus     int
	cpu      procfs.CPUStat // seconds, of all CPUs together
	switches uint64
	running  float64 // runnable tasks at that moment, less the one that reads
	disks    map[string]blockdevice.IOStats
	nets     map[string]procfs.NetDevLine
	free     int64
	cached   int64
	// missing is what could not be read; its figures are 0.
	missing error
}

// readCounters reads them from the /proc under root, of the devices that count. Without clock and CPU there are none.
func readCounters(root string, d devices) (counters, error) {
	proc, err := procfs.NewFS(filepath.Join(root, "proc"))
	if err != nil {
		return counters{}, err
	}
	c := counters{disks: map[string]blockdevice.IOStats{}, nets: map[string]procfs.NetDevLine{}}
	if c.uptime, err = readUptime(filepath.Join(root, "proc/uptime")); err != nil {
		return counters{}, err
	}
	stat, err := proc.Stat()
	if err != nil {
		return counters{}, err
	}
	c.cpus, c.cpu, c.switches = len(stat.CPU), stat.CPUTotal, stat.ContextSwitches
	c.running = max(0, float64(stat.ProcessesRunning)-1)
	c.missing = errors.Join(c.readMemory(proc), c.readDisks(root, d), c.readNets(proc, d))
	return c, nil
}

func readUptime(file string) (float64, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return 0, err
	}
	up, _, _ := strings.Cut(string(text), " ")
	seconds, err := strconv.ParseFloat(strings.TrimSpace(up), 64)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", file, err)
	}
	return seconds, nil
}

func (c *counters) readMemory(proc procfs.FS) error {
	m, err := proc.Meminfo()
	if err != nil {
		return fmt.Errorf("no figures of memory: %w", err)
	}
	c.free = bytesOf(m.MemFreeBytes)
	c.cached = bytesOf(m.CachedBytes) + bytesOf(m.BuffersBytes)
	return nil
}

func bytesOf(n *uint64) int64 {
	if n == nil {
		return 0
	}
	return int64(*n)
}

func (c *counters) readDisks(root string, d devices) error {
	all, err := diskstats(root)
	if err != nil {
		return fmt.Errorf("no figures of disks: %w", err)
	}
	for _, s := range all {
		if d.disks[s.DeviceName] {
			c.disks[s.DeviceName] = s.IOStats
		}
	}
	return nil
}

func (c *counters) readNets(proc procfs.FS, d devices) error {
	all, err := proc.NetDev()
	if err != nil {
		return fmt.Errorf("no figures of the network: %w", err)
	}
	for name, line := range all {
		if d.nets[name] {
			c.nets[name] = line
		}
	}
	return nil
}

// usage gives what a machine did between two moments. Shares are of the CPU time that passed. procfs reads /proc/stat as it stands, where
// the time of guests is part of user and nice: it is not added again.
func usage(from, to counters) results.Usage {
	u := results.Usage{
		Elapsed:         to.uptime - from.uptime,
		CPUs:            to.cpus,
		ContextSwitches: grown(from.switches, to.switches),
		RunQueue:        to.running,
		Free:            to.free,
		Cached:          to.cached,
	}
	// The kernel's idle and iowait can go back a little when CPUs are idle: such a step is none.
	a, b := from.cpu, to.cpu
	user := max(0, b.User-a.User) + max(0, b.Nice-a.Nice)
	system := max(0, b.System-a.System) + max(0, b.IRQ-a.IRQ) + max(0, b.SoftIRQ-a.SoftIRQ)
	iowait, steal, idle := max(0, b.Iowait-a.Iowait), max(0, b.Steal-a.Steal), max(0, b.Idle-a.Idle)
	if all := user + system + iowait + steal + idle; all > 0 {
		u.User, u.System, u.IOWait, u.Steal, u.Idle = user/all, system/all, iowait/all, steal/all, idle/all
	}
	for name, to := range to.disks {
		if from, ok := from.disks[name]; ok {
			u.Reads += grown(from.ReadIOs, to.ReadIOs)
			u.Writes += grown(from.WriteIOs, to.WriteIOs)
			u.BytesRead += grown(from.ReadSectors, to.ReadSectors) * procfs.SectorSize
			u.BytesWritten += grown(from.WriteSectors, to.WriteSectors) * procfs.SectorSize
		}
	}
	for name, to := range to.nets {
		if from, ok := from.nets[name]; ok {
			u.BytesReceived += grown(from.RxBytes, to.RxBytes)
			u.BytesSent += grown(from.TxBytes, to.TxBytes)
		}
	}
	return u
}

// grown is how much a counter rose; one that was begun anew (a device that was taken out and put in) did not.
func grown(from, to uint64) int64 {
	if to < from {
		return 0
	}
	return int64(to - from)
}
