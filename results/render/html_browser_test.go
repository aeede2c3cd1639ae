//go:build browser

package render

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	cdplog "github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// The pages that are looked at are those of the fixtures or, with -page, one that is there already.
var (
	screenshots = flag.String("screenshots", "", "write what the browser shows into this `folder`")
	pageFile    = flag.String("page", "", "look at this `file` instead of the fixtures")
)

// patience is how long one look at a page may take.
const patience = time.Minute

// tab is one page in a browser, with all that it complained about and asked for.
type tab struct {
	context.Context

	mu       sync.Mutex
	problems []string
	requests []string
}

// open shows a file in a new tab, as wide and in the colour scheme as asked.
func open(t *testing.T, browser context.Context, file string, width int64, scheme string) *tab {
	t.Helper()
	ctx, cancel := chromedp.NewContext(browser)
	t.Cleanup(cancel)
	w := &tab{Context: ctx}
	errs := []error{chromedp.Listen(ctx, w.event)}
	call := func(_ any, err error) { errs = append(errs, err) }
	call(chromedp.Call(ctx, network.Enable, network.EnableParams{}))
	call(chromedp.Call(ctx, cdplog.Enable, cdp.Empty{}))
	call(chromedp.Call(ctx, runtime.Enable, cdp.Empty{}))
	call(chromedp.Call(ctx, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: width, Height: 900, DeviceScaleFactor: 1, Mobile: width < 500}))
	call(chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}}))
	limited, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	errs = append(errs, chromedp.Do(limited, chromedp.Navigate("file://"+file)))
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
	return w
}

// event notes what a page should not cause.
func (w *tab) event(event any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		text := e.ExceptionDetails.Text
		if e.ExceptionDetails.Exception != nil {
			text += " " + e.ExceptionDetails.Exception.Description
		}
		w.problems = append(w.problems, text)
	case *runtime.EventConsoleAPICalled:
		w.problems = append(w.problems, fmt.Sprintf("console.%s", e.Type))
	case *cdplog.EventEntryAdded:
		w.problems = append(w.problems, fmt.Sprintf("%s: %s", e.Entry.Source, e.Entry.Text))
	case *network.EventRequestWillBeSent:
		w.requests = append(w.requests, e.Request.URL)
	}
}

// value works an expression out in the page.
func value[T any](t *testing.T, w *tab, expression string) T {
	t.Helper()
	ctx, cancel := context.WithTimeout(w, patience)
	defer cancel()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression))
	if err != nil {
		t.Fatalf("%s: %v", expression, err)
	}
	return v
}

// press types a key.
func press(t *testing.T, w *tab, key string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(w, patience)
	defer cancel()
	if err := chromedp.Do(ctx, chromedp.KeyEvent(key)); err != nil {
		t.Fatal(err)
	}
}

// newBrowser starts a headless Chromium that ends with the test.
func newBrowser(t *testing.T) context.Context {
	t.Helper()
	options := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]), chromedp.NoSandbox, chromedp.DisableGPU)
	allocator, cancel := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(cancel)
	ctx, cancel := chromedp.NewContext(allocator)
	t.Cleanup(cancel)
	if err := chromedp.Do(ctx); err != nil {
		t.Fatalf("no Chromium can be started (Debian: apt-get install chromium): %v", err)
	}
	return ctx
}

// browserPages writes the pages of the fixtures and gives their files by name.
func browserPages(t *testing.T) map[string]string {
	t.Helper()
	if *pageFile != "" {
		file, err := filepath.Abs(*pageFile)
		if err != nil {
			t.Fatal(err)
		}
		return map[string]string{strings.TrimSuffix(filepath.Base(file), ".html"): file}
	}
	dir, pages := t.TempDir(), map[string]string{}
	for name, runs := range htmlRuns(60) {
		pages[name] = filepath.Join(dir, name+".html")
		if err := os.WriteFile(pages[name], []byte(htmlPage(t, runs, false)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	pages["hostile"] = filepath.Join(dir, "hostile.html")
	text := htmlPage(t, wildRun(func(i int) string { return hostile[i%len(hostile)] }), false)
	if err := os.WriteFile(pages["hostile"], []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return pages
}

// TestPageInBrowser looks at pages as their readers do: on a phone, a tablet and a desk, in both colour schemes. Nothing is
// complained about, nothing but the file is asked for, and the page never scrolls sideways.
func TestPageInBrowser(t *testing.T) {
	browser := newBrowser(t)
	for name, file := range browserPages(t) {
		for _, width := range []int64{360, 768, 1280} {
			for _, scheme := range []string{"light", "dark"} {
				t.Run(fmt.Sprintf("%s/%d/%s", name, width, scheme), func(t *testing.T) {
					w := open(t, browser, file, width, scheme)
					look(t, w, scheme)
					if *screenshots != "" {
						picture, err := chromedp.Run(w, chromedp.FullScreenshot(100))
						if err != nil {
							t.Fatal(err)
						}
						save(t, fmt.Sprintf("%s-%d-%s.png", name, width, scheme), picture)
					}
				})
			}
		}
	}
}

func look(t *testing.T, w *tab, scheme string) {
	t.Helper()
	type sight struct {
		Scroll, Inner int
		Drawn, Wanted int
		Dark          bool
	}
	seen := value[sight](t, w, `({
		scroll: document.scrollingElement.scrollWidth, inner: innerWidth,
		drawn: document.querySelectorAll(".plot canvas").length, wanted: JSON.parse(document.getElementById("data").textContent).cells.some(c => c.load) ? (JSON.parse(document.getElementById("data").textContent).cells.some(c => c.machines) ? 8 : 3) : 0,
		dark: getComputedStyle(document.body).backgroundColor.match(/\d+/)[0] < 128,
	})`)
	if seen.Scroll > seen.Inner {
		t.Errorf("the page is %d wide in a window of %d", seen.Scroll, seen.Inner)
	}
	if seen.Drawn < seen.Wanted {
		t.Errorf("%d charts are drawn, not %d", seen.Drawn, seen.Wanted)
	}
	if seen.Dark != (scheme == "dark") {
		t.Errorf("dark: %v, wanted %s", seen.Dark, scheme)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, p := range w.problems {
		t.Error(p)
	}
	if len(w.requests) != 1 || !strings.HasPrefix(w.requests[0], "file://") {
		t.Errorf("requests: %q", w.requests)
	}
}

func save(t *testing.T, name string, content []byte) {
	t.Helper()
	if *screenshots == "" {
		return
	}
	if err := os.MkdirAll(*screenshots, 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(*screenshots, name), content, 0o600); err != nil {
		t.Fatal(err)
	}
}

// matrixPage opens the page of many cells.
func matrixPage(t *testing.T, scheme string) *tab {
	t.Helper()
	file := filepath.Join(t.TempDir(), "matrix.html")
	if err := os.WriteFile(file, []byte(htmlPage(t, htmlRuns(60)["matrix"], false)), 0o600); err != nil {
		t.Fatal(err)
	}
	return open(t, newBrowser(t), file, 1280, scheme)
}

// TestPageByKeyboard: the first stop skips to the answer, Enter on a head sorts down, up, and back, a filter leaves the rows
// that hold its words, Space takes a cell out of the charts, arrows move through a chart.
func TestPageByKeyboard(t *testing.T) {
	w := matrixPage(t, "light")
	press(t, w, kb.Tab)
	if got := value[string](t, w, `document.activeElement.textContent`); got != "Skip to the answer" {
		t.Errorf("the first stop is %q", got)
	}

	const head = `[...document.querySelectorAll("table.results thead th")].find(h => h.textContent.startsWith("tps"))`
	const figures = `[...document.querySelector("table.results").tBodies[0].rows].map(r => parseFloat(r.cells[` + head + `.cellIndex].textContent.replace(",", "")))`
	original := value[[]float64](t, w, figures)
	value[json.RawMessage](t, w, head+`.querySelector("button").focus()`+`, null`)
	for _, tt := range []struct {
		sort    string
		compare func(a, b float64) int
	}{
		{"ascending", func(a, b float64) int { return int(a - b) }},
		{"descending", func(a, b float64) int { return int(b - a) }},
		{"", nil},
	} {
		press(t, w, kb.Enter)
		want := slices.Clone(original)
		if tt.compare != nil {
			slices.SortFunc(want, tt.compare)
		}
		got, sort := value[[]float64](t, w, figures), value[string](t, w, head+`.getAttribute("aria-sort") || ""`)
		if !slices.Equal(got, want) || sort != tt.sort {
			t.Errorf("%q: %v; want %q: %v", sort, got, tt.sort, want)
		}
	}

	const filter = `document.querySelector("#environment .filter")`
	value[json.RawMessage](t, w, filter+`.closest("details").open = true, `+filter+`.focus(), null`)
	for _, key := range "sync" {
		press(t, w, string(key))
	}
	const rows = `[...` + filter + `.closest("details").querySelectorAll("tbody tr")].filter(r => !r.hidden).map(r => r.cells[0].textContent).join(" ")`
	if got := value[string](t, w, rows); got != "sync_binlog" {
		t.Errorf("the filter leaves %q", got)
	}

	const lines = `document.querySelector(".plot .u-legend").rows.length`
	before := value[int](t, w, lines)
	value[json.RawMessage](t, w, `document.querySelector(".chip input:checked").focus(), null`)
	press(t, w, " ")
	if after := value[int](t, w, lines); after != before-1 {
		t.Errorf("%d lines in the legend, %d after a cell was taken out", before, after)
	}

	value[json.RawMessage](t, w, `document.querySelector(".plot .canvas").focus(), null`)
	press(t, w, kb.ArrowRight)
	press(t, w, kb.ArrowRight)
	const at = `[...document.querySelectorAll(".plot .u-legend")].slice(0, 2).map(l => l.rows[0].cells[1].textContent).join(" ")`
	if got := value[string](t, w, at); got != "1 s 1 s" {
		t.Errorf("the cursors of the first two charts are at %q", got)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.problems != nil {
		t.Error(w.problems)
	}
}

// TestPageOnPaper: printed from a dark screen, text and charts are dark on white, what is folded is open, and afterwards all is
// as it was.
func TestPageOnPaper(t *testing.T) {
	w := matrixPage(t, "dark")
	if *pageFile != "" {
		w = open(t, newBrowser(t), browserPages(t)[strings.TrimSuffix(filepath.Base(*pageFile), ".html")], 1280, "dark")
	}
	// The first is the brightness of the text, the second that of what is drawn in the first chart, the third the folded parts.
	const state = `(() => {
		const c = document.querySelector(".plot canvas"), d = c.getContext("2d").getImageData(0, 0, c.width, c.height).data;
		let sum = 0, n = 0;
		for (let i = 0; i < d.length; i += 4) if (d[i + 3] > 250) { sum += d[i] + d[i + 1] + d[i + 2]; n += 3; }
		return [+getComputedStyle(document.body).color.match(/\d+/)[0], sum / n, document.querySelectorAll("details:not([open])").length];
	})()`
	screen := value[[]float64](t, w, state)
	value[json.RawMessage](t, w, `dispatchEvent(new Event("beforeprint")), null`)
	paper := value[[]float64](t, w, state)
	value[json.RawMessage](t, w, `dispatchEvent(new Event("afterprint")), null`)
	back := value[[]float64](t, w, state)
	if screen[0] < 128 || paper[0] > 128 || !slices.Equal(screen, back) || paper[1] == screen[1] || paper[2] >= screen[2] {
		t.Errorf("text, charts, folded: on the screen %v, on paper %v, afterwards %v", screen, paper, back)
	}
	pdf, err := chromedp.Run(w, chromedp.PrintToPDF(chromedp.PDFPrintBackground(), chromedp.PDFPreferCSSPageSize()))
	if err != nil || !bytes.HasPrefix(pdf, []byte("%PDF")) {
		t.Fatalf("%.20q, %v", pdf, err)
	}
	save(t, "paper.pdf", pdf)
}
