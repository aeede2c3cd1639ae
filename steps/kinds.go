package steps

import (
	"context"
	"maps"
	"slices"
	"time"

	"benchplan/plan"
)

// Kind is a step kind: how it is written in a plan, and what it does.
type Kind struct {
	plan.Kind
	// Do carries out the step in one cell. What it yields can be read by the step's assert and as steps.<id> by later
	// steps; it is kept even beside an error, for the log. The error says what went wrong and where; the executor adds
	// the step's place in the plan.
	Do func(ctx context.Context, c *Call, spec any) (yields map[string]any, err error)
	// Shell tells that the kind executes commands on this machine, which has to be allowed.
	Shell bool
}

// Kinds are all step kinds by the key that makes a step one. A group ("steps") belongs to the language itself.
func Kinds() map[string]Kind {
	return map[string]Kind{
		"http":     httpKind(),
		"sql":      sqlKind(),
		"shell":    shellKind(),
		"wait":     waitKind(),
		"server":   serverKind(),
		"database": databaseKind(),
		"prepare":  prepareKind(),
		"run":      runKind(),
		"verify":   verifyKind(),
		"cleanup":  cleanupKind(),
	}
}

// define makes a kind whose spec is a struct of type S.
func define[S any](doc string, do func(ctx context.Context, c *Call, spec *S) (map[string]any, error)) Kind {
	return Kind{
		Kind: plan.Kind{Doc: doc, Spec: func() any { return new(S) }},
		Do: func(ctx context.Context, c *Call, spec any) (map[string]any, error) {
			return do(ctx, c, spec.(*S))
		},
	}
}

// checked adds what is wrong with a spec that is right key by key.
func checked[S any](k Kind, check func(spec *S, in plan.Place) []plan.Problem) Kind {
	k.Check = func(spec any, in plan.Place) []plan.Problem { return check(spec.(*S), in) }
	return k
}

// lasting adds the time that a spec takes at the least.
func lasting[S any](k Kind, least func(spec *S) time.Duration) Kind {
	k.Least = func(spec any) time.Duration { return least(spec.(*S)) }
	return k
}

// problem is a plan.Problem with the message formatted.
func problem(path, message string) plan.Problem { return plan.Problem{Path: path, Message: message} }

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
