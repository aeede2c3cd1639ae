package plan

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// scalar converts a single value. Conversion comes after evaluation: "64" from an expression is as good as 64.
func (d *decoder) scalar(n *node, v reflect.Value, o Option, what string) {
	if n.kind != scalarNode {
		hint := ""
		if n.kind == listNode && d.voc != nil {
			hint = "; for several values in turn make them an axis of a matrix"
		}
		d.report(n.pos, "%s takes a %s, not %s%s", what, o.Type, n.kind, hint)
		return
	}
	if v.Type() == textType {
		text, ok := n.value.(Text)
		if !ok {
			text = PlainText(n.text)
		}
		switch {
		case text.secret && o.NoSecret != "":
			d.report(n.pos, "%s: %s", what, o.NoSecret)
			return
		case !text.secret && text.Reveal() != "" && o.OnlySecret:
			d.report(n.pos, "%s: what stands in a plan stands in version control and in the folder of every run; put it into an environment variable and write \"${{ secrets.NAME }}\"", what)
			return
		}
		v.Set(reflect.ValueOf(text))
		return
	}
	if t, ok := n.value.(Text); ok && t.secret {
		d.report(n.pos, "%s", noSecret(what))
		return
	}
	err := convert(n, v, o)
	if err == nil {
		err = inRange(v, o)
	}
	if err != nil {
		d.report(n.pos, "%s: %v%s", what, err, notAnExpression(n.text))
	}
}

// notAnExpression adds what is meant where somebody has written an expression as another tool would.
func notAnExpression(text string) string {
	for _, mark := range []string{"{{", "${", "$("} {
		if strings.Contains(text, mark) {
			return "; an expression is written ${{ … }}"
		}
	}
	return ""
}

// convert sets v from the node's text.
func convert(n *node, v reflect.Value, o Option) error {
	switch v.Type() {
	case reflect.TypeFor[Duration]():
		x, err := ParseDuration(n.text)
		v.SetInt(int64(x))
		return err
	case reflect.TypeFor[Size]():
		x, err := whole(n, ParseSize)
		v.SetInt(int64(x))
		return err
	}
	switch v.Kind() {
	case reflect.String:
		return convertWord(n, v, o)
	case reflect.Bool:
		b, err := parseBool(n.value, n.text)
		v.SetBool(b)
		return err
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		x, err := whole(n, ParseCount)
		if i, e := strconv.ParseInt(strings.ReplaceAll(n.text, "_", ""), 10, 64); e == nil && i < 0 && o.Min != "" {
			x, err = Count(i), nil // the range says what is wrong, or that nothing is
		}
		if err == nil && v.OverflowInt(int64(x)) {
			err = fmt.Errorf("%q is too large", n.text)
		}
		if err == nil {
			v.SetInt(int64(x))
		}
		return err
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		x, err := whole(n, ParseCount)
		if err == nil && v.OverflowUint(uint64(x)) {
			err = fmt.Errorf("%q is too large", n.text)
		}
		if err == nil {
			v.SetUint(uint64(x))
		}
		return err
	case reflect.Float32, reflect.Float64:
		f, err := ParseNumber(n.text)
		v.SetFloat(f)
		return err
	}
	return fmt.Errorf("%q cannot stand here", n.text)
}

func convertWord(n *node, v reflect.Value, o Option) error {
	text := n.text
	if b, ok := n.value.(bool); ok && slices.Contains(o.Enum, strconv.FormatBool(b)) {
		text = strconv.FormatBool(b) // True
	}
	if len(o.Enum) > 0 && !slices.Contains(o.Enum, text) {
		return fmt.Errorf("%q is not one of: %s%s", text, strings.Join(o.Enum, ", "), didYouMean(text, o.Enum))
	}
	v.SetString(text)
	return nil
}

// whole reads a whole number in the language's notation, or in YAML's: 0x10.
func whole[T ~int64](n *node, parse func(string) (T, error)) (T, error) {
	x, err := parse(n.text)
	if err != nil {
		switch v := withoutNotation(n.value).(type) {
		case int64:
			if v >= 0 {
				return T(v), nil
			}
		case float64: // what an expression gave: 64.0
			if v == math.Trunc(v) && v >= 0 && v < 1<<53 {
				return T(v), nil
			}
		}
	}
	return x, err
}

func parseBool(value any, text string) (bool, error) {
	if b, ok := value.(bool); ok {
		return b, nil
	}
	switch strings.ToLower(text) {
	case "true", "on", "yes":
		return true, nil
	case "false", "off", "no":
		return false, nil
	}
	return false, fmt.Errorf("%q is neither true nor false (nor on, off, yes, no)", text)
}

// inRange holds a number against the min and max of its option.
func inRange(v reflect.Value, o Option) error {
	if o.Min != "" && asFloat(v) < o.from {
		return fmt.Errorf("at least %s is needed", o.Min)
	}
	if o.Max != "" && asFloat(v) > o.to {
		return fmt.Errorf("at most %s is possible", o.Max)
	}
	return nil
}

func asFloat(v reflect.Value) float64 {
	switch {
	case v.CanInt():
		return float64(v.Int())
	case v.CanUint():
		return float64(v.Uint())
	case v.CanFloat():
		return v.Float()
	}
	return math.NaN()
}
