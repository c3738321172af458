// Package owner ensures that one process at a time serves a vault, and lets other
// processes find it and talk to it.
//
// An owner holds two locks for every vault: one on a file in the vault's state folder, and
// one on the vault's directory, which stops a process with another state folder. Both are
// flock(2) locks, so the kernel releases them however the process ends.
//
// The state folder also records which directory the vault is, so that the state is found
// after the directory has moved (vault.json, identity.go).
//
// Beside the lock is owner.json, an Info: who serves the vault, where it is mounted, and
// the path of the owner's socket. The socket speaks HTTP over a Unix domain socket that
// only the same user can reach. An Info counts only while something answers there. After a
// handover it stays until the next owner replaces it, so that clients wait for that one.
package owner
