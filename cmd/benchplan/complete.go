package main

import (
	"maps"
	"slices"

	"benchplan/results"
	"benchplan/workloads"

	"github.com/spf13/cobra"
)

// completePlans completes the files of plans.
func completePlans(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return []string{"yaml", "yml"}, cobra.ShellCompDirectiveFilterFileExt
}

// completeRuns completes the names of runs, the newest first.
func completeRuns(root *string) func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		entries, err := results.List(*root)
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		names := []string{"last"}
		for _, e := range slices.Backward(entries) {
			names = append(names, e.Name)
		}
		return names, cobra.ShellCompDirectiveKeepOrder
	}
}

// completeResume completes --resume.
func completeResume(c *cobra.Command, root *string) {
	_ = c.RegisterFlagCompletionFunc("resume", completeRuns(root)) // fails for a flag that is not there
}

// completeFormats completes --format.
func completeFormats(c *cobra.Command, more ...string) {
	_ = c.RegisterFlagCompletionFunc("format", cobra.FixedCompletions(append(formatNames(), more...), cobra.ShellCompDirectiveNoFileComp)) // fails for a flag that is not there
}

// completeWorkloads completes the names of workloads and schemas.
func completeWorkloads(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	names := slices.Concat(slices.Collect(maps.Keys(workloads.Families())), slices.Collect(maps.Keys(workloads.Schemas())))
	slices.Sort(names)
	return names, cobra.ShellCompDirectiveNoFileComp
}
