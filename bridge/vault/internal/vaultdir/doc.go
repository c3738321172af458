// Package vaultdir finds files in the directory of a vault, and makes its names durable (dirsync.go).
//
// Paths have slashes and are relative to the directory, which is "". They are walked name by name, so that a symlink in
// place of a folder is an error even if it was put there at that moment. Folders, regular files and symlinks are
// served. Some names are hidden: folders whose names begin with a dot, relayfs's temp files, and names that are not
// UTF-8. A symlink is hidden if it leads out of the directory, or to a path with a name that begins with a dot.
//
// The directory is opened again for each operation, because an open descriptor would keep a removable disk busy and
// hide its removal. If the directory is missing, or another directory has replaced it, operations return
// model.ErrOffline until Find is called.
package vaultdir
