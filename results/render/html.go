package render

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"benchplan/results"
)

// The parts of the page. uPlot draws the charts; html/uPlot.VERSION.txt says which one it is, and its licence goes along.
var (
	//go:embed html/page.html
	htmlPageText string
	//go:embed html/style.css
	htmlStyle string
	//go:embed html/app.js
	htmlApp string
	//go:embed html/uPlot.min.css
	uPlotStyle string
	//go:embed html/uPlot.iife.min.js
	uPlotScript string
	//go:embed html/uPlot.LICENSE.txt
	uPlotLicense string
)

// HTML writes a report as one page that needs nothing else: no network, no other file.
func HTML(w io.Writer, r *results.Report, o Options) error {
	return newReportPage(r, o).write(w, pageAssets())
}

// HTMLCompare writes a comparison as such a page.
func HTMLCompare(w io.Writer, c *results.Comparison, o Options) error {
	return newComparePage(c, o).write(w, pageAssets())
}

// page is all that the template shows. Texts in it are plain: the template escapes them.
type page struct {
	Title       string
	Description string
	Facts       [][]string // when, where, how much: a line of them for each run
	Banners     []string   // why this is no whole run in earnest
	Answer      []answer
	Tables      []pageTable
	Notes       []results.Note
	Warnings    []string
	Errors      []string
	Failures    []failure
	Missing     []string
	Differences *differences
	PlanDiffs   []results.PlanDiff
	Plans       []planText
	Environment environment
	Data        *chartData
}

// assets are the styles and scripts of a page.
type assets struct {
	Styles  []template.CSS
	Scripts []template.JS
}

func pageAssets() assets {
	license := template.JS("/*\n" + strings.ReplaceAll(uPlotLicense, "*/", "* /") + "*/\n") //nolint:gosec // all of these are part of the program
	return assets{
		Styles:  []template.CSS{template.CSS(uPlotStyle), template.CSS(htmlStyle)},                     //nolint:gosec // as above
		Scripts: []template.JS{license + template.JS(uPlotScript), template.JS("\n" + htmlApp + "\n")}, //nolint:gosec // as above
	}
}

// policy lets the page run the styles and scripts that it came with, and nothing else: no other script, no request.
func (a assets) policy() string {
	source := func(text string) string {
		sum := sha256.Sum256([]byte(text))
		return " 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	}
	var styles, scripts string
	for _, s := range a.Styles {
		styles += source(string(s))
	}
	for _, s := range a.Scripts {
		scripts += source(string(s))
	}
	return "default-src 'none'; base-uri 'none'; form-action 'none'; style-src" + styles + "; script-src" + scripts
}

// write fills in the template.
func (p *page) write(w io.Writer, a assets) error {
	t, err := template.New("page").Funcs(template.FuncMap{
		"text":  harmless,
		"ticks": func(s string) []string { return strings.Split(s, "`") },
		"odd":   func(n int) bool { return n%2 == 1 },
		"upper": upperFirst,
		"run":   func(n int) string { return runSuffix(n - 1) },
		"side":  diffSide,
	}).Parse(htmlPageText)
	if err != nil {
		return fmt.Errorf("html: %w", err)
	}
	var b bytes.Buffer
	err = t.Execute(&b, struct {
		*page
		assets
		Policy string
	}{p, a, a.policy()})
	if err != nil {
		return fmt.Errorf("html: %w", err)
	}
	_, err = w.Write(b.Bytes())
	return err
}

// newReportPage gathers what the page of one run shows.
func newReportPage(r *results.Report, o Options) *page {
	h := r.Run
	p := &page{
		Title: h.Plan, Description: strings.Join(strings.Fields(h.Description), " "), Errors: h.Errors,
		Warnings: r.Warnings, Failures: failures(o.Runs), Plans: planTexts(o.Runs), Environment: newEnvironment(o.Runs),
	}
	p.Facts = [][]string{runLine("", h)}
	p.Banners = nonEmpty(statusText(h))
	for i, t := range r.Tables() {
		heading := ""
		if len(r.More) > 0 {
			heading = loadText(t.Load)
		}
		p.Answer = append(p.Answer, reportAnswer(t, heading))
		p.Tables = append(p.Tables, newPageTable(heading, sameText(t), reportGrid(t), reportIdentity(t)))
		p.Notes = append(p.Notes, newNotes(r, i)...)
	}
	data, warnings := reportCharts(r, o.Runs)
	p.Data, p.Warnings = data, append(p.Warnings, warnings...)
	return p
}

// newComparePage gathers what the page of a comparison shows.
func newComparePage(c *results.Comparison, o Options) *page {
	p := &page{
		Title: compareTitle(c), Notes: c.Notes, Warnings: c.Warnings, Differences: newDifferences(c), PlanDiffs: c.PlanDiffs,
		Failures: failures(o.Runs), Plans: planTexts(o.Runs), Environment: newEnvironment(o.Runs),
	}
	for n, h := range c.Runs {
		name := runSuffix(n) + " " + h.Name
		if n == 0 {
			name += " (baseline)"
		}
		p.Facts = append(p.Facts, runLine(name, h))
		if doubt := statusText(h); doubt != "" {
			p.Banners = append(p.Banners, runSuffix(n)+" "+doubt)
		}
		for _, e := range h.Errors {
			p.Errors = append(p.Errors, runSuffix(n)+" "+e)
		}
		if len(c.Missing[n]) > 0 {
			p.Missing = append(p.Missing, runSuffix(n)+" has no cell: "+strings.Join(c.Missing[n], ", "))
		}
	}
	tables := c.Tables()
	for _, t := range tables {
		heading := ""
		if len(tables) > 1 {
			heading = loadText(t.Load)
		}
		p.Answer = append(p.Answer, compareAnswer(c, t, heading))
		p.Tables = append(p.Tables, newPageTable(heading, nil, compareGrid(c, t), compareIdentity(t)))
	}
	data, warnings := compareCharts(c, tables, o.Runs)
	p.Data, p.Warnings = data, append(p.Warnings, warnings...)
	return p
}

// compareTitle names the plan of all runs, or all of their plans.
func compareTitle(c *results.Comparison) string {
	var names []string
	for _, h := range c.Runs {
		if len(names) == 0 || names[len(names)-1] != h.Plan {
			names = append(names, h.Plan)
		}
	}
	return fmt.Sprintf("%s: %d runs compared", strings.Join(names, ", "), len(c.Runs))
}

// runLine says when a run was, against what, and how much of it is there.
func runLine(name string, h results.Head) []string {
	facts := nonEmpty(name)
	if !h.Started.IsZero() {
		facts = append(facts, h.Started.UTC().Format("2006-01-02 15:04 UTC"))
	}
	return append(append(append(facts, h.Targets...), cellsText(h), string(h.Status)), nonEmpty(resumedText(h))...)
}

// longestText is how many characters of one text a page shows: a label can be of any length.
const longestText = 400

// harmless shows a text of any content and length as harmless characters.
func harmless(s string) string {
	if len(s) > 4*longestText { // no rune is longer than that
		s = strings.ToValidUTF8(s[:4*longestText], "") + "…"
	}
	s = printable(s)
	count := 0
	for at := range s {
		if count++; count > longestText {
			return s[:at] + "…"
		}
	}
	return s
}

// proper writes the sign of a change as typographers do.
func proper(s string) string {
	if rest, ok := strings.CutPrefix(s, "-"); ok {
		return "−" + rest
	}
	return s
}

// diffSide tells which side a line of a unified diff is of.
func diffSide(line string) string {
	switch {
	case strings.HasPrefix(line, "+"):
		return "added"
	case strings.HasPrefix(line, "-"):
		return "removed"
	case strings.HasPrefix(line, "@"):
		return "quiet"
	}
	return ""
}

func upperFirst(s string) string {
	first, size := utf8.DecodeRuneInString(s)
	if size == 0 {
		return s
	}
	return string(unicode.ToUpper(first)) + s[size:]
}

func nonEmpty(s string) []string {
	if s == "" {
		return nil
	}
	return []string{s}
}

// plural writes a count with its word: 1 row, 2 rows.
func plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return thousands(strconv.Itoa(n)) + " " + word + "s"
}
