// Package cli tests the command line: the output and exit codes of commands, configuration, terminals, and machines on
// which something is missing or forbidden. The scripts are in testdata/script.
package cli
