// Package tests holds the end-to-end tests: they build the relayfs binary,
// mount vaults with it, and drive the mount, MCP over stdio and the command
// line as people's programs do. They know the product from outside only; of
// its packages they use diffwrap, to read what a vault's file says, and limittest.
// They stand on tests/internal/harness.
//
// A missing program or /dev/fuse skips a test with the reason; with CI=true in
// the environment it fails instead. RELAYFS_BINARY names a program to test
// instead of building one, by its absolute path; RELAYFS_RACE=1 builds the binary with the
// race detector; a race it reports fails the test that owns the process.
//
// RELAYFS_TEST_TIMESCALE is how many times as long as on an idle machine everything may
// take, in the tests of all packages: a whole number, 1 by default. A limit that a busy
// machine can exceed is made by limittest.Scaled. A test waits for events; it sleeps only
// to see that nothing happens, or for what the product measures by the clock.
package tests
