#!/usr/bin/env bash
# Everything that must hold: installs what is missing, lints, and runs all tests. The last line is "N passed, N failed".
#
#   TIMEOUT   how long one package may take (default 20m)
#   RACE      packages to test with the race detector: those that start goroutines or are called by several
set -euo pipefail
cd "$(dirname "$0")/../.."

TIMEOUT=${TIMEOUT:-20m}
RACE=${RACE:-'/(bridge|bridge/vault|bridge/store|bridge/owner|fusefs|mcpserver|cmd/relayfs)$'}

tests/scripts/deps.sh test
linted=0
tests/scripts/lint.sh || linted=1 # the tests run all the same

testsum=$(mktemp "${TMPDIR:-/tmp}/testsum.XXXXXX")
trap 'rm -f "$testsum"' EXIT
go build -o "$testsum" ./tests/testsum

# The runs' own exit codes are in the stream: testsum counts them and fails for them.
{
	raced=$(go list ./... | grep -E "$RACE" || true)
	plain=$(go list ./... | grep -vE "$RACE|/tests$" || true)
	# shellcheck disable=SC2086 # package lists are words
	if [[ -n $raced ]]; then go test -json -race -timeout "$TIMEOUT" $raced || true; fi
	# shellcheck disable=SC2086
	go test -json -timeout "$TIMEOUT" $plain || true
	# Last and alone, since some of them measure time. -count=1: they read files and programs that the test cache does not know of.
	go test -json -count=1 -timeout "$TIMEOUT" ./tests || true
} | "$testsum" && ((linted == 0))
