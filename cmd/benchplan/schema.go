package main

import (
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
			e := json.NewEncoder(t.out)
			e.SetIndent("", "  ")
			return e.Encode(schema)
		},
	}
}
