// Package cli tests the command line: the output and exit codes of commands, configuration, terminals, and machines
// that lack something or forbid an operation. The scripts are in testdata/script.
package cli
