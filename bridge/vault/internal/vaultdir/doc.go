// Package vaultdir finds what is where in the directory of a vault, and makes its names durable (dirsync.go).
//
//	f, err := vaultdir.Open(disk.OS{}, "/home/ann/Notes")
//	at, err := f.Locate("Projects/Plan.md")
//	...
//	defer at.Close()
//	data, before, after, err := at.Dir.ReadFile(at.Name)
//
// Paths have slashes and are relative to the directory, which is "". They are walked name
// by name, so a symlink in place of a folder is an error, even one that is swapped in at
// that moment. Hidden are folders whose names begin with a dot, temp files of relayfs,
// names that are not UTF-8, symlinks that lead out of the directory or to something hidden,
// and what is neither a folder nor a regular file.
//
// The directory is opened again for each operation: a descriptor that stays open would keep
// a removable disk busy, and hide that it went away.
package vaultdir
