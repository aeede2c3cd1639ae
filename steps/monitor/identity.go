package monitor

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"benchplan/results"

	"github.com/prometheus/procfs"
)

// identityFiles are what the identity of a machine is read from.
var identityFiles = slices.Concat([]string{
	"/proc/sys/kernel/hostname", "/proc/sys/kernel/osrelease", "/proc/cpuinfo", "/proc/stat", "/proc/meminfo",
	"/proc/self/mountinfo", "/proc/1/cgroup", "/run/systemd/container", "/sys/hypervisor/type",
	"/sys/class/dmi/id/sys_vendor", "/sys/class/dmi/id/product_name",
	"/sys/devices/system/cpu/cpu*/cpufreq/scaling_governor",
}, blockFiles)

// Identity tells what machine it is, and which disk holds path; an empty path leaves Disk empty. What the machine does not show stays
// empty. GOMAXPROCS is of a program, not of a machine: it stays 0.
func (m *Machine) Identity(ctx context.Context, path string) (results.Host, error) {
	h, err := m.identity(ctx, path)
	if err != nil {
		return h, fmt.Errorf("the identity of %s: %w", m.name, err)
	}
	return h, nil
}

func (m *Machine) identity(ctx context.Context, path string) (results.Host, error) {
	var h results.Host
	err := m.source.ready(ctx)
	if err != nil {
		return h, err
	}
	if h.OS, err = m.source.platform(ctx); err != nil {
		return h, err
	}
	if !strings.HasPrefix(h.OS, "linux/") {
		if m.here {
			h.Name, err = os.Hostname()
			h.CPUs = runtime.NumCPU()
		}
		return h, err
	}
	root, release, err := m.source.fetch(ctx, identityFiles...)
	if err != nil {
		return h, err
	}
	defer release()
	h.Name = firstLine(filepath.Join(root, "proc/sys/kernel/hostname"))
	h.Kernel = firstLine(filepath.Join(root, "proc/sys/kernel/osrelease"))
	h.CPU = processor(root)
	h.Governor = governor(root)
	h.Virtual = virtual(root, h.Kernel)
	proc, err := procfs.NewFS(filepath.Join(root, "proc"))
	if err != nil {
		return h, err
	}
	if stat, err := proc.Stat(); err == nil {
		h.CPUs = len(stat.CPU)
	}
	if memory, err := proc.Meminfo(); err == nil {
		h.Memory = bytesOf(memory.MemTotalBytes)
	}
	if path == "" {
		return h, nil
	}
	if path, err = m.source.resolve(ctx, path); err != nil {
		return h, err
	}
	h.Disk = m.disk(ctx, root, proc, path)
	return h, nil
}

// processor gives the name of the CPUs. Not by procfs, which reads the form of the architecture that it was built for. The keys are those
// of x86 (and most others), POWER, and boards with ARM.
func processor(root string) string {
	text, _ := os.ReadFile(filepath.Join(root, "proc/cpuinfo"))
	values := map[string]string{}
	for line := range strings.Lines(string(text)) {
		if key, value, ok := strings.Cut(line, ":"); ok {
			if key = strings.TrimSpace(key); values[key] == "" {
				values[key] = strings.TrimSpace(value)
			}
		}
	}
	for _, key := range []string{"model name", "cpu", "Model", "Hardware"} {
		if values[key] != "" {
			return values[key]
		}
	}
	return ""
}

// governor gives how the CPUs' frequency is chosen; where they differ, all ways.
func governor(root string) string {
	files, _ := filepath.Glob(filepath.Join(root, "sys/devices/system/cpu/cpu*/cpufreq/scaling_governor"))
	var all []string
	for _, file := range files {
		if g := firstLine(file); g != "" && !slices.Contains(all, g) {
			all = append(all, g)
		}
	}
	slices.Sort(all)
	return strings.Join(all, ", ")
}

// virtual tells the container and the hypervisor that the machine is in, as far as either shows.
func virtual(root, kernel string) string {
	var in []string
	if c := container(root); c != "" {
		in = append(in, c+" container")
	}
	if h := hypervisor(root, kernel); h != "" {
		in = append(in, h)
	}
	return strings.Join(in, " on ")
}

func container(root string) string {
	if c := firstLine(filepath.Join(root, "run/systemd/container")); c != "" {
		return c
	}
	cgroup, _ := os.ReadFile(filepath.Join(root, "proc/1/cgroup"))
	mounts, _ := os.ReadFile(filepath.Join(root, "proc/self/mountinfo"))
	// What the engines put into each container: files of its own, such as /etc/hostname, from a folder of theirs.
	for _, sign := range []struct{ in, text, name string }{
		{string(cgroup), "kubepods", "kubernetes"},
		{string(mounts), "/kubelet/pods/", "kubernetes"},
		{string(cgroup), "/docker/", "docker"},
		{string(cgroup), "/docker-", "docker"},
		{string(mounts), "/docker/containers/", "docker"},
		{string(cgroup), "/libpod-", "podman"},
		{string(mounts), "/overlay-containers/", "podman"},
		{string(cgroup), "/lxc/", "lxc"},
		{string(mounts), " lxcfs ", "lxc"},
	} {
		if strings.Contains(sign.in, sign.text) {
			return sign.name
		}
	}
	return ""
}

// hypervisors are signs in what the firmware says of the machine's maker and product, and the names of what makes them.
var hypervisors = []struct{ text, name string }{
	{"KVM", "KVM"},
	{"QEMU", "QEMU/KVM"},
	{"OpenStack", "OpenStack"},
	{"VMware", "VMware"},
	{"VirtualBox", "VirtualBox"},
	{"Xen", "Xen"},
	{"Parallels", "Parallels"},
	{"Amazon EC2", "Amazon EC2"},
	{"Google", "Google Compute Engine"},
	{"Alibaba", "Alibaba Cloud"},
	{"Tencent", "Tencent Cloud"},
	{"DigitalOcean", "DigitalOcean"},
	{"Hetzner", "Hetzner Cloud"},
	{"Microsoft Corporation Virtual Machine", "Hyper-V"},
}

func hypervisor(root, kernel string) string {
	if strings.Contains(strings.ToLower(kernel), "microsoft") {
		return "WSL"
	}
	flagged := false // by the CPU, to every guest
	cpuinfo, _ := os.ReadFile(filepath.Join(root, "proc/cpuinfo"))
	for line := range strings.Lines(string(cpuinfo)) {
		if strings.HasPrefix(line, "flags") {
			flagged = slices.Contains(strings.Fields(line), "hypervisor")
			break
		}
	}
	dmi := filepath.Join(root, "sys/class/dmi/id")
	product := firstLine(filepath.Join(dmi, "sys_vendor")) + " " + firstLine(filepath.Join(dmi, "product_name"))
	for _, h := range hypervisors {
		// Clouds rent out whole machines under the same names: there the CPU decides, where it can.
		if strings.Contains(product, h.text) && (flagged || !strings.Contains(string(cpuinfo), "\nflags")) {
			return h.name
		}
	}
	if kind := firstLine(filepath.Join(root, "sys/hypervisor/type")); kind != "" {
		return kind
	}
	if flagged {
		return "virtual machine"
	}
	return ""
}
