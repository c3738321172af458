package vault

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"path"
	"strings"

	"github.com/relayfs/relayfs/bridge/disk"
	"github.com/relayfs/relayfs/bridge/model"
)

// Own temp files stand beside the file they are to become. The leading dot
// hides them from Obsidian and from most listings.
const (
	tempPrefix = ".relayfs-"
	tempSuffix = ".tmp"
)

// trashDir is where Obsidian moves deleted notes if it is told to keep them in
// the vault.
const trashDir = ".trash"

// randomName is 16 hexadecimal digits that nobody else uses.
func randomName() string {
	var b [8]byte
	rand.Read(b[:])
	return hex.EncodeToString(b[:])
}

// tempName is a new name for a temp file. It tells whose it is, so that those
// of a process that was killed are known at the next start.
func (v *Vault) tempName() string { return v.tempPrefix + randomName() + tempSuffix }

// taggedName is a tempName that says what the file is for.
func (v *Vault) taggedName(t tag) string {
	return fmt.Sprintf("%s%s-%v%s", v.tempPrefix, randomName(), t, tempSuffix)
}

// displacedSuffix ends the names of files that a swap has displaced and found to be
// what it expected: what is in them is in the note's history. The name says in which
// state that was, in case somebody writes to one yet.
const displacedSuffix = ".old" + tempSuffix

func displacedName(name string, st model.Stamp) string {
	return fmt.Sprintf("%s-%x-%x%s", strings.TrimSuffix(name, tempSuffix), st.ModTime, st.Size, displacedSuffix)
}

// isDisplaced says whether a temp file is one that was displaced, in the state that
// st describes.
func isDisplaced(name string, st *disk.Info) bool {
	return strings.HasSuffix(name, fmt.Sprintf("-%x-%x%s", st.ModTime, st.Size, displacedSuffix))
}

func isTemp(name string) bool {
	return strings.HasPrefix(name, tempPrefix) && strings.HasSuffix(name, tempSuffix)
}

// hiddenDir says whether a folder of that name is hidden.
func hiddenDir(name string) bool { return strings.HasPrefix(name, ".") }

// reserved says whether no file may be served at rel: it lies in a hidden
// folder, or is a temp file.
func reserved(rel string) bool {
	return isTemp(path.Base(rel)) || strings.HasPrefix(rel, ".") && strings.Contains(rel, "/") ||
		strings.Contains(path.Dir(rel)+"/", "/.")
}

// parent is the folder of rel, "" for the vault's own directory.
func parent(rel string) string { return rel[:max(strings.LastIndexByte(rel, '/'), 0)] }

// join is the path of name in the folder dir.
func join(dir, name string) string {
	if dir == "" {
		return name
	}
	return dir + "/" + name
}

// below says whether rel lies in the folder dir, at any depth.
func below(dir, rel string) bool { return dir == "" || strings.HasPrefix(rel, dir+"/") }
