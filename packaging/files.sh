#!/usr/bin/env bash
# Writes into dist/files what archives and packages hold beside the binary: man pages, completions, the systemd unit,
# the licences of what is linked in, and some files of the repository.
set -euo pipefail
cd "$(dirname "$0")/.."
. packaging/version.sh

rm -rf "$DIST/files"
mkdir -p "$DIST/files"
go run -tags packaging -ldflags "$LDFLAGS" ./cmd/relayfs "$DIST/files"
packaging/notices.sh >"$DIST/files/THIRD_PARTY_NOTICES"
cp README.md CHANGELOG.md LICENSE packaging/prometheus/relayfs.rules.yml "$DIST/files"
