#!/usr/bin/env bash
# Measures the CRDT engine against yrs and diamond-types, which cargo builds, and a first sync against yjs's client.
set -euo pipefail
export RELAYFS_TESTS=all
cd "$(dirname "$0")/../.."
if command -v cargo >/dev/null; then
	export RELAYFS_CRDT=${XDG_CACHE_HOME:-$HOME/.cache}/relayfs-tests/crdt
	cargo build --release --locked --quiet --manifest-path tests/bench/crdt/Cargo.toml --target-dir "$RELAYFS_CRDT"
	go test -run '^$' -bench '^BenchmarkNative$' -benchtime 1x ./bridge/ycrdt
else
	echo "No cargo (https://rustup.rs), so no comparison with yrs and diamond-types."
fi
go test -run '^$' -bench '^BenchmarkFirstSync$/^y-websocket$/^2000$' -benchtime 3x ./bridge/remote
