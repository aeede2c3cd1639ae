package monitor

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/prometheus/procfs"
	"github.com/prometheus/procfs/blockdevice"
)

// deviceFiles tell which devices there are and which of them count.
var deviceFiles = []string{
	"/proc/diskstats", "/proc/net/dev",
	"/sys/block/*/dev", "/sys/block/*/slaves/*/dev",
	"/sys/class/net/*/ifindex", "/sys/class/net/*/device/uevent", "/sys/class/net/*/master/ifindex",
}

// devices are those whose figures count: each byte once.
type devices struct {
	disks map[string]bool
	nets  map[string]bool
}

// readDevices finds them under root. Without /sys, as in some containers, names have to tell.
func readDevices(root string) devices {
	d := devices{disks: map[string]bool{}, nets: map[string]bool{}}
	for _, name := range wholeDisks(root) {
		d.disks[name] = true
	}
	for _, name := range outerNets(root) {
		d.nets[name] = true
	}
	return d
}

func diskstats(root string) ([]blockdevice.Diskstats, error) {
	// The second folder is that of /sys, which a machine may lack; nothing is read from it here.
	fs, err := blockdevice.NewFS(filepath.Join(root, "proc"), filepath.Join(root, "proc"))
	if err != nil {
		return nil, err
	}
	return fs.ProcDiskstats()
}

// wholeDisks are the block devices that are no partitions and not stacked upon others.
func wholeDisks(root string) []string {
	stats, err := diskstats(root)
	if err != nil {
		return nil
	}
	known := folderNames(filepath.Join(root, "sys/block"))
	all := map[string]bool{}
	for _, s := range stats {
		all[s.DeviceName] = true
	}
	var whole []string
	for name := range all {
		switch {
		case notDisk(name):
		case len(known) > 0:
			// /sys has a "!" where a device's name has a "/".
			inSys := strings.ReplaceAll(name, "/", "!")
			if known[inSys] && len(folderNames(filepath.Join(root, "sys/block", inSys, "slaves"))) == 0 {
				whole = append(whole, name)
			}
		case !isPartition(name, all):
			whole = append(whole, name)
		}
	}
	return whole
}

// notDisk tells that a device holds no data of its own: it is memory, removable, or stacked upon others.
func notDisk(name string) bool {
	for _, prefix := range []string{"loop", "ram", "zram", "sr", "fd", "dm-", "md", "bcache", "drbd", "zd"} {
		if rest, ok := strings.CutPrefix(name, prefix); ok && (rest == "" || rest[0] >= '0' && rest[0] <= '9' || rest[0] == '_') {
			return true
		}
	}
	// A path to a namespace that has several (nvme0c1n1) is counted as that namespace (nvme0n1).
	rest, nvme := strings.CutPrefix(name, "nvme")
	return nvme && strings.Contains(rest, "c")
}

// isPartition tells it by the names alone: sda1 of sda, nvme0n1p1 of nvme0n1.
func isPartition(name string, all map[string]bool) bool {
	disk := strings.TrimRight(name, "0123456789")
	if disk == name || disk == "" {
		return false
	}
	if all[disk] {
		return true
	}
	numbered, ok := strings.CutSuffix(disk, "p")
	return ok && numbered != "" && all[numbered]
}

// outerNets are the network devices through which bytes leave or enter the machine.
func outerNets(root string) []string {
	proc, err := procfs.NewFS(filepath.Join(root, "proc"))
	if err != nil {
		return nil
	}
	all, err := proc.NetDev()
	if err != nil {
		return nil
	}
	sys := filepath.Join(root, "sys/class/net")
	var hardware, named []string
	index := map[string]string{} // of the hardware, by number
	for name := range all {
		if exists(filepath.Join(sys, name, "device/uevent")) {
			hardware = append(hardware, name)
			index[firstLine(filepath.Join(sys, name, "ifindex"))] = name
		}
		if !innerNet(name) {
			named = append(named, name)
		}
	}
	if len(hardware) == 0 {
		return named
	}
	var outer []string
	for _, name := range hardware {
		// A virtual function that works for another device is counted there as well.
		if master := firstLine(filepath.Join(sys, name, "master/ifindex")); master == "" || index[master] == "" {
			outer = append(outer, name)
		}
	}
	return outer
}

// innerNet tells by its name that a network device passes on what another one counts, or never leaves the machine.
func innerNet(name string) bool {
	for _, prefix := range []string{"veth", "docker", "br-", "virbr", "vnet", "tap", "tun", "ifb", "dummy", "bond", "team", "wg", "cali", "flannel", "cni"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return name == "lo" || strings.Contains(name, ".") // a VLAN: eth0.100
}

func folderNames(folder string) map[string]bool {
	entries, _ := os.ReadDir(folder)
	names := make(map[string]bool, len(entries))
	for _, e := range entries {
		names[e.Name()] = true
	}
	return names
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}

// firstLine gives a file's first line without spaces around it; empty where there is none.
func firstLine(file string) string {
	text, _ := os.ReadFile(file)
	line, _, _ := strings.Cut(string(text), "\n")
	return strings.TrimSpace(strings.TrimRight(line, "\x00"))
}
