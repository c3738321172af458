// Package quietinit prevents the initialisation of bubbletea v1 (its tea_init.go) from querying the terminal for its
// background colour. Every command would wait up to five seconds for the reply and lose typed keys, although only one
// command uses bubbletea. bubbletea does not query if TERM is "dumb"; this package sets it until main calls Restore.
//
// This package must be initialised before bubbletea. Of the packages whose imports are initialised, Go initialises the
// one with the first import path next. This package needs only os, and its path ("github.com/...") is before "os/signal",
// which bubbletea needs.
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
