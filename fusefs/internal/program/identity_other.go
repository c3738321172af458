//go:build !linux

package program

// identityOf returns the identity of the process that has the PID now.
func identityOf(pid int) Identity { return Identity{PID: pid} }
