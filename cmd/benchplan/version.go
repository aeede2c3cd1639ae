package main

import (
	"context"
	"os"
	"runtime"
	"runtime/debug"

	"benchplan/results"
	"benchplan/steps/monitor"
)

// toolVersion tells which benchplan this is, from what the Go toolchain put into the program.
func toolVersion() results.Tool {
	t := results.Tool{Version: "devel", Go: runtime.Version()}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return t
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		t.Version = v
	}
	dirty := false
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			t.Commit = s.Value
		case "vcs.modified":
			dirty = s.Value == "true"
		}
	}
	if dirty && t.Commit != "" {
		t.Commit += "+changes"
	}
	return t
}

// thisHost tells what machine drives the load. What it does not show stays empty.
func thisHost() results.Host {
	h, err := monitor.Local().Identity(context.Background(), ".")
	if err != nil { // there are no figures of such a machine; each cell's record says so
		h.Name, _ = os.Hostname()
		h.OS, h.CPUs = runtime.GOOS+"/"+runtime.GOARCH, runtime.NumCPU()
	}
	h.GOMAXPROCS = runtime.GOMAXPROCS(0)
	return h
}
