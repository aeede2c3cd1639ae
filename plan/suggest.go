package plan

import (
	"slices"
	"strings"
)

// others maps the words of other tools to this language's, so that "did you mean" knows them. Keys are in snake_case.
var others = map[string]string{
	"time": "duration", "max_time": "duration", "run_time": "duration", "seconds": "duration",
	"max_requests": "events", "max_request": "events", "requests": "events",
	"num_threads": "threads", "clients": "threads", "concurrency": "threads", "connections": "threads",
	"write_threads": "threads: {write: …}", "read_threads": "threads: {read: …}",
	"update_threads": "threads: {update: …}", "delete_threads": "threads: {delete: …}",
	"table_size": "rows (in tables)", "oltp_table_size": "rows (in tables)",
	"tables": "tables: {count: …} of the plan or the group", "oltp_tables_count": "count (in tables)", "table_count": "count (in tables)",
	"mysql_table_engine": "engine (in tables)", "mysql_storage_engine": "engine (in tables)", "storage_engine": "engine",
	"file_num": "count (in files)", "file_total_size": "total_size (in files)",
	"mysql_range_order": "order", "mysql_enable_xa": "xa",
	"report_interval": "interval", "tx_rate": "rate", "warmup_time": "warmup", "warm_up": "warmup",
	"db_ps_mode": "ps_mode", "mysql_ignore_errors": "on_error", "ignore_errors": "on_error",
	"host": "address", "port": "address (host:port)", "mysql_host": "address", "mysql_port": "address (host:port)",
	"mysql_socket": "socket", "mysql_user": "user", "username": "user", "mysql_password": "password", "mysql_db": "database", "db": "database", "schema_name": "database",
	"url": "get, put, post, patch or delete: URL", "method": "get, put, post, patch or delete: URL", "columns": "metrics",
	"script": "shell", "command": "shell", "exec": "shell", "sleep": "wait", "query": "sql", "benchmark": "run", "test": "run",
	"setup": "prepare", "load": "prepare", "teardown": "cleanup", "variables": "vars", "when": "if",
	"tasks": "steps", "stages": "steps", "jobs": "steps", "always": "finally", "after": "finally", "retries": "retry", "repeats": "repeat",
}

// didYouMean gives `, did you mean "x"?` for a word close to one of those that are known, or known under another tool's name; else nothing.
func didYouMean(word string, known []string) string {
	if s := Suggest(word, known); s != "" {
		return `; did you mean "` + s + `"?`
	}
	return ""
}

// Suggest gives the known word that was meant by a mistyped one, or by another tool's name for it; empty where none is close.
func Suggest(word string, known []string) string {
	snake := strings.ToLower(strings.ReplaceAll(word, "-", "_"))
	if slices.Contains(known, snake) {
		return snake
	}
	for _, prefix := range []string{"oltp_", "mysql_", "db_"} { // sysbench's
		if name, cut := strings.CutPrefix(snake, prefix); cut && slices.Contains(known, name) {
			return name
		}
	}
	if other, ok := others[snake]; ok {
		name, _, _ := strings.Cut(other, ":")
		name, _, _ = strings.Cut(name, " ")
		if slices.Contains(known, name) && strings.HasSuffix(other, ")") {
			return name // "rows (in tables)", and these are the keys of tables
		}
		if slices.Contains(known, name) || slices.Contains(known, "workload") && strings.Contains(other, "tables") {
			return other
		}
	}
	if len(snake) < 2 || strings.Trim(snake, "0123456789") == "" {
		return "" // every number is close to another
	}
	best, bestDistance := "", 1+len([]rune(snake))/3
	for _, k := range known {
		if d := distance(snake, k); d < bestDistance || d == bestDistance && best == "" {
			best, bestDistance = k, d
		}
	}
	return best
}

// distance is the Damerau-Levenshtein distance (optimal string alignment): insertions, deletions, substitutions and swaps of neighbours.
func distance(a, b string) int {
	s, t := []rune(a), []rune(b)
	if len(s) > 64 || len(t) > 64 {
		return 64
	}
	rows := make([][]int, len(s)+1)
	for i := range rows {
		rows[i] = make([]int, len(t)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(s); i++ {
		for j := 1; j <= len(t); j++ {
			cost := 1
			if s[i-1] == t[j-1] {
				cost = 0
			}
			rows[i][j] = min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+cost)
			if i > 1 && j > 1 && s[i-1] == t[j-2] && s[i-2] == t[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(s)][len(t)]
}
