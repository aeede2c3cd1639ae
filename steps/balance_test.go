package steps

import (
	"strings"
	"testing"
)

func TestVerifyHoldsTheTotalOfTransfers(t *testing.T) {
	for _, mode := range []string{"transaction", "single_statement"} {
		page := `
tables: { schema: sbtest, count: 2, rows: 200 }
steps:
  - prepare:
  - run: { workload: transfer, mode: ` + mode + `, threads: 4, events: 300 }
  - verify:
`
		carryOut(t, page).done(t)
		o := carryOut(t, page+"  - sql: UPDATE sbtest2 SET k = k + 1 WHERE id = 7\n  - verify:\n")
		if len(o.errs) != 1 || !strings.Contains(o.errs[0], "p.yaml:8:5: verify: the sum of k over all tables is ") {
			t.Errorf("%s: half a transfer is not found: %q", mode, o.errs)
		}
	}
}

// TestVerifyForgetsTheTotal: what may have changed it by right is not held against it.
func TestVerifyForgetsTheTotal(t *testing.T) {
	carryOut(t, `
tables: { schema: sbtest, count: 2, rows: 200 }
steps:
  - prepare:
  - run: { workload: transfer, threads: 2, events: 50 }
  - name: other
    run: { workload: oltp_update_index, threads: 2, events: 50 }
  - verify:
  - prepare:
  - name: again
    run: { workload: transfer, threads: 2, events: 50 }
  - verify:
`).done(t)
}

// TestTablesThatCannotBeMarked: tables of a plan's own CREATE TABLE are known by this run, on a server that takes no comment too.
func TestTablesOfAPlansOwnDDL(t *testing.T) {
	carryOut(t, `
tables:
  schema: sbtest_legacy
  rows: 100
  create_secondary: off
  create_table: |
    CREATE TABLE sbtest1(
      id int UNSIGNED NOT NULL auto_increment PRIMARY KEY,
      k INTEGER UNSIGNED DEFAULT '0' NOT NULL,
      c varCHAR(1200) DEFAULT '' NOT NULL,
      pad varCHAR(1200) DEFAULT '' NOT NULL
    ) partition by hash(id)
steps:
  - prepare:
  - run: { workload: oltp_legacy, threads: 2, range_size: 5, events: 20 }
  - verify:
  - prepare: { reuse: true }
  - prepare:
  - cleanup:
`).done(t)
}
