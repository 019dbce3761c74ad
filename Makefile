# redrive. `make help` lists what there is. A clone needs Go, git and make; nothing below needs root, and `make test` asks
# for PostgreSQL's server programs when they are missing.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

# Tools, pinned, run from the module proxy (they are nobody's dependency).
GOFUMPT       := mvdan.cc/gofumpt@v0.12.0
STATICCHECK   := honnef.co/go/tools/cmd/staticcheck@v0.8.2
WORKFLOWCHECK := go.temporal.io/sdk/contrib/tools/workflowcheck@v0.6.0

# The nested module is compiled with testsuite/devserver/build.sh's flags: others share nothing with its cache, and the
# server is a thousand packages. `test` does not vet it again: lint does, and each kind of vet takes minutes when cold.
DEVSERVER       := testsuite/devserver
SPEED           := redaction/measure/speed
DEVSERVER_FLAGS := -gcflags=all=-dwarf=false

# Two test binaries at a time on two cores; within one, tests that wait for timers and servers may overlap further.
TEST_FLAGS := -json -count=1 -timeout=20m -p=2 -parallel=4

# What reads ../shared/data carries the build tag corpus and the name TestCorpus…, and finds it by this variable.
export REDRIVE_CORPUS ?= $(abspath ../shared/data)
CORPUS_PACKAGES = $(sort $(dir $(shell grep -rl --include='*_test.go' '^//go:build corpus' . 2>/dev/null)))

.PHONY: help
help: ## list these targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | while IFS=$$'\t' read -r name text; do printf '  make %-14s %s\n' "$$name" "$$text"; done

.PHONY: demo
demo: build ## the whole story on an embedded Temporal; ends by itself, and its exit code tells
	bin/redrive dev --demo --report demo-report.json

.PHONY: dev
dev: build ## the same, but it stays up and prints its addresses
	bin/redrive dev --demo --stay --report demo-report.json

.PHONY: build
build: bin/redrive bin/devserver ## bin/redrive, and bin/devserver (the embedded Temporal: minutes the first time)

# Both are always asked: Go's build cache and build.sh know better than make what is up to date.
.PHONY: bin/redrive
bin/redrive:
	@mkdir -p bin
	go build -o $@ ./cmd/redrive

.PHONY: bin/devserver
bin/devserver:
	@$(DEVSERVER)/build.sh

# Built, not `go run`: that adds lines after the last one, and stands between Ctrl-C and the tests.
.PHONY: bin/test-tools
bin/test-tools:
	@mkdir -p bin
	@go build -o bin/testline ./internal/testline
	@go build -o bin/with-postgres ./testsuite/pg/run

# The browser of the pages' tests. Where it is missing it is installed if that asks nobody (root, with apt-get); otherwise one
# line says what to type, and its tests are skipped, or fail under CI=true.
.PHONY: chromium
chromium:
	@if ! command -v chromium chromium-browser google-chrome >/dev/null; then \
	  echo "chromium: the tests of pages need it, and it is not here: apt-get update, apt-get install chromium"; \
	  if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	    apt-get -qq update && DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends chromium >/dev/null; \
	  fi || echo "chromium: it could not be installed"; \
	fi

.PHONY: test
test: build bin/test-tools chromium ## every test of both modules, nothing skipped
	@bin/with-postgres -- bin/testline -- go test $(TEST_FLAGS) ./... -- go -C $(DEVSERVER) test $(DEVSERVER_FLAGS) -vet=off $(TEST_FLAGS) ./...

.PHONY: test-unit
test-unit: bin/test-tools ## the tests that need no services, in less than a minute
	@bin/testline -allow-skips -- go test -short -json -timeout=1m ./...

# Leases, counting and the ledger: the units, both stores' ledger suites, and the tests with real processes.
LEASE_TESTS := Lease|Heartbeat|Suspect|Progress|Stall|Carry|Backoff|AttemptLog|Once|Effect|Ledger|Reconcil|Purge|KeyTTL|Dedupe|Metrics|Timeouts|Frozen|CutOff|Outage|LongJob|Drain|Resume|Killed|Kills|Throttl|FailTogether|Hostile|Terminated|Poison

.PHONY: test-leases
test-leases: build bin/test-tools ## what concerns leases, attempts and effects, alone
	@bin/with-postgres -- bin/testline -- go test $(TEST_FLAGS) -run='$(LEASE_TESTS)' ./job ./activities ./worker ./store/... ./telemetry ./internal/wire ./testsuite/integration

.PHONY: test-redaction
test-redaction: bin/test-tools ## redaction alone: its rules, others' failures, measurement; the corpus where it is
	@bin/testline -- go test $(TEST_FLAGS) $(if $(wildcard $(REDRIVE_CORPUS)),-tags=corpus) ./redaction/...

.PHONY: test-privacy
test-privacy: build bin/test-tools chromium ## what concerns keys, encryption, the codec endpoint, the vault and erasure, alone
	@bin/with-postgres -- bin/testline -- go test $(TEST_FLAGS) -run='Privacy|Conformance/Audit|Conformance/Erase' ./job ./vault ./activities ./workflows ./admin ./store/... ./testsuite/integration

.PHONY: test-corpus
test-corpus: bin/test-tools ## the tests that read ../shared/data
	@bin/testline -empty 'no corpus tests yet' -- $(if $(CORPUS_PACKAGES),go test $(TEST_FLAGS) -tags=corpus -run='^TestCorpus' $(CORPUS_PACKAGES))

.PHONY: lint
lint: lint-format lint-vet lint-staticcheck lint-workflows lint-tree lint-tidy ## formatting, vet, staticcheck, workflowcheck, the tree's rules, tidy modules

.PHONY: lint-format
lint-format:
	@echo 'lint: gofumpt'
	@files=$$(go run $(GOFUMPT) -l .); if [ -n "$$files" ]; then echo "not formatted, run \`make fmt\`:"; echo "$$files"; exit 1; fi

.PHONY: lint-vet
lint-vet:
	@echo 'lint: go vet'
	@go vet -tags=corpus ./...
	@go -C $(DEVSERVER) vet $(DEVSERVER_FLAGS) ./...

# Not the nested module: it would analyse the server's thousand packages for a handful of files (four minutes of CPU, cold).
.PHONY: lint-staticcheck
lint-staticcheck:
	@echo 'lint: staticcheck'
	@go run $(STATICCHECK) -tags=corpus ./...

.PHONY: lint-workflows
lint-workflows:
	@echo 'lint: workflowcheck'
	@go run $(WORKFLOWCHECK) -config internal/archtest/workflowcheck.yaml ./workflows/...

.PHONY: lint-tree
lint-tree:
	@echo 'lint: import rules, file lengths, package comments, machine paths'
	@go test -count=1 ./internal/archtest

.PHONY: lint-tidy
lint-tidy:
	@echo 'lint: go mod tidy'
	@go mod tidy -diff
	@go -C $(DEVSERVER) mod tidy -diff
	@go -C $(SPEED) mod tidy -diff

.PHONY: bench
bench: ## the benchmarks
	@echo 'redaction, beside a token copy and gitleaks (processor time; a module of its own, for gitleaks has two hundred)'
	go -C $(SPEED) run .
	go test -run='^$$' -bench=. -benchmem ./...

.PHONY: fmt
fmt: ## format all Go files
	go run $(GOFUMPT) -w .

.PHONY: clean
clean: ## remove what was built and the demo's data
	rm -rf bin .data demo-report.json
