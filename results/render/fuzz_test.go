package render

import (
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"benchplan/results"
)

// FuzzRecords: a run folder that comes from anybody, its checksums right and what stands in it made up, is printed in every format without a
// panic, in bounded time, and sends a terminal nothing but text.
func FuzzRecords(f *testing.F) {
	run, cells := matrixRun(2, 1)
	whole, err := json.Marshal(run)
	if err != nil {
		f.Fatal(err)
	}
	one, err := json.Marshal(cells[0])
	if err != nil {
		f.Fatal(err)
	}
	two, err := json.Marshal(cells[1])
	if err != nil {
		f.Fatal(err)
	}
	f.Add(whole, one, two)
	f.Add([]byte(`{"v":1}`), []byte(`{"v":1}`), []byte(`{"v":1}`))
	f.Add([]byte(`{"v":1,"plan":"\u001b[31m","report":{"baseline":{"a":"b"},"pivot":"a","metrics":["tps","x"],"assert":["tps > 1","("]}}`),
		[]byte(`{"v":1,"path":["\u001b]0;x\u0007"],"labels":[{"name":"a","value":"<b>"}],"status":"complete","outcome":{"elapsed_s":1e-300,"events":9223372036854775807}}`),
		[]byte(`{"v":1,"path":null,"labels":[{"name":"","value":""},{"name":"","value":"x"}],"repeat":-5,"round":-1,"status":"complete","outcome":{"elapsed_s":1,"events":-1,"roles":[{}],"errors":[{}]}}`))
	f.Fuzz(func(t *testing.T, runText, first, second []byte) {
		folder := t.TempDir()
		var journal []byte
		for _, body := range [][]byte{first, second} {
			body = []byte(strings.TrimSuffix(string(body), "}"))
			journal = fmt.Appendf(journal, "%s,\"crc\":\"%08x\"}\n", body, crc32.ChecksumIEEE(body))
		}
		for name, content := range map[string][]byte{"run.json": runText, "cells.jsonl": journal} {
			if err := os.WriteFile(filepath.Join(folder, name), content, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		begin := time.Now()
		opened, cells, warnings, err := results.Open(folder)
		if err != nil {
			return
		}
		r := results.Recorded{Name: "p", Folder: folder, Run: opened, Cells: cells, Warnings: warnings}
		report := results.ReportOf(r, results.Options{})
		comparison, err := results.CompareOf([]results.Recorded{r, r}, results.Options{})
		for name, format := range Formats() {
			o := Options{Width: 80, Runs: []results.Recorded{r}}
			var out strings.Builder
			_ = format.Report(&out, report, o) // an error is as good as a page
			o.Runs = append(o.Runs, r)
			if err == nil {
				_ = format.Compare(&out, comparison, o)
			}
			if i := strings.IndexFunc(out.String(), func(c rune) bool { return c < ' ' && c != '\n' && c != '\t' || c >= 0x7f && c < 0xa0 }); i >= 0 && name != "html" {
				t.Errorf("%s prints %q", name, out.String()[max(0, i-20):min(out.Len(), i+20)])
			}
		}
		for i := range cells {
			_ = Sysbench(io.Discard, &cells[i], nil, nil)
		}
		if took := time.Since(begin); took > 10*time.Second {
			t.Errorf("it took %v", took)
		}
	})
}
