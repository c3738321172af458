#!/usr/bin/env bash
# gofmt, go vet and staticcheck over the whole module. tests/code checks it for the other systems.
set -euo pipefail
cd "$(dirname "$0")/../.."
export GOFLAGS=${GOFLAGS--trimpath} CGO_ENABLED=0 # as test.sh

echo "lint: gofmt"
unformatted=$(git ls-files -z --cached --others --exclude-standard '*.go' | xargs -0 -r gofmt -l)
if [[ -n $unformatted ]]; then
	printf 'not formatted, run gofmt -w on:\n%s\n' "$unformatted" >&2
	exit 1
fi
echo "lint: go vet"
go vet ./...
go vet -C tests/pocketbase .
go vet -tags packaging ./cmd/relayfs
echo "lint: staticcheck"
go tool staticcheck ./...
