// Package harness is what the end-to-end tests stand on: the program under test, sandboxes in which it runs as for a
// new user, mounts, MCP clients, terminals, and the checks that several subjects make. It holds no test, and nothing
// that one subject alone needs.
//
// A sandbox is a directory with its own XDG directories, so that nothing of the
// machine's user is read or written. A mount is a relayfs process in it. What
// a test starts, t.Cleanup ends and unmounts. Only a log has a lock: a process
// writes to it while a test reads.
//
// A test has sandboxes of its own, and calls t.Parallel. One that measures time has a name that begins with TestTimed
// and does not: it runs alone, after the others.
//
// The tests need Linux, so all of this does.
package harness
