// Package owner tests who serves a vault: one process at a time, vaults that move, how far a client of one reaches, and
// commands beside an owner that is stopped or ends.
package owner
