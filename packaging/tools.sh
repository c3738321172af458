#!/usr/bin/env bash
# Builds the tools that make packages, in dist/tools, or those that are named: tools.sh [NAME...]. The first time takes a minute, for
# goreleaser some more; what is there in the right version stays, and needs no network.
set -euo pipefail
cd "$(dirname "$0")/.."

export GOBIN=$PWD/dist/tools GOFLAGS="-trimpath -buildvcs=false"
declare -A tools=(
	[nfpm]=github.com/goreleaser/nfpm/v2/cmd/nfpm@v2.45.2
	[cyclonedx-gomod]=github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod@v1.10.0
	[goreleaser]=github.com/goreleaser/goreleaser/v2@v2.14.3
)
(($#)) || set -- nfpm cyclonedx-gomod
for name; do
	have=$(go version -m "$GOBIN/$name" 2>/dev/null || true)
	[[ $have == *$'\t'"${tools[$name]##*@}"$'\t'* ]] || go install "${tools[$name]}"
done
