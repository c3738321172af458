#!/usr/bin/env bash
# Eight read, four write and a person saves on a real mount for SOAKTIME seconds (default 600). Then RELAYFS_KILLS kills
# (default 300) during saves of all shapes and edits by people. All with the race detector in the binary. Every test
# prints its seed; the first failure ends it.
set -euo pipefail
cd "$(dirname "$0")/../.."

SOAKTIME=${SOAKTIME:-600}
export RELAYFS_RACE=1
export RELAYFS_TESTS=all
export RELAYFS_KILLS=${RELAYFS_KILLS:-300}
RELAYFS_SOAK=${SOAKTIME}s go test -count=1 -timeout $((SOAKTIME + 600))s -v -run 'TestSoak$' ./tests/crash
go test -count=1 -p 1 -timeout 60m -v -run 'Kill|Between|Twice|Whole|Vanished|Shutdown' ./tests/...
# What make test repeats less often, or on fewer servers, and reads and writes beside a person who types on a busy machine.
RELAYFS_SOAK=${SOAKTIME}s go test -count=1 -p 1 -timeout 60m -v -run 'RemovedStaysRemoved|ReadsAreNotTorn|WritesBesideTyping|ServerManyNotes' ./tests/save ./tests/servers
# Clients of a server on a network that loses, repeats, delays and cuts, for CHAOSTIME seconds (default 1800); three kinds of server.
CHAOSTIME=${CHAOSTIME:-1800}
RELAYFS_SOAK=${CHAOSTIME}s go test -count=1 -parallel 3 -timeout $((CHAOSTIME + 900))s -v -run 'TestChaos$' ./bridge/remote
# Random sequences of everything that happens to a note, against a model.
RELAYFS_SEED=${RELAYFS_SEED:-$(date +%s%N)} RELAYFS_SEQUENCES=${RELAYFS_SEQUENCES:-100000} go test -count=1 -timeout 24h -v -run 'TestSequences$' ./tests/model
echo "soak: done in $SECONDS s"
