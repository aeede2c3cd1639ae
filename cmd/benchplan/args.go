package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// The arguments of the commands, with messages that say what is meant.

func onePlan(c *cobra.Command, args []string) error { return exactly(c, args, 1, "the file of a plan") }

func oneRun(c *cobra.Command, args []string) error {
	return exactly(c, args, 1, `a run: a folder, <plan>/<time>, the name of a plan, or "last"`)
}

func exactly(c *cobra.Command, args []string, n int, what string) error {
	if len(args) == n {
		return nil
	}
	return usage(fmt.Errorf("%s takes %s; it was given %s", c.Name(), what, given(args)))
}

func atLeast(n int, what string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) >= n {
			return nil
		}
		return usage(fmt.Errorf("%s takes %s; it was given %s", c.Name(), what, given(args)))
	}
}

func given(args []string) string {
	if len(args) == 0 {
		return "nothing"
	}
	return strings.Join(args, " ")
}
