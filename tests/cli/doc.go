// Package cli tests the command line: what commands print and with which exit code, configuration, terminals, and machines
// on which something is missing or forbidden. The scripts are in testdata/script.
package cli
