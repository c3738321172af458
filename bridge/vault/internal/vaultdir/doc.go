// Package vaultdir finds files in the directory of a vault, and makes its names durable (dirsync.go).
//
// Paths have slashes and are relative to the directory, which is "". They are walked name by name, so that a symlink in
// place of a folder is an error even if it is swapped in at that moment. Folders, regular files and symlinks are served.
// Hidden are folders whose names begin with a dot, relayfs's temp files and names that are not UTF-8. A symlink is hidden
// if it leads out of the directory or to a path with a name that begins with a dot.
//
// The directory is opened again for each operation: an open descriptor would keep a removable disk busy, and hide its
// removal. If another directory is there, or none, the result is model.ErrOffline until Find is called.
package vaultdir
