#!/usr/bin/env bash
# Builds the tools that make packages, in dist/tools. The first time takes a minute.
set -euo pipefail
cd "$(dirname "$0")/.."

export GOBIN=$PWD/dist/tools GOFLAGS="-trimpath -buildvcs=false"
go install github.com/goreleaser/nfpm/v2/cmd/nfpm@v2.45.2
go install github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod@v1.10.0
