# The two commands that matter: `make demo` runs the quickstart on a private server, `make test` passes all tests.
# Both bring the database server by Debian package where none is installed, and say so; the tests bring an sshd likewise.

SHELL := /bin/bash
GO    ?= go
BIN   := bin/benchplan
# The race detector needs a C compiler; without one the tests run without it.
RACE  := $(shell command -v gcc cc >/dev/null 2>&1 && echo -race)
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2

.PHONY: all build demo test lint fuzz vulncheck bench aa soak browser clean

all: build

build:
	$(GO) build -o $(BIN) ./cmd/benchplan

demo: build
	@server=$$(.ci/server) && BENCHPLAN_SERVER="$$server" $(BIN) run plans/quickstart.yaml

test:
	@.ci/sysbench; server=$$(.ci/server) && sshd=$$(.ci/sshd) && \
	BENCHPLAN_SERVER="$$server" BENCHPLAN_SSHD="$$sshd" $(GO) test $(RACE) -timeout 15m ./...

lint:
	@unformatted=$$(gofmt -l $$(git ls-files '*.go')); \
	if [ -n "$$unformatted" ]; then echo "gofmt would change: $$unformatted"; exit 1; fi
	$(GO) vet ./...
	$(GO) vet -tags aa,browser,soak ./cmd/benchplan ./results/render ./workloads/engine
	$(GO) run $(STATICCHECK) ./...

# Each fuzz target (plans, answers of servers, expressions, run folders, what is printed of them) for FUZZTIME, and a run folder damaged at every byte.
FUZZTIME ?= 1m
fuzz:
	@for package in $$(git grep -l '^func Fuzz' -- '*_test.go' | xargs -n1 dirname | sort -u); do \
		for target in $$($(GO) test ./$$package -list '^Fuzz' | grep '^Fuzz'); do \
			echo "$$package $$target"; \
			$(GO) test ./$$package -run '^$$' -fuzz "^$$target$$" -fuzztime $(FUZZTIME) || exit 1; \
		done; \
	done
	$(GO) test ./results -run '^TestDamageIsTold$$' -count 1 -timeout 1h -every-byte

# What is known to be wrong with the modules and the Go version in use. It asks vuln.go.dev, so it is no part of what has to pass.
GOVULNCHECK := golang.org/x/vuln/cmd/govulncheck@v1.9.0
vulncheck:
	$(GO) run $(GOVULNCHECK) ./...

# benchplan and sysbench in turn on a private server: the short form, or with LONG=1 that for the record. BENCH holds more flags:
# make bench BENCH='-workload oltp_point_select -clients 64,256 -json raw.json'
bench: build
	@.ci/sysbench; server=$$(.ci/server) && $(GO) build -o bin/peerbench ./cmd/peerbench && \
	BENCHPLAN_SERVER="$$server" bin/peerbench -go "$(GO)" $(if $(LONG),-long) $(BENCH)

# The same scenario against itself on the real server, AATRIALS times at twelve seconds each: how often it is taken for another one.
AATRIALS ?= 40
aa:
	@server=$$(.ci/server) && BENCHPLAN_SERVER="$$server" \
	$(GO) test -tags aa -timeout 2h ./cmd/benchplan -run '^TestFalseAlarmsOnServer$$' -count 1 -v -aa.trials $(AATRIALS)

# What takes too long for `make test`: the tests whose names hold Soak. SOAK narrows them, SOAKIN is where they are, and SOAKFLAGS are
# passed on (-kill.seed N, which only ./cmd/benchplan knows).
SOAK ?= Soak
SOAKIN ?= ./cmd/benchplan ./workloads/engine
SOAKFLAGS ?=
soak:
	@server=$$(.ci/server) && BENCHPLAN_SERVER="$$server" \
	$(GO) test -tags soak -timeout 3h $(SOAKIN) -run '$(SOAK)' -count 1 -v $(SOAKFLAGS)

# The HTML report in headless Chromium (which has to be installed): three widths, both colour schemes, keyboard, paper, nothing fetched.
browser:
	$(GO) test -tags browser -run TestPage -count 1 ./results/render

clean:
	rm -rf bin
