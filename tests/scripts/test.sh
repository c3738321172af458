#!/usr/bin/env bash
# Everything that must hold: installs what is missing, lints, and runs all tests. The last line is "N passed, N failed".
#
#   RELAYFS_TEST_TIMESCALE   how many times as long everything may take, on a busy machine; results of earlier runs do not count then
#   TIMEOUT   how long one package may take (default 20m, scaled)
#   RACE      packages to test with the race detector: those that start goroutines or are called by several
set -euo pipefail
cd "$(dirname "$0")/../.."

SCALE=${RELAYFS_TEST_TIMESCALE:-1}
TIMEOUT=${TIMEOUT:-$((20 * SCALE))m}
# As the packages are built: what both need is compiled once.
export GOFLAGS=${GOFLAGS--trimpath}
# Without it the tests that need more than Go skip.
export RELAYFS_TESTS=all
fresh=()
if ((SCALE != 1)); then fresh=(-count=1); fi
RACE=${RACE:-'/(bridge|bridge/ysync|bridge/vault|bridge/store(/wal)?|bridge/owner|fusefs(/internal/[a-z]+)?|mcpserver|cmd/relayfs(/internal/[a-z]+)?)$'}

tests/scripts/deps.sh test
linted=0
tests/scripts/lint.sh || linted=1 # the tests run all the same

work=$(mktemp -d "${TMPDIR:-/tmp}/relayfs-test.XXXXXX")
trap 'rm -rf "$work"' EXIT
go build -o "$work/testsum" ./tests/testsum

# The packages below tests drive one binary; without it each builds its own, and fails as this does. One test runs it as another user.
if [[ -z ${RELAYFS_BINARY-} ]]; then
	chmod 755 "$work"
	race=()
	if [[ ${RELAYFS_RACE-} == 1 ]]; then race=(-race); fi
	if go build "${race[@]}" -o "$work/relayfs" ./cmd/relayfs; then export RELAYFS_BINARY=$work/relayfs; fi
fi

# run FLAG... PACKAGE... runs tests. Its exit code is in the stream of events: testsum counts it and fails for it.
run() { go test -json -timeout "$TIMEOUT" "${fresh[@]}" "$@" || true; }

{
	raced=$(go list ./... | grep -E "$RACE" || true)
	plain=$(go list ./... | grep -vE "$RACE|/tests(/|\$)" || true)
	# shellcheck disable=SC2086 # package lists are words
	if [[ -n $raced ]]; then run -race $raced; fi
	# shellcheck disable=SC2086
	run $plain
	# Last, one package after the other and nothing beside them, since some of them measure time. -count=1: they read files and
	# programs that the test cache does not know of.
	run -count=1 -p 1 ./tests/...
} | tee "$work/events" | {
	cat
	# These tests drive real programs, kernels and clocks. One that fails is run once more, alone, and reported as flaky if it passes then.
	while IFS=$'\t' read -r package tests; do
		race=()
		if [[ $package =~ $RACE ]]; then race=(-race); fi
		run -count=1 "${race[@]}" -run "$tests" "$package" </dev/null
	done < <("$work/testsum" -again <"$work/events")
} | "$work/testsum" && ((linted == 0))
