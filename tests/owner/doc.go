// Package owner tests the ownership of vaults: one process at a time, moved vaults, the limits of a client's access,
// and commands while an owner is stopped or ends.
package owner
