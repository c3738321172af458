#!/usr/bin/env bash
# Runs every native fuzz target of the module for FUZZTIME (default 30s) each. What a fuzzer finds is kept by Go under the
# package's testdata/fuzz and belongs into the repository. `make soak` runs them for longer, and the tests of random input.
#
#   fuzz.sh [PACKAGE...]   only the fuzz targets of these packages
set -euo pipefail
cd "$(dirname "$0")/../.."

FUZZTIME=${FUZZTIME:-30s}
(($#)) || set -- ./...

failed=0
for pkg in $(go list "$@"); do
	for target in $(go test -list '^Fuzz' "$pkg" | grep '^Fuzz' || true); do
		echo "fuzz: $pkg $target for $FUZZTIME"
		go test -run '^$' -fuzz "^$target\$" -fuzztime "$FUZZTIME" -fuzzminimizetime=10x "$pkg" || failed=$((failed + 1))
	done
done
((failed == 0)) || { echo "fuzz: $failed targets failed" >&2; exit 1; }
