// Package owner sees to it that one process at a time holds a vault's
// documents, and lets the others find and talk to it.
//
// An owner holds two kinds of lock for every vault it serves: one on a file in
// the vault's state folder, and one on the vault's directory itself, which also
// stops a process that keeps its state elsewhere. Both are flock(2) locks, so
// that the kernel releases them however the process ends.
//
// The state folder also says which directory the vault is, so that the state is
// found when that was moved (vault.json, identity.go).
//
// Beside the lock lies owner.json, an Info: who owns the vault, where it is
// mounted, and the path of the owner's socket. The socket speaks HTTP over a
// Unix domain socket that only the same user can reach. An Info counts only
// while something answers there. One that was handed over stays until the next
// owner's replaces it, so that clients know that there will be one.
package owner
