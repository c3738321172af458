#!/usr/bin/env bash
# Installs what the demo or the tests need and this machine lacks.
#
#   deps.sh demo   FUSE only
#   deps.sh test   FUSE, the programs that the tests drive on a mount, what the interop tests need of npm and of Go, y-sweet, and what
#                  the tests of the packages need
#
# Debian packages come through apt-get (with sudo when not root). Nothing that is there already is touched.
set -euo pipefail
cd "$(dirname "$0")/../.."

what=${1:-test}

# command -> Debian package that brings it
demo_tools=(fusermount3:fuse3 diff:diffutils)
test_tools=("${demo_tools[@]}" gcc:gcc rg:ripgrep vim:vim nano:nano emacs:emacs-nox rsync:rsync tmux:tmux python3:python3 perl:perl patch:patch
	sed:sed grep:grep find:findutils unshare:util-linux setpriv:util-linux git:git node:nodejs npm:npm chromium:chromium
	sqlite3:sqlite3 gzip:gzip tar:tar stress-ng:stress-ng redis-server:redis-server dpkg:dpkg mmdebstrap:mmdebstrap ruby:ruby groff:groff-base)

case $what in
demo) tools=("${demo_tools[@]}") ;;
test) tools=("${test_tools[@]}") ;;
*) echo "usage: deps.sh [demo|test]" >&2; exit 2 ;;
esac

say() { echo "deps: $*" >&2; }

missing=()
for tool in "${tools[@]}"; do
	command -v "${tool%%:*}" >/dev/null || missing+=("${tool##*:}")
done
# A python3 of Debian makes no environments without this one.
if [[ $what == test ]] && ! python3 -c 'import ensurepip' 2>/dev/null; then missing+=(python3-venv); fi
# The race detector links against the C library.
if [[ " ${missing[*]-} " == *" gcc "* ]]; then missing+=(libc6-dev); fi

if ((${#missing[@]})); then
	say "missing: ${missing[*]}"
	if ! command -v apt-get >/dev/null; then
		say "this machine has no apt-get; install the packages above with your package manager and run this again"
		exit 1
	fi
	as_root=()
	if ((EUID != 0)); then
		command -v sudo >/dev/null || { say "not root and no sudo; as root: apt-get install ${missing[*]}"; exit 1; }
		as_root=(sudo)
	fi
	say "installing with apt-get"
	"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get update -qq
	"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >&2
fi

command -v go >/dev/null || { say "Go 1.26 or newer is needed: https://go.dev/dl/"; exit 1; }

# Where tests/servers/server.mjs looks for programs that are built once.
root=${XDG_CACHE_HOME:-$HOME/.cache}/relayfs-tests

# Without optimisation y-sweet takes a third of the time.
build_ysweet() {
	local version=0.9.1
	if [[ $("$root/bin/y-sweet" version 2>/dev/null) == "$version" ]]; then return; fi
	if ! command -v cargo >/dev/null; then
		say "no cargo (https://rustup.rs), so no y-sweet: its tests are skipped, and fail with CI=true"
		return
	fi
	say "cargo install y-sweet $version"
	CARGO_PROFILE_RELEASE_OPT_LEVEL=0 cargo install y-sweet --version "$version" --locked --quiet --root "$root" >&2
}

# fetch_prometheus takes Prometheus and promtool out of Debian's package, which is not installed: it would start its service.
fetch_prometheus() {
	local work
	[[ ! -x $root/bin/promtool ]] || return 0
	say "Prometheus"
	work=$(mktemp -d)
	(cd "$work" && apt-get download -q prometheus >&2 && dpkg -x prometheus_*.deb .)
	mkdir -p "$root/bin"
	mv "$work/usr/bin/prometheus" "$work/usr/bin/promtool" "$root/bin"
	rm -rf "$work"
}

# make_roots makes the bare Debian systems in which tests/packages installs the package, with fuse3 ready to be installed.
make_roots() {
	local suite dir=$root
	if ((EUID != 0)); then
		say "not root, so no Debian systems to install the package in: its tests are skipped, and fail with CI=true"
		return
	fi
	mkdir -p "$dir"
	for suite in bookworm trixie; do
		[[ ! -e $dir/debian-$suite.tar ]] || continue
		say "mmdebstrap $suite"
		mmdebstrap --quiet --variant=apt --skip=cleanup/apt "$suite" "$dir/$suite.part.tar" http://deb.debian.org/debian \
			--customize-hook='chroot "$1" apt-get install --download-only --yes --quiet --no-install-recommends fuse3' >&2
		mv "$dir/$suite.part.tar" "$dir/debian-$suite.tar"
	done
}

# A real model of embeddings, with its weights.
make_embeddings() {
	local dir=$root/embeddings version=0.4.0.post1
	[[ ! -e $dir/wordllama-$version ]] || return 0
	say "pip install wordllama"
	rm -rf "$dir"
	python3 -m venv "$dir" &&
		"$dir/bin/pip" install --quiet --disable-pip-version-check "wordllama==$version" >&2 &&
		touch "$dir/wordllama-$version"
}

if [[ $what == test ]]; then
	build_ysweet & # beside npm, which waits for the network
	ysweet=$!
	make_roots &
	roots=$!
	fetch_prometheus || { say "Prometheus cannot be fetched: apt-get update, and run this again"; exit 1; }
	for dir in tests/claude-code tests/peer tests/critic tests/mcp-client tests/docs tests/docs-sets tests/frontmatter tests/packages tests/render tests/review-page tests/review-api tests/servers; do
		[[ -f $dir/package-lock.json ]] || continue
		# npm writes node_modules/.package-lock.json last: newer than the lock file means installed.
		[[ $dir/node_modules/.package-lock.json -nt $dir/package-lock.json ]] && continue
		say "npm ci in $dir"
		npm ci --prefix "$dir" --no-audit --no-fund --loglevel=error >&2
	done
	# Some minutes the first time; after that it is in Go's cache.
	say "building tests/pocketbase"
	go build -C tests/pocketbase -o "$root/bin/pocketbase" .
	say "building gofakes3, a server of S3's protocol"
	GOBIN=$root/bin go install github.com/johannesboyne/gofakes3/cmd/gofakes3@v1.2.0
	say "building the tools that make packages"
	packaging/tools.sh
	# It has the schema of server.json.
	go mod download github.com/modelcontextprotocol/registry@v1.4.1
	make_embeddings || { say "WordLlama cannot be installed"; exit 1; }
	wait "$ysweet" || { say "y-sweet cannot be built"; exit 1; }
	wait "$roots" || { say "the Debian systems cannot be made"; exit 1; }
fi

[[ -e /dev/fuse ]] || say "warning: /dev/fuse does not exist here (in a container: run it with --device /dev/fuse --cap-add SYS_ADMIN)"
say "everything that '$what' needs is here"
