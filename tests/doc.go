// Package tests says what the end-to-end tests have in common. They are in the folders
// below it, one for each subject, and stand on tests/internal/harness: they build the
// relayfs binary, mount vaults with it, and drive the mount, MCP and the command
// line as people's programs do. They know the product from outside only; of
// its packages they use diffwrap, to read what a vault's file says, and limittest.
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
// machine can exceed is made by limittest.Scaled. A test waits for events; it sleeps only
// to see that nothing happens, or for what the product measures by the clock.
package tests
