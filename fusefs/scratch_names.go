//go:build !windows

package fusefs

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/relayfs/relayfs/bridge/model"
)

// Scratch files are what editors and other programs make beside a file while they save it. They never become documents.
// A new file is one whatever its name is, if it is no note's or attachment's and the workspace takes notes alone (Dir.create). Names tell
// scratch files where it takes other files, too, and what a note is renamed to in order to have a backup of it. A
// name that ends in ".md" is a note unless it begins with a dot, so that no pattern here can swallow one.

// madeUp matches names that programs make up: emacs's #autosave#, vim's probe 4913, and those of mkstemp and its kind:
// sedXXXXXX, perl's XXxxxxxx, emacs's tmpXXXXXX, Python's tmpxxxxxxxx, mktemp's tmp.XXXXXXXXXX.
var madeUp = regexp.MustCompile(`^(#(?s:.+)#|[0-9]+|(sed|XX|tmp)[\w-]{6}|tmp[\w-]{8}|tmp\.[\w-]{10})$`)

// behindNote matches what stands behind a note's name:
// Name.md.oXXXXXX (patch), Name.md.XXXXXX (KDE), Name.md.gawk.XXXXXX (gawk),
// Name.md1234567 (Go, renameio), Name.md.1 (numbered backups), and backups that are
// no extension at all: Name.md_original (exiftool), Name.md-2026-01-31.
// Extensions that mean something (Name.md.gz, Name.md.html, Name.mdx) are shorter.
var behindNote = regexp.MustCompile(`^([0-9]+|[-_+,=@%][^.]*|\.((?s:.*)\.)?([\w-]{6,}|[0-9]+))$`)

// isScratchName says whether a new file or folder of this name is scratch.
func isScratchName(name string) bool {
	lower := strings.ToLower(name)
	switch {
	case strings.HasPrefix(name, "."): // hidden in a vault: .git, .Note.md.swp, .#Note.md, ._Note.md
		return true
	case model.Path(name).IsNote():
		return false
	case strings.HasSuffix(name, "~"), hasScratchExt(name), madeUp.MatchString(name):
		return true
	}
	i := strings.LastIndex(lower, model.NoteExt)
	return i > 0 && behindNote.MatchString(lower[i+len(model.NoteExt):])
}

// hasScratchExt recognizes temporary files by their extension, even in the middle:
// Name.md.tmp.4711.9f3c is how Claude Code writes.
func hasScratchExt(name string) bool {
	switch ext := strings.ToLower(path.Ext(name)); ext {
	case ".temp", ".new", ".save", ".kate-swp", ".lock", ".swp", ".swo", ".swx", ".bak", ".bck", ".orig", ".old", ".rej", ".part", ".partial", ".crdownload", ".download":
		return true
	default:
		return strings.TrimRight(ext, "0123456789") == ".tmp" || strings.Contains(name, ".tmp.") || strings.Contains(name, "___jb_")
	}
}

// attachmentExts are those of the files that Obsidian shows beside notes. No program makes one in order to save a note, so
// where it cannot be made that is said at once.
var attachmentExts = []string{
	".avif", ".bmp", ".gif", ".jpeg", ".jpg", ".png", ".svg", ".webp", ".flac", ".m4a", ".mp3", ".ogg", ".wav", ".3gp", ".mkv", ".mov", ".mp4", ".ogv", ".webm",
	".pdf", ".canvas", ".base",
}

func isAttachmentName(name string) bool {
	return slices.Contains(attachmentExts, strings.ToLower(path.Ext(name)))
}

// isBackupOf says whether a program that renames note to name means a backup of
// it: the same name and something after it, as with sed -i.save.
func isBackupOf(name, note string) bool {
	return len(name) > len(note) && strings.HasPrefix(name, note) && !model.Path(name).IsNote()
}

// maxScratch bounds the bytes of all scratch files together; then ENOSPC.
const maxScratch = 256 << 20

// scratchQuota counts the bytes of scratch files.
type scratchQuota struct{ atomic.Int64 }

// grow counts more bytes, or fewer, and says whether there is room.
func (q *scratchQuota) grow(more int64) bool {
	if more > 0 && q.Load()+more > maxScratch {
		return false
	}
	q.Add(more)
	return true
}
