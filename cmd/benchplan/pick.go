package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"benchplan/plan"

	"github.com/spf13/cobra"
)

// addPicks adds the flags that pick steps by their names.
func addPicks(c *cobra.Command, only, skip *[]string) {
	c.Flags().StringSliceVar(only, "only", nil, "only the steps of these `names`, and what they hold; steps without a name that make their ground run too")
	c.Flags().StringSliceVar(skip, "skip", nil, "leave out the steps of these `names`, and what they hold")
}

// checkPicks refuses names that no step has.
func checkPicks(p *plan.Plan, only, skip []string) error {
	for _, name := range only {
		if slices.Contains(skip, name) {
			return usage(fmt.Errorf("--only %s and --skip %s exclude each other", name, name))
		}
	}
	return usage(errors.Join(checkNames(p, only, "--only"), checkNames(p, skip, "--skip")))
}

func checkNames(p *plan.Plan, names []string, flag string) error {
	known := p.Root.Names()
	for _, name := range names {
		if !slices.Contains(known, name) && !slices.ContainsFunc(known, func(k string) bool { return strings.Contains(k, "${{") }) {
			return fmt.Errorf("%s %s: no step has this name; there are: %s", flag, name, strings.Join(known, ", "))
		}
	}
	return nil
}
