#!/usr/bin/env bash
# The tests against other people's programs: yjs in Node, the CriticMarkup parsers, ripgrep, MCP clients.
set -euo pipefail
cd "$(dirname "$0")/../.."

tests/scripts/deps.sh test
export RELAYFS_TESTS=all
# -p 1: a package after the other, since those below tests measure time.
go test -count=1 -p 1 -v -timeout 20m -run 'Yjs|Fixtures|Critic|Parsers|Ripgrep|Conformance|Inspector|TypeScript' ./...
