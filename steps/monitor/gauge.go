package monitor

import (
	"slices"
	"strings"
)

// isGauge tells that a status variable shows how much there is at the moment (threads, pages, memory), a highest value, a mean or a clock:
// its difference says nothing. The names are those of MySQL up to 9 and MariaDB up to 12.
func isGauge(name string) bool {
	if slices.Contains(gauges, name) {
		return true
	}
	for _, p := range gaugePrefixes {
		if strings.HasPrefix(name, p) {
			return true
		}
	}
	for _, s := range gaugeSuffixes {
		if strings.HasSuffix(name, s) {
			return true
		}
	}
	return strings.Contains(name, "_pending_")
}

var gauges = []string{
	"binlog_snapshot_position", "delayed_insert_threads", "error_log_buffered_bytes", "error_log_latest_write", "innodb_available_undo_logs",
	"innodb_ibuf_free_list", "last_query_cost", "max_memory_used", "max_used_connections", "not_flushed_delayed_rows", "prepared_stmt_count",
	"qcache_queries_in_cache", "qcache_total_blocks", "rpl_semi_sync_master_wait_sessions", "rpl_semi_sync_source_wait_sessions",
	"slave_open_temp_tables", "replica_open_temp_tables", "tc_log_max_pages_used", "threads_cached", "uptime", "uptime_since_flush_status",
	"wsrep_apply_window", "wsrep_cert_deps_distance", "wsrep_cert_interval", "wsrep_commit_window", "wsrep_local_index", "wsrep_local_state",
}

var gaugePrefixes = []string{
	"acl_", "aria_pagecache_blocks_", "innodb_checkpoint_", "innodb_mem_", "innodb_onlineddl_", "innodb_undo_tablespaces_", "key_blocks_",
	"memory_used", "open_", "qcache_free_", "threadpool_", "wsrep_cluster_",
}

var gaugeSuffixes = []string{
	"_active_instances", "_avg", "_bytes_data", "_bytes_dirty", "_clients", "_connected", "_current_row_locks", "_current_waits", "_list_length",
	"_longest_seen", "_max", "_memory", "_min", "_open_files", "_pages_data", "_pages_dirty", "_pages_free", "_pages_latched", "_pages_misc",
	"_pages_old", "_pages_total", "_queue", "_queue_size", "_running", "_size", "_thread_count", "_threads", "_threads_active",
}
