package monitor

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/prometheus/procfs"
)

// blockFiles tell what block devices are and what they are made of.
var blockFiles = []string{
	"/sys/block/*/dev", "/sys/block/*/*/partition", "/sys/block/*/*/dev", "/sys/block/*/slaves/*/dev",
	"/sys/block/*/queue/rotational", "/sys/block/*/device/vendor", "/sys/block/*/device/model", "/sys/block/*/dm/name", "/sys/block/*/md/level",
}

// disk describes what holds a path (without symbolic links): "sda Samsung SSD 870 (ssd), ext4".
func (m *Machine) disk(ctx context.Context, root string, proc procfs.FS, path string) string {
	mounts, err := proc.GetMounts()
	if err != nil {
		return ""
	}
	mount := mountOf(mounts, path)
	if mount == nil {
		return ""
	}
	blocks := blocks{root: filepath.Join(root, "sys/block")}
	name := blocks.byNumber(mount.MajorMinorVer)
	if name == "" && strings.HasPrefix(mount.Source, "/dev/") {
		// Btrfs, for one, shows a number of its own.
		if device, err := m.source.resolve(ctx, mount.Source); err == nil {
			name = filepath.Base(device)
		}
	}
	if name == "" || !blocks.has(name) {
		if mount.Source == mount.FSType || mount.Source == "none" || mount.Source == "" {
			return mount.FSType
		}
		return mount.Source + ", " + mount.FSType // of another machine: NFS; or of no device: a ZFS data set
	}
	return blocks.describe(name) + ", " + mount.FSType
}

// mountOf gives the mount that a path is in: that of the longest mount point; of those at the same place the last, which hides the others.
func mountOf(mounts []*procfs.MountInfo, path string) *procfs.MountInfo {
	var of *procfs.MountInfo
	longest := -1
	for _, m := range mounts {
		point := octal.Replace(m.MountPoint)
		if point != "/" && path != point && !strings.HasPrefix(path, point+"/") {
			continue
		}
		if len(point) >= longest {
			of, longest = m, len(point)
		}
	}
	return of
}

// octal is how the kernel writes what separates fields.
var octal = strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`)

// blocks are the block devices of a /sys/block.
type blocks struct{ root string }

// byNumber gives the device or partition of a number, as 8:1; empty where there is none.
func (b blocks) byNumber(number string) string {
	for _, pattern := range []string{"*/dev", "*/*/dev"} {
		files, _ := filepath.Glob(filepath.Join(b.root, pattern))
		for _, file := range files {
			if firstLine(file) == number {
				return filepath.Base(filepath.Dir(file))
			}
		}
	}
	return ""
}

func (b blocks) has(name string) bool {
	return exists(filepath.Join(b.root, name)) || b.diskOf(name) != name
}

// diskOf gives the disk of a partition, and any other device as it is.
func (b blocks) diskOf(name string) string {
	files, _ := filepath.Glob(filepath.Join(b.root, "*", name, "partition"))
	if len(files) == 0 {
		return name
	}
	return filepath.Base(filepath.Dir(filepath.Dir(files[0])))
}

// describe tells a device's name, and that and the kind of the whole disks that it is stacked upon.
func (b blocks) describe(name string) string {
	disks := b.under(name, 8)
	for i, d := range disks {
		disks[i] = b.disk(d)
	}
	slices.Sort(disks)
	disks = slices.Compact(disks)
	if whole := b.diskOf(name); len(b.below(whole)) == 0 {
		return strings.Join(disks, ", ")
	}
	title := name
	if dm := firstLine(filepath.Join(b.root, name, "dm/name")); dm != "" {
		title = fmt.Sprintf("%s (%s)", name, dm)
	}
	if level := firstLine(filepath.Join(b.root, name, "md/level")); level != "" {
		title = fmt.Sprintf("%s (%s)", name, level)
	}
	return title + " on " + strings.Join(disks, " and ")
}

// under gives the whole disks that a device is made of, through at most so many layers.
func (b blocks) under(name string, layers int) []string {
	name = b.diskOf(name)
	below := b.below(name)
	if len(below) == 0 || layers == 0 {
		return []string{name}
	}
	var disks []string
	for _, lower := range below {
		disks = append(disks, b.under(lower, layers-1)...)
	}
	return disks
}

func (b blocks) below(name string) []string {
	entries, _ := os.ReadDir(filepath.Join(b.root, name, "slaves"))
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// disk tells a whole disk's name, maker and kind.
func (b blocks) disk(name string) string {
	about := []string{name}
	for _, file := range []string{"device/vendor", "device/model"} {
		// "ATA" is the bus, and a number is a code.
		if text := firstLine(filepath.Join(b.root, name, file)); text != "" && text != "ATA" && !strings.HasPrefix(text, "0x") {
			about = append(about, strings.Join(strings.Fields(text), " "))
		}
	}
	if kind := b.kind(name); kind != "" {
		about = append(about, "("+kind+")")
	}
	return strings.Join(about, " ")
}

func (b blocks) kind(name string) string {
	rotational := firstLine(filepath.Join(b.root, name, "queue/rotational"))
	switch {
	case rotational == "0":
		return "ssd"
	case strings.HasPrefix(name, "vd"), strings.HasPrefix(name, "xvd"):
		// Hypervisors call a disk rotating where they say nothing about it.
		return "virtual disk"
	case rotational == "1":
		return "hdd"
	}
	return ""
}
