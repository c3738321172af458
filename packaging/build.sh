#!/usr/bin/env bash
# Builds the program as it is given to others, for $GOOS and $GOARCH or this system: build.sh FILE
set -euo pipefail
cd "$(dirname "$0")/.."
. packaging/version.sh

CGO_ENABLED=0 go build -ldflags "$LDFLAGS" -o "$1" ./cmd/relayfs
