# Thin names for small scripts; CI calls the same ones.
GO ?= go
PREFIX ?= /usr/local

.PHONY: build package snapshot demo test test-loaded lint fuzz interop picture marks tokens bench soak install clean help

build: ## build ./relayfs
	$(GO) build -trimpath -o relayfs ./cmd/relayfs

package: ## packages for Linux (deb, rpm, apk; amd64 and arm64) in dist/packages: ARCHS=amd64 for one processor
	packaging/package.sh

snapshot: ## everything that a release holds, by goreleaser, in dist/release and dist/packages; what it needs is fetched first, and the release made without a network
	packaging/tools.sh nfpm cyclonedx-gomod goreleaser
	$(GO) mod download
	GOPROXY=off dist/tools/goreleaser release --snapshot --clean
	RELAYFS_SNAPSHOT=$(CURDIR)/dist/release $(GO) test -count 1 -run TestSnapshot ./tests/packages

demo: ## install FUSE if it is missing, build, and show the main job on a copy of the sample vault
	tests/scripts/deps.sh demo
	$(MAKE) build
	tests/scripts/demo.sh

test: ## install what is missing, lint, run every test
	tests/scripts/test.sh

test-loaded: ## make test beside a load of processors and disks, with the tests' limits of time scaled
	tests/scripts/test-loaded.sh

lint: ## gofmt, go vet, staticcheck
	tests/scripts/lint.sh

fuzz: ## every fuzz target for FUZZTIME (30s)
	tests/scripts/fuzz.sh

interop: ## the tests against other implementations: yjs in Node, CriticMarkup parsers, MCP clients
	tests/scripts/interop.sh

picture: build ## make the moving picture of README.md anew
	PATH="$(CURDIR):$$PATH" tests/scripts/picture.py docs/session.svg

marks: ## what the marks of 20,000 edits do to pages, beside those of git and go-diff (EDITS, SEED, KIND, SHOW)
	tests/scripts/marks.sh

tokens: ## about how many tokens each MCP tool and toolset costs a model
	$(GO) test ./mcpserver -run TestTokens -v -count 1

bench: ## benchmarks
	tests/scripts/bench.sh

soak: ## hours of random tests, kills, servers on bad networks and fuzzing (SOAKTIME, 14400 s); it resumes, and keeps what it finds in dist/soak
	tests/scripts/soak.sh

install: build ## copy the binary to $(PREFIX)/bin
	install -D -m 755 relayfs $(DESTDIR)$(PREFIX)/bin/relayfs

clean: ## remove what make built and installed below this directory
	rm -f relayfs
	rm -rf dist
	rm -rf tests/peer/node_modules tests/critic/node_modules

help: ## this list
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 13
