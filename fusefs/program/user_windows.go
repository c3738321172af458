package program

import "io/fs"

// userOf is not known: there is no /proc to read.
func userOf(fs.FileInfo) uint32 { return 0 }
