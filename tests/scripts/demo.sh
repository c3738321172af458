#!/usr/bin/env bash
# Shows the main job on a copy of the sample vault: a program edits a mounted note, an MCP client edits another, and
# the vault's own files hold both changes as suggestions. Leaves nothing behind; exits non-zero if a step goes wrong.
set -euo pipefail
cd "$(dirname "$0")/../.."

relayfs=$PWD/relayfs
export RELAYFS_AGENTS=none # an agent may run this, and the session below decides as a person
work=$(mktemp -d "${TMPDIR:-/tmp}/relayfs-demo.XXXXXX")
vault=$work/Garden
before=$work/before
mnt=$work/mnt
log=$work/relayfs.log
owner=
export XDG_STATE_HOME=$work/state XDG_CONFIG_HOME=$work/config XDG_RUNTIME_DIR=$work/run
mkdir -p "$mnt" "$XDG_STATE_HOME" "$XDG_CONFIG_HOME" && mkdir -m 700 "$XDG_RUNTIME_DIR"

if [[ -t 1 && -z ${NO_COLOR-} ]]; then bold=$'\e[1m' dim=$'\e[2m' off=$'\e[0m'; else bold= dim= off=; fi
step() { printf '\n%s%s%s\n' "$bold" "$*" "$off"; }
run() { printf '%s$%s%s\n' "$dim" "$(printf ' %s' "${@@Q}" | sed "s/'\([A-Za-z0-9./_-]*\)'/\1/g")" "$off"; "$@"; }
die() {
	printf 'demo: %s\n' "$*" >&2
	if [[ -s $log ]]; then sed 's/^/  relayfs: /' "$log" >&2; fi
	exit 1
}

# until_true SECONDS COMMAND...: polls, bounded.
until_true() {
	local deadline=$((SECONDS + $1)); shift
	until "$@"; do
		((SECONDS < deadline)) || return 1
		sleep 0.05
	done
}

mounted() { mountpoint -q "$mnt" 2>/dev/null; }
ended() { ! kill -0 "$1" 2>/dev/null; }

cleanup() {
	local code=$?
	trap - EXIT
	if [[ -n ${mcp_pid-} ]]; then kill "$mcp_pid" 2>/dev/null || true; fi
	if [[ -n $owner ]] && ! ended "$owner"; then
		kill -TERM "$owner" 2>/dev/null || true
		until_true 10 ended "$owner" || kill -KILL "$owner" 2>/dev/null || true
	fi
	if mounted; then fusermount3 -uz "$mnt" 2>/dev/null || umount -l "$mnt" 2>/dev/null || true; fi
	rm -rf --one-file-system "$work"
	exit "$code"
}
trap cleanup EXIT
trap 'exit 130' INT TERM

[[ -x $relayfs ]] || die "no binary at $relayfs: run make build"
[[ -e /dev/fuse ]] || die "/dev/fuse does not exist here (in a container: --device /dev/fuse --cap-add SYS_ADMIN)"

step "1. A vault, mounted"
cp -R tests/sample-vault/Garden "$vault"
cp -R "$vault" "$before"
printf '%s$ relayfs mount Garden mnt%s\n' "$dim" "$off"
"$relayfs" mount "$vault" "$mnt" 2>"$log" &
owner=$!
ready() { grep -q '^mounted ' "$log" || ended "$owner"; }
until_true 20 ready || die "not mounted after 20 seconds"
ended "$owner" && die "the mount ended"
grep '^mounted ' "$log"
cd "$work"
run ls mnt/Garden
run grep -rl ladder mnt/Garden

step "2. A program changes a note on the mount"
note="Garden/Projects/Pond.md"
run sed -i 's/one very loud frog/two very loud frogs/' "mnt/$note"
run grep frog "mnt/$note"
echo "The vault's own file now holds:"
run diff "before/${note#Garden/}" "$note" && die "the vault's file did not change"

step "3. An agent changes a note over MCP (stdio, attached to the running mount)"
coproc MCP { exec "$relayfs" mcp "$vault" 2>>"$log"; }
mcp_pid=$MCP_PID
# Descriptors of our own, since bash drops its as soon as the coprocess ends.
exec {to_mcp}>&"${MCP[1]}" {from_mcp}<&"${MCP[0]}"
eval "exec ${MCP[1]}>&- ${MCP[0]}<&-"

# call JSON: sends one request and prints the text of its answer.
call() {
	printf '%s-> %s%s\n' "$dim" "$1" "$off"
	printf '%s\n' "$1" >&"$to_mcp"
	IFS= read -r -t 20 -u "$from_mcp" reply || die "no answer from the MCP server"
	[[ $reply != *'"error":'* && $reply != *'"isError":true'* ]] || die "MCP: $reply"
	local text
	text=$(sed -n 's/.*"text":"\(\([^"\\]\|\\.\)*\)".*/\1/p' <<<"$reply")
	[[ -z $text ]] || printf '%b\n' "$text" | head -n 12
}
call '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"demo","version":"1"}}}' >/dev/null
printf '%s\n' '{"jsonrpc":"2.0","method":"notifications/initialized"}' >&"$to_mcp"
call '{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"read","arguments":{"file_path":"Garden/House Rules.md"}}}'
call '{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"edit","arguments":{"file_path":"Garden/House Rules.md","old_string":"The last one out locks the gate","new_string":"The last one out locks the gate, waters the seedlings"}}}'
exec {to_mcp}>&-
until_true 10 ended "$mcp_pid" || die "the MCP server did not end with its input"
mcp_pid=
echo "The vault's own file now holds:"
run diff "before/House Rules.md" "Garden/House Rules.md" && die "the vault's file did not change"
echo "and the mount shows the change as if accepted:"
run grep seedlings "mnt/Garden/House Rules.md"

step "4. What waits for a person"
printf '%s$ relayfs suggestions list%s\n' "$dim" "$off"
"$relayfs" suggestions list

step "5. Unmount"
printf '%s$ relayfs unmount mnt%s\n' "$dim" "$off"
"$relayfs" unmount "$mnt"
until_true 10 ended "$owner" || die "the mount process did not end"
wait "$owner" || die "the mount process ended with an error"
owner=
mounted && die "still mounted"

cat <<EOF

${bold}With your own vault${off}
  mkdir -p ~/notes-mount
  $relayfs mount ~/path/to/YourVault ~/notes-mount     # Ctrl-C unmounts
  cd ~/notes-mount/YourVault && claude                 # or rg, vim, sed ...
  $relayfs suggestions list                            # what waits for you; or look at the marks in Obsidian
EOF
