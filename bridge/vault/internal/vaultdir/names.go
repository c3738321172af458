package vaultdir

import (
	"path"
	"strings"
)

// Temp files have names between these two. The leading dot hides them from Obsidian and
// from most listings.
const (
	TempPrefix = ".relayfs-"
	TempSuffix = ".tmp"
)

// Trash is where Obsidian moves deleted notes if it is told to keep them in the vault.
const Trash = ".trash"

// IsTemp says whether a name is that of a temp file.
func IsTemp(name string) bool {
	return strings.HasPrefix(name, TempPrefix) && strings.HasSuffix(name, TempSuffix)
}

// HiddenDir says whether a folder of that name is hidden.
func HiddenDir(name string) bool { return strings.HasPrefix(name, ".") }

// Reserved says whether no file may be served at rel: it lies in a hidden folder, or is a
// temp file.
func Reserved(rel string) bool {
	return IsTemp(path.Base(rel)) || strings.HasPrefix(rel, ".") && strings.Contains(rel, "/") ||
		strings.Contains(path.Dir(rel)+"/", "/.")
}

// Parent is the folder of rel, "" for the vault's directory.
func Parent(rel string) string { return rel[:max(strings.LastIndexByte(rel, '/'), 0)] }

// Join is the path of name in the folder dir.
func Join(dir, name string) string {
	if dir == "" {
		return name
	}
	return dir + "/" + name
}

// Below says whether rel lies in the folder dir, at any depth.
func Below(dir, rel string) bool { return dir == "" || strings.HasPrefix(rel, dir+"/") }
