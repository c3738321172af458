// Package harness has the common parts of the end-to-end tests: the program under test, sandboxes in which it runs as
// for a new user, mounts, MCP clients, terminals, and checks.
//
// A sandbox is a directory with its own XDG directories, so that nothing of the machine's user is read or written. A mount
// is a relayfs process in it. t.Cleanup ends and unmounts what a test has started.
//
// The tests need Linux. Each has its own sandboxes, and calls t.Parallel, except those named TestTimed..., which measure
// time and run alone, after the others.
//
// # The end-to-end tests
//
// They are in the folders below tests, one for each subject. They build the relayfs binary, mount vaults with it, and
// use the mount, MCP and the command line like users' programs. The only package of the product that they use is
// diffwrap, to read a vault's files.
//
// RELAYFS_TESTS=all, which make test sets, runs tests that need more than Go or take long. RELAYFS_SOAK=1 runs repeated
// and random tests at the length of make soak.
//
// A missing program or /dev/fuse skips a test; with CI=true it fails instead. RELAYFS_BINARY is the absolute path of a
// program to test instead of building one: tests/scripts/test.sh builds one for all packages. RELAYFS_RACE=1 builds with the
// race detector; a reported race fails the test that owns the process.
//
// RELAYFS_TEST_TIMESCALE multiplies all limits that a busy machine can exceed (need.Scaled): a whole number, 1 by
// default. Tests wait for events; they sleep only to check that nothing happens, or for periods that the product
// measures by the clock.
package harness
