# Sourced by the scripts here. VERSION is that of the tag, or one below every release with the time of the commit.
# SOURCE_DATE_EPOCH is the time of the commit, in seconds: the same commit makes the same bytes.
: "${SOURCE_DATE_EPOCH:=$(git log -1 --format=%ct)}"
if [[ -z ${VERSION-} ]]; then
	VERSION=$(git describe --tags --exact-match 2>/dev/null || date -u -d "@$SOURCE_DATE_EPOCH" +v0.0.0-git%Y%m%d%H%M%S)
fi
VERSION=${VERSION#v}
GOFLAGS="-trimpath -buildvcs=false"
# Of every binary that is given to others.
LDFLAGS="-s -w -X main.release=v$VERSION"
# Where everything is made.
DIST=$(realpath -m "${DIST:-dist}")
export VERSION SOURCE_DATE_EPOCH GOFLAGS
