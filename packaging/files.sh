#!/usr/bin/env bash
# Writes into dist/files what archives and packages hold beside the binary: man pages, completions, the systemd unit and
# the licences of what is linked in.
set -euo pipefail
cd "$(dirname "$0")/.."
. packaging/version.sh

rm -rf dist/files
mkdir -p dist/files
go run -tags packaging -ldflags "$LDFLAGS" ./cmd/relayfs dist/files
packaging/notices.sh >dist/files/THIRD_PARTY_NOTICES
