# The two commands that matter: `make demo` runs the quickstart on a private server, `make test` passes all tests.
# Both bring the database server by Debian package where none is installed, and say so; the tests bring an sshd likewise.

SHELL := /bin/bash
GO    ?= go
BIN   := bin/benchplan
# The race detector needs a C compiler; without one the tests run without it.
RACE  := $(shell command -v gcc cc >/dev/null 2>&1 && echo -race)
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2

.PHONY: all build demo test soak lint fuzz aa browser clean

all: build

build:
	$(GO) build -o $(BIN) ./cmd/benchplan

demo: build
	@server=$$(.ci/server) && BENCHPLAN_SERVER="$$server" $(BIN) run plans/quickstart.yaml

test:
	@.ci/sysbench; server=$$(.ci/server) && sshd=$$(.ci/sshd) && \
	BENCHPLAN_SERVER="$$server" BENCHPLAN_SSHD="$$sshd" $(GO) test $(RACE) -timeout 15m ./...

# What takes minutes: the tests whose names begin with TestSoak, in the packages of SOAK.
SOAK ?= ./cmd/benchplan ./workloads/engine
soak:
	@server=$$(.ci/server) && BENCHPLAN_SERVER="$$server" \
	$(GO) test -tags soak -run Soak -timeout 3h -count 1 -v $(SOAK)

lint:
	@unformatted=$$(gofmt -l $$(git ls-files '*.go')); \
	if [ -n "$$unformatted" ]; then echo "gofmt would change: $$unformatted"; exit 1; fi
	$(GO) vet ./...
	$(GO) vet -tags aa,browser,soak ./cmd/benchplan ./results/render ./workloads/engine
	$(GO) run $(STATICCHECK) ./...

# Each fuzz target of the plan reader for FUZZTIME.
FUZZTIME ?= 1m
fuzz:
	@for target in $$($(GO) test ./plan -list '^Fuzz' | grep '^Fuzz'); do \
		$(GO) test ./plan -run '^$$' -fuzz "^$$target$$" -fuzztime $(FUZZTIME) || exit 1; \
	done

# The same scenario against itself on the real server, AATRIALS times at twelve seconds each: how often it is taken for another one.
AATRIALS ?= 40
aa:
	@server=$$(.ci/server) && BENCHPLAN_SERVER="$$server" \
	$(GO) test -tags aa -timeout 2h ./cmd/benchplan -run '^TestFalseAlarmsOnServer$$' -count 1 -v -aa.trials $(AATRIALS)

# The HTML report in headless Chromium (which has to be installed): three widths, both colour schemes, keyboard, paper, nothing fetched.
browser:
	$(GO) test -tags browser -run TestPage -count 1 ./results/render

clean:
	rm -rf bin
