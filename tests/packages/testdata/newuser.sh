#!/usr/bin/env bash
# What a new user does on a bare Debian, from the package to its removal, and what is left then. Needs root, and namespaces of
# its own, in which all mounts and processes end with it:
#
#   unshare --mount --pid --net --fork --kill-child newuser.sh ROOT.tar FOLDER PACKAGE.deb VAULT
set -euo pipefail
tar=$1 root=$2 deb=$3 vault=$4

say() { echo "== $*"; }
die() { echo "newuser: $*" >&2; exit 1; }
clean=(env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8)
admin() { "${clean[@]}" DEBIAN_FRONTEND=noninteractive chroot "$root" "$@"; }
user() { "${clean[@]}" HOME=/home/ada chroot --userspec=1000:1000 "$root" bash -euo pipefail -c "cd; $*"; }
# What is on the machine, but for homes, and for what dpkg, apt and mount write for every package and mount.
names() { (cd "$root" && find . -xdev \( -path ./var/lib/dpkg -o -path ./var/lib/apt -o -path ./var/cache -o -path ./var/log -o -path ./home -o -path ./run -o -path ./test \) -prune -o -print | sort); }

mount -t tmpfs -o mode=755 root "$root"
tar -xf "$tar" -C "$root"
mount -t proc proc "$root/proc"
mount -t devpts -o ptmxmode=666 devpts "$root/dev/pts"
mknod -m 666 "$root/dev/fuse" c 10 229 # as udev makes it
ln -s /proc/self/mounts "$root/etc/mtab"
echo 'ada:x:1000:1000::/home/ada:/bin/bash' >>"$root/etc/passwd"
mkdir -p "$root/home/ada/notes" "$root/test"
cp -R "$vault" "$root/home/ada/Garden"
cp -R "$vault" "$root/test/Garden"
cp "$deb" "$root/test/relayfs.deb"
chown -R 1000:1000 "$root/home/ada"

say install
admin apt-get install --yes --quiet --no-install-recommends /test/relayfs.deb
admin dpkg -s fuse3 | grep -x 'Status: install ok installed'
admin dpkg -L relayfs >"$root/test/package"
names >"$root/test/installed"

say 'first steps'
user relayfs version
user relayfs doctor Garden
user relayfs init Garden --mountpoint notes
user relayfs mount --daemon

say edit
user grep -rl ladder notes/Garden
user "sed -i 's/one very loud frog/two very loud frogs/' notes/Garden/Projects/Pond.md"
user grep -F "'two very loud frogs'" notes/Garden/Projects/Pond.md
user grep -F "'{--one--}{++two++} very loud {--frog--}{++frogs++}'" Garden/Projects/Pond.md

say 'a client over MCP'
user relayfs mcp <<'JSON' | tee "$root/test/mcp"
{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"read","arguments":{"file_path":"Garden/Projects/Pond.md"}}}
JSON
grep -F 'two very loud frogs' "$root/test/mcp"

say review
user relayfs suggestions list | tee "$root/test/list"
grep -Fx '3 pending suggestions' "$root/test/list"
user relayfs suggestions accept --all --author ada
sed -i 's/one very loud frog/two very loud frogs/' "$root/test/Garden/Projects/Pond.md"
diff -r "$root/test/Garden" "$root/home/ada/Garden"

say 'unmount and remove'
user relayfs unmount notes
user 'rm -r ~/.local/state/relayfs ~/.config/relayfs "/tmp/relayfs-$UID"'
admin apt-get remove --yes --quiet relayfs

say 'what is left'
admin dpkg -l relayfs 2>&1 | grep '^.[^n ]' && die 'dpkg still knows relayfs'
while read -r name; do
	[[ ! -f $root$name ]] || die "left of the package: $name"
done <"$root/test/package"
comm -13 "$root/test/installed" <(names) | grep . && die 'made by the use of relayfs, and left'
(cd "$root/home/ada" && find . -name '*relayfs*' | grep .) && die 'left in the home folder'
ls -l "$root"/proc/[0-9]*/exe 2>/dev/null | grep /usr/bin/relayfs && die 'still runs'
grep -F " $root/home" /proc/self/mounts && die 'still mounted'
exit 0
