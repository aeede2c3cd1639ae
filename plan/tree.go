package plan

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
)

// The values of a plan are trees of nil, bool, int64, uint64, float64, string, []any and map[string]any, and of these:
//
//	Text          a text with a secret in it
//	number        a number of the plan that remembers its notation
//	unknownValue  what only the run tells
//
// Trees are shared and never changed.

// number is a number whose notation in the plan says more than its value: 1.10, 010, 0x10. Put into a text it stands there as it was written.
type number struct {
	value any
	text  string
}

// MarshalJSON gives the value.
func (n number) MarshalJSON() ([]byte, error) { return json.Marshal(n.value) }

// unknownValue stands for what only the run tells: a step's result, or a secret that is not set while a plan is checked.
// It also stands in for what is mistaken, so that one mistake is told once.
type unknownValue struct {
	secret bool // a secret is part of it
}

func (unknownValue) String() string { return "?" }

// MarshalText writes a question mark.
func (unknownValue) MarshalText() ([]byte, error) { return []byte("?"), nil }

var unknown = unknownValue{}

func isUnknown(v any) bool {
	_, is := v.(unknownValue)
	return is
}

// inspect tells whether a tree holds a secret, and whether it holds something unknown.
func inspect(v any) (secret, unknowns bool) {
	both := func(item any) {
		s, u := inspect(item)
		secret, unknowns = secret || s, unknowns || u
	}
	switch v := v.(type) {
	case Text:
		return v.secret, false
	case unknownValue:
		return v.secret, true
	case []any:
		for _, item := range v {
			both(item)
		}
	case map[string]any:
		for _, item := range v {
			both(item)
		}
	}
	return secret, unknowns
}

// mapped copies a tree with every value that is no list and no mapping changed by f.
func mapped(v any, f func(any) any) any {
	switch v := v.(type) {
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = mapped(v[i], f)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for k := range v {
			out[k] = mapped(v[k], f)
		}
		return out
	}
	return f(v)
}

// Reveal gives a tree of values with its secrets open, for sending it to where it belongs and nowhere else.
func Reveal(v any) any {
	return mapped(v, func(v any) any {
		if t, ok := v.(Text); ok {
			return t.Reveal()
		}
		return withoutNotation(v)
	})
}

// opened is Reveal for reading only: a tree that holds nothing to reveal is given as it is.
func opened(v any) any {
	if special(v) {
		return Reveal(v)
	}
	return v
}

// special tells whether a tree holds a secret, or a number with a notation.
func special(v any) bool {
	switch v := v.(type) {
	case Text, number:
		return true
	case []any:
		return slices.ContainsFunc(v, special)
	case map[string]any:
		for _, item := range v {
			if special(item) {
				return true
			}
		}
	}
	return false
}

// plain gives a tree without the notation of its numbers, as the rest of the program takes it.
func plain(v any) any { return mapped(v, withoutNotation) }

func withoutNotation(v any) any {
	if n, ok := v.(number); ok {
		return n.value
	}
	return v
}

// conceal makes every value of a tree a secret.
func conceal(v any) any {
	return mapped(v, func(v any) any {
		switch v := v.(type) {
		case nil, Text, unknownValue:
			return v
		}
		return SecretText(scalarText(v))
	})
}

// normalise brings what libraries give into the few types of a tree.
func normalise(v any) any {
	switch v := v.(type) {
	case nil, bool, int64, uint64, float64, string, Text, unknownValue, number:
		return v
	case int:
		return int64(v)
	case []any:
		return normaliseList(v)
	case []int:
		return normaliseList(v)
	case []string:
		return normaliseList(v)
	case map[string]any:
		out := make(map[string]any, len(v))
		for k := range v {
			out[k] = normalise(v[k])
		}
		return out
	}
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	var out any
	if json.Unmarshal(b, &out) != nil {
		return string(b)
	}
	return out
}

// normaliseNames does so for names that stand beside those of a scope.
func normaliseNames(names map[string]any) map[string]any {
	out := make(map[string]any, len(names))
	for name, v := range names {
		out[name] = normalise(v)
	}
	return out
}

func normaliseList[T any](list []T) []any {
	out := make([]any, len(list))
	for i := range list {
		out[i] = normalise(list[i])
	}
	return out
}

// scalarText writes a single value as a plan would.
func scalarText(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case number:
		return v.text
	case bool:
		return strconv.FormatBool(v)
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return fmt.Sprint(v)
}

// textOf writes a value as it stands within a text: lists and mappings as JSON.
func textOf(v any) (Text, error) {
	switch v := v.(type) {
	case nil:
		return Text{}, errors.New("it is nil (nothing); a text needs a value: write `?? \"…\"` behind it for one")
	case Text:
		return v, nil
	case []any, map[string]any:
		open, err := json.Marshal(Reveal(v))
		if err != nil {
			return Text{}, err
		}
		secret, _ := inspect(v)
		if !secret {
			return PlainText(string(open)), nil
		}
		shown, err := json.Marshal(v)
		if err != nil {
			return Text{}, err
		}
		return partlySecret(string(open), string(shown)), nil
	}
	return PlainText(scalarText(v)), nil
}

func typeName(v any) string {
	switch v := v.(type) {
	case nil:
		return "nil (nothing)"
	case []any:
		return "a list"
	case map[string]any:
		return "a mapping"
	case Text:
		return "a secret"
	case string:
		return fmt.Sprintf("the text %q", v)
	}
	return "the value " + scalarText(v)
}
