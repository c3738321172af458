#!/usr/bin/env bash
# Runs every native fuzz target of the module for FUZZTIME (default 30s) each, then the property tests for longer than
# the tests do. What a fuzzer finds is kept by Go under the package's testdata/fuzz and belongs into the repository.
#
#   fuzz.sh [PACKAGE...]   only the fuzz targets of these packages
#   LAW_ROUNDS             rounds of the lens laws per alphabet (default 500000)
#   SCENARIOS              random histories to compare with the real yjs (default 10000)
set -euo pipefail
cd "$(dirname "$0")/../.."

FUZZTIME=${FUZZTIME:-30s}
properties=0
(($#)) || { set -- ./...; properties=1; }

failed=0
for pkg in $(go list "$@"); do
	for target in $(go test -list '^Fuzz' "$pkg" | grep '^Fuzz' || true); do
		echo "fuzz: $pkg $target for $FUZZTIME"
		go test -run '^$' -fuzz "^$target\$" -fuzztime "$FUZZTIME" -fuzzminimizetime=10x "$pkg" || failed=$((failed + 1))
	done
done
if ((properties)); then
	echo "fuzz: lens laws"
	go test -run 'TestLaws|TestLineHistory' -timeout 2h ./diffwrap -diffwrap.rounds "${LAW_ROUNDS:-500000}" || failed=$((failed + 1))
	echo "fuzz: histories compared with yjs"
	go test -run TestYjs -timeout 2h ./bridge/ycrdt -yjs.scenarios "${SCENARIOS:-10000}" || failed=$((failed + 1))
fi
((failed == 0)) || { echo "fuzz: $failed targets failed" >&2; exit 1; }
