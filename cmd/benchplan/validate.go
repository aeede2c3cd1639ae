package main

import (
	"errors"
	"fmt"
	"strings"

	"benchplan/plan"
	"benchplan/steps"

	"github.com/spf13/cobra"
)

func validateCommand(t *terminal) *cobra.Command {
	f := &planFlags{}
	c := &cobra.Command{
		Use:   "validate PLAN…",
		Short: "Check plans without touching anything",
		Long: `validate reads plans and checks every cell of them. All mistakes are reported at
once, each as file:line:col: message. Secrets are named, not needed.`,
		Args:              atLeast(1, "the files of one or more plans"),
		ValidArgsFunction: completePlans,
		RunE: func(_ *cobra.Command, args []string) error {
			collectLess()
			var failed []error
			for _, file := range args {
				p, err := f.read(t, file)
				if err != nil {
					failed = append(failed, err)
					continue
				}
				fmt.Fprintf(t.out, "%s: %s\n", file, summaryText(p, p.Summary))
			}
			return usage(errors.Join(failed...))
		},
	}
	f.add(c)
	return c
}

// summaryText says what a plan comes to: "5 cells, at least 5h2m; secrets: RADON_PASSWORD".
func summaryText(p *plan.Plan, s plan.Summary) string {
	text := plural(s.Cells, "cell")
	if s.Least > 0 {
		text += ", at least " + plan.Duration(s.Least).String()
	}
	if s.Open {
		text += " (some of it is decided by the run)"
	}
	if steps.Executes(p) {
		text += "; it executes commands, which --allow-shell allows"
	}
	if len(p.Secrets) > 0 {
		var names []string
		for _, secret := range p.Secrets {
			names = append(names, secret.Name)
		}
		text += "; secrets: " + strings.Join(names, ", ")
	}
	return text
}

func plural(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}
