// Package quietinit prevents bubbletea v1 from querying the terminal for its background colour when it is initialised
// (tea_init.go). Otherwise every command would wait up to five seconds for the reply and lose typed keys, although only
// one command uses bubbletea. bubbletea does not send the query if TERM is "dumb", so this package sets TERM until main
// calls Restore.
//
// This package must be initialised before bubbletea. Go sorts packages by import path, and repeatedly initialises the
// first one whose imports are all initialised. This package imports only os, so it is ready as soon as os is. Its path
// ("github.com/...") is before "os/signal", which bubbletea imports, so it comes before os/signal and bubbletea.
package quietinit

import "os"

var term, isSet = os.LookupEnv("TERM")

func init() { os.Setenv("TERM", "dumb") }

// Restore restores TERM. main calls it before anything else.
func Restore() {
	if isSet {
		os.Setenv("TERM", term)
	} else {
		os.Unsetenv("TERM")
	}
}
