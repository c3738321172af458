// Package quietinit keeps the initialisation of bubbletea from talking to the
// terminal.
//
// When a program that holds bubbletea v1 starts, whatever it was started for,
// the package asks the terminal for its background colour and waits up to five
// seconds for the answer (its tea_init.go). Every command would pay for what one
// command uses, and lose what was typed ahead. It does not ask when TERM is
// "dumb", so this package says so until main calls Restore.
//
// It is certain to come first: Go initialises packages in the order of their
// import paths as soon as what they import is initialised, this one imports
// nothing but os, and bubbletea imports os/signal, whose path sorts behind ours.
package quietinit

import "os"

var term, isSet = hide()

func hide() (term string, isSet bool) {
	term, isSet = os.LookupEnv("TERM")
	os.Setenv("TERM", "dumb")
	return term, isSet
}

// Restore gives TERM its value back. Main calls it before anything else.
func Restore() {
	if isSet {
		os.Setenv("TERM", term)
	} else {
		os.Unsetenv("TERM")
	}
}
