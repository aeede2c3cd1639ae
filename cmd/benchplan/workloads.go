package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"benchplan/plan"
	"benchplan/workloads"

	"github.com/spf13/cobra"
)

func workloadsCommand(t *terminal) *cobra.Command {
	asJSON := false
	c := &cobra.Command{
		Use:               "workloads [NAME…]",
		Short:             "List the workloads and tables' schemas, with all their options",
		ValidArgsFunction: completeWorkloads,
		RunE: func(_ *cobra.Command, args []string) error {
			all := describeWorkloads()
			for _, name := range args {
				if !slices.ContainsFunc(all, func(w workloadDoc) bool { return w.Name == name }) {
					return usage(fmt.Errorf("there is no workload or schema %q; benchplan workloads lists them", name))
				}
			}
			if len(args) > 0 {
				all = slices.DeleteFunc(all, func(w workloadDoc) bool { return !slices.Contains(args, w.Name) })
			}
			if asJSON {
				e := json.NewEncoder(t.out)
				e.SetIndent("", "  ")
				return e.Encode(all)
			}
			return printWorkloads(t, all)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print them as JSON")
	return c
}

// workloadDoc is what is told about a workload or a schema.
type workloadDoc struct {
	Name    string      `json:"name"`
	Kind    string      `json:"kind"` // workload or schema
	Doc     string      `json:"doc"`
	Schema  string      `json:"schema,omitempty"`
	Host    bool        `json:"host,omitempty"`  // it loads this machine, and needs no server
	Files   bool        `json:"files,omitempty"` // it works on files
	PSMode  string      `json:"ps_mode,omitempty"`
	Roles   []roleDoc   `json:"roles,omitempty"`
	Options []optionDoc `json:"options,omitempty"`
}

type roleDoc struct {
	Name    string `json:"name"`
	Clients int    `json:"clients"`
	Doc     string `json:"doc"`
}

type optionDoc struct {
	Name    string   `json:"name"`
	Type    string   `json:"type"`
	Default string   `json:"default,omitempty"`
	Min     string   `json:"min,omitempty"`
	Max     string   `json:"max,omitempty"`
	Unit    string   `json:"unit,omitempty"`
	Values  []string `json:"values,omitempty"`
	Doc     string   `json:"doc"`
}

func describeWorkloads() []workloadDoc {
	var out []workloadDoc
	families := workloads.Families()
	for _, name := range sortedNames(families) {
		d := families[name]
		w := workloadDoc{Name: name, Kind: "workload", Doc: d.Doc, Schema: d.Schema, PSMode: string(d.PSMode)}
		if d.Host != nil {
			w.Host, w.Files = true, d.Host.Files
		}
		for _, r := range d.Roles {
			w.Roles = append(w.Roles, roleDoc(r))
		}
		if d.Options != nil {
			w.Options = optionDocs(d.Options())
		}
		out = append(out, w)
	}
	schemas := workloads.Schemas()
	for _, name := range sortedNames(schemas) {
		s := schemas[name]
		out = append(out, workloadDoc{Name: name, Kind: "schema", Doc: s.Doc(), Options: append(optionDocs(&plan.Tables{})[1:], optionDocs(s.Options())...)})
	}
	return out
}

func optionDocs(options any) []optionDoc {
	var out []optionDoc
	for _, o := range plan.Describe(options) {
		out = append(out, describeOption(o))
	}
	return out
}

func describeOption(o plan.Option) optionDoc {
	return optionDoc{o.Key, o.Type, o.Default, o.Min, o.Max, o.Unit, o.Enum, o.Doc}
}

func printWorkloads(t *terminal, all []workloadDoc) error {
	var b strings.Builder
	for i, w := range all {
		if i > 0 {
			b.WriteByte('\n')
		}
		head := w.Kind + " " + w.Name
		switch {
		case w.Schema != "":
			head += " (tables of schema " + w.Schema + ")"
		case w.Files:
			head += " (this machine, on files)"
		case w.Host:
			head += " (this machine)"
		}
		fmt.Fprintf(&b, "%s\n  %s\n", head, w.Doc)
		for _, r := range w.Roles {
			fmt.Fprintf(&b, "  role %-8s %3d clients: %s\n", r.Name, r.Clients, r.Doc)
		}
		for _, o := range w.Options {
			fmt.Fprintf(&b, "  %-18s %s\n", o.Name, o.Doc+o.bounds())
		}
	}
	_, err := fmt.Fprint(t.out, b.String())
	return err
}

// bounds writes what values an option takes: ` [rows, at least 1, default 1]`.
func (o optionDoc) bounds() string {
	var parts []string
	switch {
	case len(o.Values) > 0:
		parts = append(parts, strings.Join(o.Values, " | "))
	case o.Unit != "":
		parts = append(parts, o.Unit)
	default:
		parts = append(parts, o.Type)
	}
	switch {
	case o.Min != "" && o.Max != "":
		parts = append(parts, o.Min+" to "+o.Max)
	case o.Min != "":
		parts = append(parts, "at least "+o.Min)
	case o.Max != "":
		parts = append(parts, "at most "+o.Max)
	}
	if o.Default != "" {
		parts = append(parts, "default "+o.Default)
	}
	return " [" + strings.Join(parts, ", ") + "]"
}

func sortedNames[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
