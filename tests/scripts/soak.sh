#!/usr/bin/env bash
# Kills, writes, merges and edits by people on a real mount, over and over for SOAKTIME seconds (default 600), with the
# race detector in the binary. Every round prints its seed; the first failure ends it.
set -euo pipefail
cd "$(dirname "$0")/../.."

SOAKTIME=${SOAKTIME:-600}
export RELAYFS_RACE=1
rounds=0
until ((SECONDS >= SOAKTIME)); do
	go test -count=1 -timeout 10m -run 'Kill|Between|Twice|Whole|Vanished|Shutdown|Soak' ./tests
	rounds=$((rounds + 1))
done
echo "soak: $rounds rounds in $SECONDS s"
