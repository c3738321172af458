#!/usr/bin/env bash
# Makes packages for Linux in dist/packages, with their checksums and lists of what is linked in (CycloneDX).
#
#   package.sh [FORMAT...]   deb, rpm and apk unless some are named
#   ARCHS                    Go's names of the processors (default "amd64 arm64")
#   DIST                     another folder than dist
set -euo pipefail
cd "$(dirname "$0")/.."
. packaging/version.sh

ARCHS=${ARCHS:-amd64 arm64}
(($#)) || set -- deb rpm apk

packaging/tools.sh
tools=$PWD/dist/tools
packaging/files.sh
rm -rf "$DIST/packages"
mkdir -p "$DIST/packages"
for arch in $ARCHS; do
	export ARCH=$arch
	binary=$DIST/bin/linux_$arch/relayfs
	GOOS=linux GOARCH=$arch packaging/build.sh "$binary"
	for format; do
		(cd "$DIST" && "$tools/nfpm" package --config "$OLDPWD/packaging/nfpm.yaml" --packager "$format" --target packages/)
	done
	"$tools/cyclonedx-gomod" bin -json -noserial -version "v$VERSION" -output "$DIST/packages/relayfs_linux_$arch.cdx.json" "$binary"
done
(cd "$DIST/packages" && sha256sum -- * >SHA256SUMS)
