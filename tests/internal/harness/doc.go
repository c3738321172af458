// Package harness contains code that the end-to-end tests share: the program under test, sandboxes that look like a new
// user's account, mounts, MCP clients, terminals, and checks.
//
// A sandbox is a directory with its own XDG directories, so that tests do not read or write files of the machine's
// user. A mount is a relayfs process in a sandbox. t.Cleanup ends and unmounts everything that a test has started.
//
// The tests need Linux. Each test has its own sandboxes and calls t.Parallel, except the tests named TestTimed...,
// which measure time. make test runs these alone, after the others.
//
// # The end-to-end tests
//
// The tests are in the folders below tests, one folder for each subject. They build the relayfs binary, mount vaults
// with it, and use the mount, MCP and the command line as users' programs do. Most of them use only one package of the
// product: diffwrap, to read a vault's files.
//
// make test sets RELAYFS_TESTS=all. With this setting, the tests that take a long time, or need programs other
// than Go, run, too. RELAYFS_SOAK is a duration for random tests, as in make soak; if it is set, repeated tests also
// run longer.
//
// If a program or /dev/fuse is missing, the test is skipped; if CI=true is also set, it fails. RELAYFS_BINARY is the
// absolute path of a binary to test instead of building one; tests/scripts/test.sh builds one binary for all packages.
// With RELAYFS_RACE=1 the binary is built with the race detector, and a data race fails the test that started the
// process.
//
// RELAYFS_TEST_TIMESCALE is a factor for all limits that a busy machine can exceed (need.Scaled): a whole number, 1 by
// default. Tests wait for events. They sleep only to check that nothing happens, or for periods that the product
// measures by the clock.
package harness
