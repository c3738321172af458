// Package owner ensures that one process at a time serves a vault, and lets other processes find it and connect to it.
//
// [Acquire] takes two locks for every vault: one on a file in the vault's state folder, and
// one on the vault's directory, which stops a process with another state folder. Both are
// flock(2) locks, so the kernel releases them however the process ends.
//
// The state folder also records the vault's directory (vault.json), so that relayfs finds the state after the directory has
// moved. Next to the lock is owner.json, an [Info]: who serves the vault, where it is mounted, and the path of the owner's
// socket. The socket speaks HTTP, and only the same user can reach it. An Info counts only while its socket answers. After a
// handover it stays until the next owner replaces it, so that clients wait for that one.
//
// The package does not depend on the workspace; callers serve their own handler.
package owner
