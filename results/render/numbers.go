package render

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"benchplan/results"
)

// none stands where a figure does not apply.
const none = "–"

// scale is how all figures of one column are written.
type scale struct {
	unit     string
	divide   float64
	decimals int
	rate     bool // two decimals below 10, whatever the others have
	plain    bool // four significant digits, without the zeros at their end
}

// scaleFor chooses one unit and precision for a column: rates are in thousands where all of them reach 100,000, in millions
// where all reach 100 million, and lose their decimal where one reaches 1000; latencies turn into seconds where all of them are
// 10 s and more, and into microseconds where all are below 1 ms. Times have as many decimals as give their median four
// significant digits, one more where the smallest needs it to have two, and no more than three, one of microseconds.
func scaleFor(m results.Metric, values []float64) scale {
	low, high := math.Inf(1), 0.0
	for _, v := range values {
		if v > 0 {
			low = min(low, v)
		}
		high = max(high, v)
	}
	switch m.Unit {
	case "1/s", "MiB/s":
		switch {
		case high == 0 || high < 1000:
			return scale{divide: 1, decimals: 1, rate: true}
		case low >= 100e6:
			return scale{unit: "M", divide: 1e6, decimals: 1}
		case low >= 100e3:
			return scale{unit: "k", divide: 1e3, decimals: 1}
		}
		return scale{divide: 1, rate: true}
	case "ms":
		switch {
		case high > 0 && low >= 10_000:
			return scale{unit: "s", divide: 1000, decimals: timeDecimals(values, 1000)}
		case high > 0 && high < 1:
			return scale{unit: "µs", divide: 0.001, decimals: min(1, timeDecimals(values, 0.001))}
		}
		return scale{unit: "ms", divide: 1, decimals: timeDecimals(values, 1)}
	case "s":
		return scale{unit: "s", divide: 1, decimals: timeDecimals(values, 1)}
	}
	return scale{divide: 1, plain: true}
}

// timeDecimals chooses the decimals of a column of times.
func timeDecimals(values []float64, divide float64) int {
	var sorted []float64
	for _, v := range values {
		if v > 0 {
			sorted = append(sorted, v/divide)
		}
	}
	if sorted == nil {
		return 0
	}
	slices.Sort(sorted)
	smallest, median := sorted[0], sorted[len(sorted)/2]
	decimals := decimalsFor(median, 4)
	if decimalsFor(smallest, 2) > decimals {
		decimals++
	}
	return min(decimals, 3)
}

// decimalsFor is how many decimals give a number above 0 so many significant digits.
func decimalsFor(v float64, digits int) int {
	return max(0, digits-1-int(math.Floor(math.Log10(v))))
}

func (s scale) format(v float64) string {
	v /= s.divide
	switch {
	case s.plain:
		text := strconv.FormatFloat(v, 'f', significantDecimals(v), 64)
		if strings.Contains(text, ".") {
			text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
		}
		return thousands(text)
	case s.rate && v != 0 && math.Abs(v) < 10:
		return strconv.FormatFloat(v, 'f', 2, 64)
	}
	return thousands(strconv.FormatFloat(v, 'f', s.decimals, 64))
}

// significantDecimals gives four significant digits, but no more than four decimals: below is noise.
func significantDecimals(v float64) int {
	switch v = math.Abs(v); {
	case v == 0:
		return 0
	case v < 1:
		return 4
	case v < 10:
		return 3
	case v < 100:
		return 2
	case v < 1000:
		return 1
	}
	return 0
}

// thousands sets commas into the whole part of a number.
func thousands(text string) string {
	sign := ""
	if strings.HasPrefix(text, "-") {
		sign, text = "-", text[1:]
	}
	whole, fraction, dot := strings.Cut(text, ".")
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if dot {
		whole += "." + fraction
	}
	return sign + whole
}

// percent writes a change; the sign is that of the figure, whatever is better.
func percent(ratio float64) string {
	text := percentage(math.Abs(ratio))
	switch {
	case text == "0.0 %":
		return text
	case ratio < 0:
		return "-" + text
	}
	return "+" + text
}

// percentage writes a fraction that is not negative: with one decimal below 100 %, with none from there on.
func percentage(fraction float64) string {
	p := fraction * 100
	if p < 99.95 {
		return fmt.Sprintf("%.1f %%", p)
	}
	return thousands(fmt.Sprintf("%.0f", p)) + " %"
}

// doubt follows a change of which no test could have said whether it is noise.
const doubt = "?"

// changeText writes a change: as it is where it is significant, with a ? where the repeats are too few to tell, and as ~
// where a test found that it may be chance.
func changeText(c results.Change) string {
	switch {
	case !c.Decidable:
		return differenceText(c.Ratio) + doubt
	case !c.Significant:
		return "~"
	}
	return differenceText(c.Ratio)
}

// times follows a difference that is written as a ratio.
const times = " ×"

// differenceText writes a difference in percent; one that doubles a figure or more, or halves it, as the ratio: 5.96 ×, 0.168 ×.
func differenceText(ratio float64) string {
	f := 1 + ratio
	if f >= 2 || 0.001 <= f && f <= 0.5 {
		return factor(f) + times
	}
	return percent(ratio)
}

// longest is how wide a label or a name may be in a table; other formats have all of it.
const longest = 60

// label writes what a user called something, so that one name does not take the whole screen.
func label(s string) string {
	const enough = 16 * longest // bytes that hold as many columns, in any script
	if len(s) > enough {
		s = strings.ToValidUTF8(s[:enough], "") + strings.Repeat("…", longest)
	}
	return cut(printable(s), longest)
}

// printable shows what would move the cursor, colour the screen or turn the direction of writing, instead of doing it.
func printable(s string) string {
	if !strings.ContainsFunc(s, hidden) && !strings.ContainsRune(s, unicode.ReplacementChar) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if hidden(r) {
			b.WriteString(strings.Trim(strconv.QuoteRuneToASCII(r), "'"))
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

func hidden(r rune) bool {
	return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == '\u2028' || r == '\u2029'
}
