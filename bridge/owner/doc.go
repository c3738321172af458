// Package owner ensures that one process at a time serves a vault, and lets other processes find it and connect to it.
//
// [Acquire] takes two locks for every vault: one on a file in its state folder, and one on the vault's directory. The
// second lock excludes a process that uses another state folder; Windows does not have it. The kernel releases both
// locks however the process ends.
//
// The state folder also records the vault's directory (vault.json), so that relayfs finds the state after the directory
// was moved. Next to the lock is owner.json with an [Info]: the process that serves the vault, its mountpoint, and the
// path of its socket. The socket speaks HTTP, and only the same user can connect to it. An Info is valid only while its
// socket responds. After a handover owner.json stays until the next owner replaces it, so that clients wait for the
// next owner.
//
// The package does not depend on the workspace; callers serve their own handler.
package owner
