#!/usr/bin/env bash
# Measures a real mount against tmpfs, the vault's own disk and a loopback mount; see mount/main_test.go. It takes flags
# of go test: -run TestMount/save, -mount.notes 3000.
set -euo pipefail
export RELAYFS_TESTS=all
cd "$(dirname "$0")/../.."
go test -count 1 -timeout 0 -v ./tests/bench/mount -mount.measure "$@" | grep -v '^ *\(===\|---\) '
