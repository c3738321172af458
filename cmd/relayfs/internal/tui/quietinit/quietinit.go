// Package quietinit keeps the initialisation of bubbletea v1 from asking the terminal for its background
// colour and waiting up to five seconds for the answer (its tea_init.go). Every command would wait, although
// one command uses bubbletea, and would lose what was typed ahead. Bubbletea does not ask if TERM is "dumb",
// so this package sets that until main calls Restore.
//
// It is initialised before bubbletea: Go initialises packages in the order of their import paths as soon as
// their imports are initialised. This one imports only os, and bubbletea imports os/signal, whose path sorts
// after this one.
package quietinit

import "os"

var term, isSet = os.LookupEnv("TERM")

func init() { os.Setenv("TERM", "dumb") }

// Restore restores TERM. Main calls it before anything else.
func Restore() {
	if isSet {
		os.Setenv("TERM", term)
	} else {
		os.Unsetenv("TERM")
	}
}
