package plan_test

import (
	"strings"
	"testing"
)

// What people of other tools write is answered with our word.
func TestDidYouMean(t *testing.T) {
	for key, want := range map[string]string{
		"time": "duration", "max_time": "duration", "max_requests": "events", "num_threads": "threads", "thraeds": "threads", "Duration": "duration", "warm_up": "warmup",
		"table_size": "rows (in tables)", "oltp_table_size": "rows (in tables)", "tables": "tables: {count: …} of the plan or the group", "write_threads": "threads: {write: …}",
		"range-size": "range_size", "rand_typ": "rand_type",
	} {
		got := mistakes(t, "steps: [ { run: { workload: oltp_read_write, "+key+": 1 } } ]")
		if len(got) != 1 || !strings.HasSuffix(got[0], `run oltp_read_write has no "`+key+`"; did you mean "`+want+`"?`) {
			t.Errorf("%s: %v", key, got)
		}
	}
	for key, want := range map[string]string{"script": "shell", "sleep": "wait", "query": "sql", "teardown": "cleanup", "when": "if", "setup": "prepare", "retries": "retry", "stage": ""} {
		got := mistakes(t, "steps: [ { "+key+": 1, cleanup: } ]")
		if len(got) != 1 || want != "" && !strings.HasSuffix(got[0], `did you mean "`+want+`"?`) {
			t.Errorf("%s: %v", key, got)
		}
	}
}
