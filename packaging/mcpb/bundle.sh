#!/usr/bin/env bash
# Makes a bundle for Claude Desktop, dist/packages/relayfs_GOOS_GOARCH.mcpb, for the system of $GOOS and $GOARCH or this
# one. The tool that packs it is an npm package.
set -euo pipefail
cd "$(dirname "$0")/../.."
. packaging/version.sh

system=$(go env GOOS)_$(go env GOARCH)
work=$DIST/mcpb/$system
rm -rf "$work"
mkdir -p "$work/server" "$DIST/packages"
# The manifest's command has no suffix: Windows looks for relayfs.exe.
packaging/build.sh "$work/server/relayfs$(go env GOEXE)"
packaging/notices.sh >"$work/THIRD_PARTY_NOTICES"
cp LICENSE "$work"
sed -e "s/\"version\": \"0.0.0\"/\"version\": \"$VERSION\"/" -e "s#\"server/relayfs\"#\"server/relayfs$(go env GOEXE)\"#" packaging/mcpb/manifest.json >"$work/manifest.json"
npx --yes @anthropic-ai/mcpb@2.1.2 pack "$work" "$DIST/packages/relayfs_$system.mcpb"
