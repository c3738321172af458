// Package quietinit prevents bubbletea v1 from querying the terminal for its background colour when it is initialised
// (tea_init.go). Otherwise every command would wait up to five seconds for the reply and lose typed keys, although only
// one command uses bubbletea. bubbletea does not send the query if TERM is "dumb", so this package sets TERM until main
// calls Restore.
//
// This package must be initialised before bubbletea. When the imports of several packages are initialised, Go next
// initialises the package whose import path is first in the alphabet. This package imports only os, and its path
// ("github.com/...") is before "os/signal", which bubbletea imports.
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
