#!/usr/bin/env bash
# Go benchmarks of every package, then the measurements on a real mount under tests/bench.
#
#   BENCH      regular expression of benchmarks (default all)
#   BENCHTIME  as go test -benchtime (default 1s)
set -euo pipefail
cd "$(dirname "$0")/../.."

go test -run '^$' -bench "${BENCH:-.}" -benchtime "${BENCHTIME:-1s}" -benchmem ./...
if [[ -x tests/bench/run.sh ]]; then tests/bench/run.sh; fi
