#!/usr/bin/env bash
# Makes packages for Linux in dist/packages, with their checksums and lists of what is linked in (CycloneDX).
#
#   package.sh [FORMAT...]   deb, rpm and apk unless some are named
#   ARCHS                    Go's names of the processors (default "amd64 arm64")
set -euo pipefail
cd "$(dirname "$0")/.."
. packaging/version.sh

ARCHS=${ARCHS:-amd64 arm64}
(($#)) || set -- deb rpm apk

export GOBIN=$PWD/dist/tools
go install -trimpath -buildvcs=false github.com/goreleaser/nfpm/v2/cmd/nfpm@v2.45.2
go install -trimpath -buildvcs=false github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod@v1.10.0

packaging/files.sh
rm -rf dist/packages
mkdir -p dist/packages
for arch in $ARCHS; do
	export ARCH=$arch
	CGO_ENABLED=0 GOOS=linux GOARCH=$arch go build -trimpath -buildvcs=false -ldflags "$LDFLAGS" -o "dist/bin/linux_$arch/relayfs" ./cmd/relayfs
	for format; do
		dist/tools/nfpm package --config packaging/nfpm.yaml --packager "$format" --target dist/packages/
	done
	dist/tools/cyclonedx-gomod bin -json -noserial -version "v$VERSION" -output "dist/packages/relayfs_linux_$arch.cdx.json" "dist/bin/linux_$arch/relayfs"
done
(cd dist/packages && sha256sum -- * >SHA256SUMS)
