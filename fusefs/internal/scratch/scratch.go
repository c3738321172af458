// Package scratch recognizes scratch files by their names, and counts their bytes. They are what
// editors and other programs make beside a file while they save it, and never become
// documents. A name that ends in ".md" is a note unless it begins with a dot, so that no
// pattern here can swallow one.
package scratch

import (
	"strings"
	"sync/atomic"

	"github.com/relayfs/relayfs/bridge/model"
)

// IsName says whether a new file or folder of this name is scratch.
func IsName(name string) bool {
	switch {
	case name == "":
		return false
	case name[0] == '.': // hidden in a vault: .git, .Note.md.swp, .#Note.md, ._Note.md
		return true
	case model.Path(name).IsNote():
		return false
	case strings.HasSuffix(name, "~"):
		return true
	case len(name) > 2 && name[0] == '#' && strings.HasSuffix(name, "#"): // emacs auto-save
		return true
	case only(name, digit): // vim's probe 4913
		return true
	}
	return hasScratchExt(name) || isTempName(name) || isBesideNote(name)
}

// hasScratchExt recognizes temporary files by their extension, even in the middle:
// Name.md.tmp.4711.9f3c is how Claude Code writes.
func hasScratchExt(name string) bool {
	if strings.Contains(name, ".tmp.") || strings.Contains(name, "___jb_") {
		return true
	}
	ext := strings.ToLower(name[strings.LastIndexByte(name, '.')+1:])
	if random, ok := strings.CutPrefix(ext, "tmp"); ok && only(random, digit) {
		return strings.Contains(name, ".")
	}
	switch ext {
	case "tmp", "temp", "new", "save", "kate-swp", "lock", "swp", "swo", "swx", "bak", "bck", "orig", "old", "rej", "part", "partial", "crdownload", "download":
		return strings.Contains(name, ".")
	}
	return false
}

// isTempName recognizes the names that mkstemp and its kind create: sedXXXXXX, perl's
// XXxxxxxx, emacs's tmpXXXXXX, Python's tmpxxxxxxxx, mktemp's tmp.XXXXXXXXXX.
func isTempName(name string) bool {
	for _, p := range []struct {
		prefix string
		n      int
	}{{"sed", 6}, {"XX", 6}, {"tmp", 6}, {"tmp", 8}, {"tmp.", 10}} {
		rest, ok := strings.CutPrefix(name, p.prefix)
		if ok && len(rest) == p.n && only(rest, alnum) {
			return true
		}
	}
	return false
}

// isBesideNote recognizes a note's name with something random after it:
// Name.md.oXXXXXX (patch), Name.md.XXXXXX (KDE), Name.md.gawk.XXXXXX (gawk),
// Name.md1234567 (Go, renameio), Name.md.1 (numbered backups), and backups that are
// no extension at all: Name.md_original (exiftool), Name.md-2026-01-31.
// Extensions that mean something (Name.md.gz, Name.md.html, Name.mdx) are shorter.
func isBesideNote(name string) bool {
	i := strings.LastIndex(strings.ToLower(name), model.NoteExt)
	if i <= 0 {
		return false
	}
	rest := name[i+len(model.NoteExt):]
	dot := strings.LastIndexByte(rest, '.')
	if dot < 0 {
		return only(rest, digit) || rest != "" && strings.IndexByte("_-+,=@%", rest[0]) >= 0
	}
	random := rest[dot+1:]
	return rest[0] == '.' && (len(random) >= 6 && only(random, alnum) || only(random, digit))
}

// IsBackupOf says whether a program that renames note to name means a backup of
// it: the same name and something after it, as with sed -i.save.
func IsBackupOf(name, note string) bool {
	return len(name) > len(note) && strings.HasPrefix(name, note) && !model.Path(name).IsNote()
}

func only(s string, class func(byte) bool) bool {
	for i := range len(s) {
		if !class(s[i]) {
			return false
		}
	}
	return s != ""
}

func digit(c byte) bool { return '0' <= c && c <= '9' }

func alnum(c byte) bool {
	return digit(c) || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_' || c == '-'
}

// Max bounds the bytes of all scratch files together; then ENOSPC.
const Max = 256 << 20

// Quota counts the bytes of scratch files.
type Quota struct{ atomic.Int64 }

// Grow counts more bytes, or fewer, and says whether there is room.
func (q *Quota) Grow(more int64) bool {
	if more > 0 && q.Load()+more > Max {
		return false
	}
	q.Add(more)
	return true
}
