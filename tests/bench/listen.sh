#!/usr/bin/env bash
# Measures the embedded server against y-websocket's own in Node; see listen/main.go.
set -euo pipefail
cd "$(dirname "$0")/../.."
[[ -d tests/servers/node_modules ]] || npm ci --prefix tests/servers --no-audit --no-fund --loglevel=error >&2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
go build -o "$work/relayfs" ./cmd/relayfs
go build -o "$work/bench" ./tests/bench/listen
"$work/bench" -relayfs "$work/relayfs" -dir "$work" -node tests/servers "$@"
