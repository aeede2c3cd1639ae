package main

import (
	"bytes"
	"encoding/json"

	"benchplan/plan"
	"benchplan/steps"

	"github.com/spf13/cobra"
)

func schemaCommand(t *terminal) *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON Schema of a plan, for editors",
		Long: `schema prints the JSON Schema of a plan. Put it beside your plans and begin them
with

  # yaml-language-server: $schema=plan.schema.json

so that an editor completes and checks them.`,
		Example: "  benchplan schema > plan.schema.json",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			schema, err := plan.Schema(steps.Vocabulary())
			if err != nil {
				return err
			}
			var out bytes.Buffer
			if err := json.Indent(&out, schema, "", "  "); err != nil {
				return err
			}
			out.WriteByte('\n')
			_, err = out.WriteTo(t.out)
			return err
		},
	}
}
