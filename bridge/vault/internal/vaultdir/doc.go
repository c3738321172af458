// Package vaultdir finds files in the directory of a vault, and makes its names durable (dirsync.go).
//
//	f, err := vaultdir.Open(disk.OS{}, "/home/ann/Notes")
//	at, err := f.Locate("Projects/Plan.md")
//	...
//	defer at.Close()
//	data, before, after, err := at.Dir.ReadFile(at.Name)
//
// Paths have slashes and are relative to the directory, which is "". They are walked name by name, so that a symlink in
// place of a folder is an error even if it is swapped in at that moment. Hidden are folders whose names begin with a dot,
// relayfs's temp files, names that are not UTF-8, symlinks that lead out of the directory or to something hidden, and
// everything but folders and regular files.
//
// The directory is opened again for each operation: an open descriptor would keep a removable disk busy, and hide its removal.
package vaultdir
