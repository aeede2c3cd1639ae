package steps

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"

	"benchplan/plan"
	"benchplan/steps/monitor"
	"benchplan/steps/target"
)

// machines are those that a run watches: this one, and others over ssh, each dialled once.
type machines struct {
	here   *monitor.Machine
	dialed map[monitor.SSH]*monitor.Machine
	folder string // that of the plan: paths begin there
}

func newMachines(p *plan.Plan) *machines {
	return &machines{here: monitor.Local(), dialed: map[monitor.SSH]*monitor.Machine{}, folder: planFolder(p)}
}

// of gives the machine of a target's server; nil where that is not watched.
func (m *machines) of(ctx context.Context, t *plan.Target) (*monitor.Machine, error) {
	switch t.Watched() {
	case plan.MonitorLocal:
		return m.here, nil
	case plan.MonitorNone:
		return nil, nil
	}
	access := m.access(t)
	if known := m.dialed[access]; known != nil {
		return known, nil
	}
	machine, err := monitor.Dial(ctx, access)
	if err != nil {
		return nil, fmt.Errorf("monitor of target %s: %w", target.Name(t), err)
	}
	m.dialed[access] = machine
	return machine, nil
}

// access says how the machine of a target's server is reached over ssh.
func (m *machines) access(t *plan.Target) monitor.SSH {
	of := t.Monitor
	return monitor.SSH{
		Address: sshAddress(of.Address, t.Address), User: of.User, Key: m.path(of.Key), KnownHosts: m.path(of.KnownHosts),
		Password: of.Password.Reveal(), Passphrase: of.Passphrase.Reveal(),
	}
}

// sshAddress completes the address of a monitor by the host of the target.
func sshAddress(address, targetAddress string) string {
	host := targetAddress
	if name, _, err := net.SplitHostPort(targetAddress); err == nil {
		host = name
	}
	if port, found := strings.CutPrefix(address, ":"); found && !strings.Contains(port, ":") {
		return net.JoinHostPort(strings.Trim(host, "[]"), port)
	}
	if address == "" {
		return host
	}
	return address
}

// path gives the place of a file that a monitor names. "~/" is left to package monitor.
func (m *machines) path(name string) string {
	if strings.HasPrefix(name, "~"+string(os.PathSeparator)) {
		return name
	}
	return fromFolder(m.folder, name)
}

// close ends the connections to other machines.
func (m *machines) close() error {
	var all []error
	for _, machine := range m.dialed {
		all = append(all, machine.Close())
	}
	clear(m.dialed)
	return errors.Join(all...)
}
