// Package quietinit prevents the initialisation of bubbletea v1 (its tea_init.go) from querying the terminal for its
// background colour. Every command would wait up to five seconds for the reply and lose typed keys, although only one
// command uses bubbletea. bubbletea does not query if TERM is "dumb"; this package sets it until main calls Restore.
//
// This package must be initialised before bubbletea. Go initialises packages in the order of their import paths once
// their imports are initialised. This package imports only os, and bubbletea imports os/signal, whose path sorts after
// this one.
package quietinit

import "os"

var term, isSet = os.LookupEnv("TERM")

func init() { os.Setenv("TERM", "dumb") }

// Restore restores TERM. main calls it first.
func Restore() {
	if isSet {
		os.Setenv("TERM", term)
	} else {
		os.Unsetenv("TERM")
	}
}
