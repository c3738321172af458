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
//
// # The end-to-end tests
//
// They are in the folders of tests, one for each subject: they build the
// relayfs binary, mount vaults with it, and drive the mount, MCP and the command
// line as users' programs do. They know the product from outside only; of
// its packages they use diffwrap, to read what a vault's file says.
//
// Tests run beside each other, those of a package and packages too: each has a sandbox of its own, and none changes the
// process that it runs in. A test that measures time is named TestTimed...; make test runs these alone, after all others.
// RELAYFS_TESTS=all, which make test sets, runs what needs more than Go, and what takes long; RELAYFS_SOAK=1 takes
// repeated and random tests to the length that make soak has.
//
// A missing program or /dev/fuse skips a test with the reason; with CI=true in
// the environment it fails instead. RELAYFS_BINARY names a program to test
// instead of building one, by its absolute path: tests/scripts/test.sh builds one for all
// packages. RELAYFS_RACE=1 builds the binary with the race detector; a race it reports
// fails the test that owns the process.
//
// RELAYFS_TEST_TIMESCALE is how many times as long as on an idle machine everything may
// take, in the tests of all packages: a whole number, 1 by default. A limit that a busy
// machine can exceed is made by need.Scaled. A test waits for events; it sleeps only
// to see that nothing happens, or for what the product measures by the clock.
package harness
