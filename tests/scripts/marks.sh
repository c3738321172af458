#!/usr/bin/env bash
# What the marks of many edits do to pages, and how many there are beside those of git diff --word-diff and go-diff.
#
#   EDITS   how many edits (default 20000)
#   SEED    what they depend on (default 1)
#   KIND    some kinds of them only, separated by commas
#   SHOW    how many broken edits of each kind are shown (default 0)
set -euo pipefail
cd "$(dirname "$0")/../.."

tests/scripts/deps.sh test
go test -count 1 -run '^(TestMarks|TestScripts)$' -v -timeout 120m ./tests/render \
	-others -edits="${EDITS:-20000}" -seed="${SEED:-1}" -kind="${KIND-}" -show="${SHOW:-0}"
