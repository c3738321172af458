#!/usr/bin/env bash
# Everything that must hold: installs what is missing, lints, and runs all tests. The last line is "N passed, N failed".
#
#   RELAYFS_TEST_TIMESCALE   how many times as long everything may take, on a busy machine
#   TIMEOUT   how long one package may take (default 20m, scaled)
#   RACE      packages to test with the race detector: those that start goroutines or are called by several
#   BOTH      those of them to test without it, too: their tests do less with it
#   COVER     a directory for coverage profiles of unit tests and of the program that the other tests drive
set -euo pipefail
cd "$(dirname "$0")/../.."

SCALE=${RELAYFS_TEST_TIMESCALE:-1}
TIMEOUT=${TIMEOUT:-$((20 * SCALE))m}
# As the packages are built: what both need is compiled once. Only the race detector needs C.
export GOFLAGS=${GOFLAGS--trimpath} CGO_ENABLED=0
# All that matters, at full size; without it `go test` runs a sample that needs Go alone.
export RELAYFS_TESTS=all
RACE=${RACE:-'/(bridge|bridge/remote/ysync|bridge/vault|bridge/store|bridge/owner|fusefs(/internal/[a-z]+)?|mcpserver|cmd/relayfs(/internal/(api|ports|reviewqueue|serving|tui))?)$'}
BOTH=${BOTH:-'/(bridge|bridge/store|mcpserver)$'}

tests/scripts/deps.sh test
echo "test: everything that the tests need was there or installed after $SECONDS s"

work=$(mktemp -d "${TMPDIR:-/tmp}/relayfs-test.XXXXXX")
chmod 755 "$work" # one test runs the program as another user
trap 'rm -rf "$work"' EXIT

cover=()
if [[ -n ${COVER-} ]]; then
	mkdir -p -m 777 "$COVER/program" # programs that run as another user write there, too
	cover=(-cover -covermode=set -coverpkg=./cmd/...,./bridge/...,./fusefs/...,./mcpserver/...,./diffwrap/...)
	export GOCOVERDIR=$COVER/program
fi
# The packages below tests drive one program; without it each builds its own, and fails as this does.
if [[ -z ${RELAYFS_BINARY-} ]]; then
	race=()
	if [[ ${RELAYFS_RACE-} == 1 ]]; then race=(-race); fi
	if CGO_ENABLED=${RELAYFS_RACE:-0} go build "${race[@]}" "${cover[@]}" -o "$work/relayfs" ./cmd/relayfs; then export RELAYFS_BINARY=$work/relayfs; fi
fi

go build -o "$work/testall" ./tests/testall
"$work/testall" -timeout "$TIMEOUT" -race "$RACE" -both "$BOTH" ${COVER:+-cover "$COVER"}
