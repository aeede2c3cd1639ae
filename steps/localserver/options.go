package localserver

import (
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
)

// The defaults make the server small and quick to start, and take nothing of its durability: commits are synced.
var (
	mariadbDefaults = []string{
		"innodb-buffer-pool-size=64M",
		"innodb-log-file-size=16M",
		"innodb-data-file-path=ibdata1:12M:autoextend",
		"innodb-temp-data-file-path=ibtmp1:12M:autoextend",
		"performance-schema=OFF",
		"skip-log-bin",
		"skip-name-resolve",
		"key-buffer-size=1M",
		"aria-pagecache-buffer-size=8M",
		"aria-log-file-size=8M",
		"local-infile=ON",
	}
	mysqlDefaults = []string{
		"innodb-buffer-pool-size=64M",
		"loose-innodb-redo-log-capacity=16M", // from 8.0.30 on
		"performance-schema=OFF",
		"skip-log-bin",
		"skip-name-resolve",
		"loose-mysqlx=OFF", // a port of its own, from 8.0 on
		"local-infile=ON",
		"secure-file-priv=", // packages compile in a folder that only the system's server may open
	}
)

// reserved are the options by which the server is held: were they the user's, it could not be reached or ended any more.
var reserved = []string{
	"basedir", "bind-address", "bootstrap", "console", "daemonize", "datadir", "defaults-extra-file", "defaults-file",
	"defaults-group-suffix", "gdb", "help", "initialize", "initialize-insecure", "log-error", "networking", "no-defaults",
	"no-monitor", "pid-file", "port", "print-defaults", "socket", "user", "verbose", "version",
}

// optionPattern is what a server takes as an option's name.
var optionPattern = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_.-]*$`)

// baseName gives what an option is about, so that log_bin, skip-log-bin and loose-log-bin are told to be one.
func baseName(name string) string {
	name = strings.ReplaceAll(strings.ToLower(name), "_", "-")
	name = strings.TrimPrefix(name, "loose-")
	for _, prefix := range []string{"skip-", "disable-", "enable-"} {
		if rest, ok := strings.CutPrefix(name, prefix); ok {
			return rest
		}
	}
	return name
}

// checkOptions refuses what is no option's name, what is benchplan's to set, and two spellings of one option.
func checkOptions(options map[string]string) error {
	spelled := make(map[string]string, len(options))
	for _, name := range slices.Sorted(maps.Keys(options)) {
		base := baseName(name)
		if !optionPattern.MatchString(name) {
			return fmt.Errorf("server option %q: that is not the name of an option: write it as innodb_buffer_pool_size, without dashes in front", name)
		}
		if slices.Contains(reserved, base) {
			return fmt.Errorf("server option %s: benchplan sets it itself for a private server", name)
		}
		if other, ok := spelled[base]; ok {
			return fmt.Errorf("server options %s and %s are the same one: keep one of them", other, name)
		}
		spelled[base] = name
	}
	return nil
}

// overlay lays options over others: what is about the same replaces, whatever the spelling.
func overlay(under, over map[string]string) map[string]string {
	result := make(map[string]string, len(under)+len(over))
	maps.Copy(result, over)
	for name, value := range under {
		if !hasOption(over, baseName(name)) {
			result[name] = value
		}
	}
	return result
}

// hasOption tells whether an option of that base name is among them.
func hasOption(options map[string]string, base string) bool {
	for name := range options {
		if baseName(name) == base {
			return true
		}
	}
	return false
}

// argument writes an option for the command line, in the user's own spelling so that the server's complaint shows it.
func argument(name, value string) string {
	// --log-bin takes a file name: "ON" would be one, and so would "OFF".
	if baseName(name) == "log-bin" && strings.ReplaceAll(name, "_", "-") == "log-bin" {
		switch strings.ToLower(value) {
		case "off", "0", "false", "no":
			return "--skip-log-bin"
		case "on", "1", "true", "yes":
			return "--log-bin"
		}
	}
	if value == "" && !takesEmpty[baseName(name)] {
		return "--" + name
	}
	return "--" + name + "=" + value
}

// takesEmpty are the options for which an empty value means something else than no value.
var takesEmpty = map[string]bool{"secure-file-priv": true, "sql-mode": true, "init-connect": true}

// tuning gives the arguments that make the server what it is: the defaults, the limits, and the user's options over them.
func (c Config) tuning(family Family, home string, options map[string]string) []string {
	defaults := mariadbDefaults
	if family == MySQL {
		defaults = mysqlDefaults
	}
	// Temporary tables go where the data are: /tmp may be a small disk, or memory.
	defaults = slices.Concat(defaults, c.limitOptions(), []string{"tmpdir=" + tmpFolder(home)})
	var args []string
	for _, option := range defaults {
		name, _, _ := strings.Cut(option, "=")
		if !hasOption(options, baseName(name)) {
			args = append(args, "--"+option)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(options)) {
		args = append(args, argument(name, options[name]))
	}
	return args
}

// placement gives the arguments that say where data and program are, and as whom it runs.
func (p Program) placement(home string) []string {
	args := []string{"--datadir=" + dataFolder(home)}
	// MySQL finds its installation from its own path; MariaDB goes by what was compiled into it.
	if p.Family == MariaDB && p.installed.messages != "" {
		args = append(args, "--basedir="+p.installed.base, "--lc-messages-dir="+p.installed.messages)
	}
	// The server refuses to run as root unless told so. As any other user it would be in vain to name one.
	if os.Geteuid() == 0 {
		args = append(args, "--user=root")
	}
	return args
}
