package target

import (
	"errors"
	"net"
	"slices"
	"strconv"
	"strings"

	"github.com/go-sql-driver/mysql"
)

// codeSyntax is the server's error number for a statement that it does not understand.
const codeSyntax = 1064

// serverError gives the server's error number; 0 for any other error.
func serverError(err error) uint16 {
	if server, ok := errors.AsType[*mysql.MySQLError](err); ok {
		return server.Number
	}
	return 0
}

// products are systems that speak MySQL's protocol and say who they are in their version or its comment.
var products = []string{"radon", "vitess", "tidb", "oceanbase", "polardb", "proxysql", "maxscale", "shardingsphere", "mycat", "dble", "aurora", "mariadb", "percona"}

// telling are global variables that tell what a server is part of, where they are not off.
var telling = []string{
	"read_only", "super_read_only", "log_bin", "sync_binlog", "gtid_mode", "gtid_domain_id", "rpl_semi_sync_master_enabled", "rpl_semi_sync_source_enabled",
	"wsrep_cluster_name", "group_replication_group_name", "aurora_version",
}

// topology asks what the server is part of: who replicates from whom, the members of a cluster, shards.
func (i *interview) topology() {
	found := map[string]string{}
	set := func(name, value string) {
		if value != "" {
			found[name] = value
		}
	}
	variables := i.server.Variables
	set("product", product(i.server.Version, i.server.VersionComment))
	galera := isOn(variables["wsrep_on"])
	for _, name := range telling {
		if value := variables[name]; isOn(value) && (galera || !strings.HasPrefix(name, "wsrep_")) {
			set(name, value)
		}
	}
	i.replication(set)
	if galera {
		i.galera(set)
	}
	if variables["group_replication_group_name"] != "" {
		i.group(set)
	}
	switch found["product"] {
	case "tidb":
		i.instances(set)
	case "vitess":
		i.shards(set)
	}
	if len(found) > 0 {
		i.server.Topology = found
	}
}

// product tells which system a version belongs to; empty for MySQL itself and what is not known.
func product(version, comment string) string {
	text := strings.ToLower(version + " " + comment)
	if n := slices.IndexFunc(products, func(name string) bool { return strings.Contains(text, name) }); n >= 0 {
		return products[n]
	}
	return ""
}

// isOn tells a setting that says something from one that is off or empty.
func isOn(value string) bool {
	return !slices.Contains([]string{"", "0", "OFF", "NO", "NO_LOCK", "NONE"}, strings.ToUpper(value))
}

// replication tells from where the server replicates, and how many replicate from it.
func (i *interview) replication(set func(name, value string)) {
	var sources, states []string
	i.ask(func(row map[string]string) {
		either := func(name string) string { return row["source_"+name] + row["master_"+name] }
		sources = append(sources, net.JoinHostPort(either("host"), either("port")))
		states = append(states, "io "+row["replica_io_running"]+row["slave_io_running"]+", sql "+row["replica_sql_running"]+row["slave_sql_running"])
	}, "SHOW REPLICA STATUS", "SHOW SLAVE STATUS")
	set("replica_of", strings.Join(sources, " "))
	set("replica_state", strings.Join(states, "; "))
	if !isOn(i.server.Variables["log_bin"]) {
		return // nobody can replicate from it
	}
	replicas := 0
	i.ask(func(map[string]string) { replicas++ }, "SHOW REPLICAS", "SHOW SLAVE HOSTS")
	if replicas > 0 {
		set("replicas", strconv.Itoa(replicas))
	}
}

// galera tells what the server says of its Galera cluster.
func (i *interview) galera(set func(name, value string)) {
	i.ask(func(row map[string]string) {
		switch name := strings.ToLower(row["variable_name"]); name {
		case "wsrep_cluster_size", "wsrep_cluster_status", "wsrep_local_state_comment", "wsrep_provider_version":
			set(name, row["value"])
		}
	}, "SHOW GLOBAL STATUS LIKE 'wsrep_%'")
}

// group lists the members of a replication group.
func (i *interview) group(set func(name, value string)) {
	var members []string
	i.ask(func(row map[string]string) {
		members = append(members, strings.TrimSpace(net.JoinHostPort(row["member_host"], row["member_port"])+" "+row["member_role"]+" "+row["member_state"]))
	}, "SELECT * FROM performance_schema.replication_group_members")
	slices.Sort(members)
	set("group_members", strings.Join(members, "; "))
}

// instances counts what a TiDB cluster consists of.
func (i *interview) instances(set func(name, value string)) {
	var counts []string
	i.ask(func(row map[string]string) { counts = append(counts, row["n"]+" "+row["t"]) },
		"SELECT TYPE AS t, COUNT(*) AS n FROM information_schema.CLUSTER_INFO GROUP BY TYPE ORDER BY TYPE")
	set("instances", strings.Join(counts, ", "))
}

// shards lists the shards of a Vitess keyspace.
func (i *interview) shards(set func(name, value string)) {
	var names []string
	i.ask(func(row map[string]string) {
		for _, name := range row { // it has one column, which is called by what was asked
			names = append(names, name)
		}
	}, "SHOW VITESS_SHARDS")
	slices.Sort(names)
	set("shards", strings.Join(names, ", "))
}
