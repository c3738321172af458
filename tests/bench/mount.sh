#!/usr/bin/env bash
# Measures a real mount against tmpfs, the vault's own disk and a loopback mount; see mount/main.go.
set -euo pipefail
cd "$(dirname "$0")/../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
go build -o "$work/relayfs" ./cmd/relayfs
go build -o "$work/bench" ./tests/bench/mount
"$work/bench" -relayfs "$work/relayfs" "$@"
