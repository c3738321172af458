#!/usr/bin/env bash
# What a new user does on a bare Debian, from the package to its removal, and what is left then. Needs root, and namespaces of
# its own, in which all mounts and processes end with it:
#
#   unshare --mount --pid --net --fork --kill-child newuser.sh ROOT.tar FOLDER PACKAGE.deb VAULT
set -euo pipefail
tar=$1 root=$2 deb=$3 vault=$4

# step begins one, and notes how long the one before it took.
now() { date +%s%N; }
steps=() began=$(now) last=$began
step() {
	local time
	time=$(now)
	((${#steps[@]} == 0)) || steps[-1]+=$(printf ' %d.%03d s' $(((time - last) / 1000000000)) $(((time - last) / 1000000 % 1000)))
	last=$time
	steps+=("$1")
	echo "== $1"
}
die() { echo "newuser: $*" >&2; exit 1; }
clean=(env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8)
admin() { "${clean[@]}" DEBIAN_FRONTEND=noninteractive chroot "$root" "$@"; }
user() { "${clean[@]}" HOME=/home/ada chroot --userspec=1000:1000 "$root" bash -euo pipefail -c "cd; $*"; }
# What is on the machine, but for homes, and for what dpkg, apt and mount write for every package and mount.
names() { (cd "$root" && find . -xdev \( -path ./var/lib/dpkg -o -path ./var/lib/apt -o -path ./var/cache -o -path ./var/log -o -path ./home -o -path ./run -o -path ./test \) -prune -o -print | sort); }

# The loopback device, by the system call that ip(8) and ifconfig(8) make: SIOCSIFFLAGS with IFF_UP.
python3 -c 'import fcntl, socket, struct; fcntl.ioctl(socket.socket(), 0x8914, struct.pack("16sh14x", b"lo", 1))'
mount -t tmpfs -o mode=755 root "$root"
tar -xf "$tar" -C "$root"
mount -t proc proc "$root/proc"
mount -t devpts -o ptmxmode=666 devpts "$root/dev/pts"
mknod -m 666 "$root/dev/fuse" c 10 229 # as udev makes it
ln -s /proc/self/mounts "$root/etc/mtab"
echo 'ada:x:1000:1000::/home/ada:/bin/bash' >>"$root/etc/passwd"
mkdir -p "$root/home/ada" "$root/test"
cp -R "$vault" "$root/home/ada/Garden"
cp -R "$vault" "$root/test/Garden"
cp "$deb" "$root/test/relayfs.deb"
chown -R 1000:1000 "$root/home/ada"

# Here the user begins; what is above is the machine.
began=$(now)
step 'apt-get install'
admin apt-get install --yes --quiet --no-install-recommends /test/relayfs.deb
step 'doctor'
admin dpkg -s fuse3 | grep -x 'Status: install ok installed'
admin dpkg -L relayfs >"$root/test/package"
names >"$root/test/installed"
user relayfs version
user relayfs doctor Garden
step 'init'
user relayfs init Garden
step 'mount'
user relayfs mount --daemon

step 'edit with sed and grep'
user grep -rl ladder relayfs/Garden
user "sed -i 's/one very loud frog/two very loud frogs/' relayfs/Garden/Projects/Pond.md"
user grep -F "'two very loud frogs'" relayfs/Garden/Projects/Pond.md
user grep -F "'{--one--}{++two++} very loud {--frog--}{++frogs++}'" Garden/Projects/Pond.md

step 'edit over MCP'
coproc MCP { user relayfs mcp; }
# ask sends a request, and waits for its answer.
ask() {
	echo "$1" >&"${MCP[1]}"
	read -r answer <&"${MCP[0]}"
	echo "$answer" | tee -a "$root/test/mcp"
}
call() { ask '{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"'"$1"'","arguments":{"file_path":"Garden/'"$2"'"'"${3-}"'}}}'; }
ask '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}'
echo '{"jsonrpc":"2.0","method":"notifications/initialized"}' >&"${MCP[1]}"
call read Projects/Pond.md
call read 'House Rules.md'
call edit 'House Rules.md' ',"old_string":"The last one out locks the gate","new_string":"The last one out locks the gate, waters the seedlings"'
exec {MCP[1]}>&-
wait "$MCP_PID"
grep -F 'two very loud frogs' "$root/test/mcp"
grep -F '1 suggestion added' "$root/test/mcp"

step 'review'
user relayfs suggestions list | tee "$root/test/list"
grep -Fx '4 pending suggestions' "$root/test/list"
# The page, with what a bare Debian has of a browser.
user 'relayfs review >page & until grep -q http page; do sleep 0.05; done
	host=$(sed "s,.*//,,; s,/.*,," page)
	exec 3<>"/dev/tcp/${host%:*}/${host#*:}"
	printf "GET / HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n" "$host" >&3
	grep -m 1 -a "200 OK" <&3
	kill -INT $!; wait $! || true; rm page'
user relayfs suggestions accept --all --author ada
sed -i 's/one very loud frog/two very loud frogs/' "$root/test/Garden/Projects/Pond.md"
sed -i 's/The last one out locks the gate/&, waters the seedlings/' "$root/test/Garden/House Rules.md"
diff -r "$root/test/Garden" "$root/home/ada/Garden"

step 'unmount'
user relayfs unmount relayfs
step 'remove'
user 'rm -r ~/.local/state/relayfs ~/.config/relayfs "/tmp/relayfs-$UID" && rmdir ~/relayfs'
admin apt-get remove --yes --quiet relayfs
step 'what is left'
took=$(((last - began) / 1000000))
admin dpkg -l relayfs 2>&1 | grep '^.[^n ]' && die 'dpkg still knows relayfs'
while read -r name; do
	[[ ! -f $root$name ]] || die "left of the package: $name"
done <"$root/test/package"
comm -13 "$root/test/installed" <(names) | grep . && die 'made by the use of relayfs, and left'
(cd "$root/home/ada" && find . -name '*relayfs*' | grep .) && die 'left in the home folder'
ls -l "$root"/proc/[0-9]*/exe 2>/dev/null | grep /usr/bin/relayfs && die 'still runs'
grep -F " $root/home" /proc/self/mounts && die 'still mounted'
echo '== times'
printf '%s\n' "${steps[@]}"
printf 'a new user %d.%03d s\n' $((took / 1000)) $((took % 1000))
