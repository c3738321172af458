#!/usr/bin/env bash
# gofmt, go vet and staticcheck over the whole module, and whether it builds for the other systems.
set -euo pipefail
cd "$(dirname "$0")/../.."
export GOFLAGS=${GOFLAGS--trimpath} # as test.sh

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
# macOS mounts through macFUSE or FUSE-T; Windows does everything but mount.
for system in darwin/arm64 windows/amd64; do
	echo "lint: go build for $system"
	GOOS=${system%/*} GOARCH=${system#*/} go build ./...
done
