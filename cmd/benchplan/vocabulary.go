package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"benchplan/plan"
	"benchplan/steps"

	"github.com/spf13/cobra"
)

// planFlags are the flags of every command that reads a plan.
type planFlags struct {
	set      []string
	target   string
	rehearse bool
}

func (f *planFlags) add(c *cobra.Command) {
	c.Flags().StringArrayVar(&f.set, "set", nil, "give a variable of the plan another value: `vars.NAME=VALUE` (YAML)")
	c.Flags().StringVar(&f.target, "target", "", "another outermost target: `DSN` such as root@tcp(127.0.0.1:3306)/sbtest; its password stands in "+targetPassword)
}

// targetPassword is the environment variable with the password of --target: on the command line everybody would see it.
const targetPassword = "BENCHPLAN_TARGET_PASSWORD"

// read reads and checks a plan; "-" is standard input.
func (f *planFlags) read(t *terminal, file string) (*plan.Plan, error) {
	text, err := readFile(t, file)
	if err != nil {
		return nil, usage(err)
	}
	o := plan.Options{Environment: os.LookupEnv, Rehearse: f.rehearse, Set: map[string]string{}}
	for _, s := range f.set {
		name, value, ok := strings.Cut(s, "=")
		name, isVar := strings.CutPrefix(name, "vars.")
		if !ok || !isVar || name == "" {
			return nil, usage(fmt.Errorf("--set %s: write it as --set vars.NAME=VALUE", s))
		}
		o.Set[name] = value
	}
	if o.Target, err = parseTarget(f.target); err != nil {
		return nil, usage(err)
	}
	p, err := plan.Read(plan.Source{Name: file, Text: text}, steps.Vocabulary(), o)
	var mistakes plan.Diagnostics
	if errors.As(err, &mistakes) && len(mistakes) > 1 {
		err = fmt.Errorf("%w\n%d mistakes", err, len(mistakes))
	}
	return p, usage(err)
}

// mostRead bounds what is read of a file that is to be a plan: it may be a device or a pipe. Plans are far smaller.
const mostRead = 16 << 20

func readFile(t *terminal, file string) ([]byte, error) {
	if file == "-" {
		return io.ReadAll(io.LimitReader(t.in, mostRead))
	}
	text, err := readAtMost(file)
	if errors.Is(err, os.ErrNotExist) {
		if near, _ := filepath.Glob(filepath.Join(filepath.Dir(file), "*.y*ml")); len(near) > 0 {
			return nil, fmt.Errorf("%w; plans there: %s", err, strings.Join(near[:min(len(near), 5)], ", "))
		}
	}
	return text, err
}

func readAtMost(file string) ([]byte, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // only read
	return io.ReadAll(io.LimitReader(f, mostRead))
}
