#!/usr/bin/env bash
# Go benchmarks of every package; the speed of the lens as multiples of other work in the same run, and of deciding on
# thousands of suggestions beside that of the disk; the review page of thousands of suggestions; then the measurements
# on a real mount under tests/bench.
#
#   BENCH      regular expression of benchmarks (default all)
#   BENCHTIME  as go test -benchtime (default 1s)
set -euo pipefail
export RELAYFS_TESTS=all
cd "$(dirname "$0")/../.."

go test -run '^$' -bench "${BENCH:-.}" -benchtime "${BENCHTIME:-1s}" -benchmem ./...
go test -count 1 -run '^TestRatios$' -v ./diffwrap -diffwrap.ratios
go test -count 1 -run '^TestDecideOnALargeVault$' -v ./tests/review
go test -count 1 -run '^Test(Timed)?ReviewPageOfALarge' -v ./tests/page
go test -count 1 -run '^TestTimedServerKeystroke$' -v ./tests/servers
if [[ -x tests/bench/run.sh ]]; then tests/bench/run.sh; fi
