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

// Scratch files are temporary files that editors and other programs create next to a file that they save. They never
// become documents. If the workspace accepts only notes, every new file is scratch unless its name is the name of a
// note or attachment (Dir.create). If the workspace accepts other files, too, a rename over a note by a file that the
// same run has created is a save as well (moveMadeOver), and the patterns below only keep backups and similar files out
// of the vault. The patterns also show that a note is renamed to make a backup of it. A name that ends in ".md" is a
// note unless it begins with a dot, so no pattern here matches a note.

// besideNote matches names of probe and autosave files that do not contain a note's name.
var besideNote = regexp.MustCompile(`^(#(?s:.+)#|[0-9]+)$`)

// behindNote matches suffixes after a note's name: random characters, numbers, dates, versions, and words between
// punctuation. Meaningful extensions (Name.md.gz, Name.md.html, Name.mdx) are shorter.
var behindNote = regexp.MustCompile(`^([0-9]+|[-_+,=@%][^.]*|\.((?s:.*)\.)?([\w-]{6,}|[0-9]+))$`)

func isScratchName(name string) bool {
	lower := strings.ToLower(name)
	switch {
	case strings.HasPrefix(name, "."): // vaults hide such files
		return true
	case model.Path(name).IsNote():
		return false
	case strings.HasSuffix(name, "~"), strings.Contains(name, ".tmp."), besideNote.MatchString(name),
		slices.Contains(scratchExts, strings.TrimRight(path.Ext(lower), "0123456789")):
		return true
	}
	i := strings.LastIndex(lower, model.NoteExt)
	return i > 0 && behindNote.MatchString(lower[i+len(model.NoteExt):])
}

var scratchExts = []string{".tmp", ".temp", ".new", ".save", ".lock", ".swp", ".bak", ".orig", ".old", ".part"}

// attachmentExts are the extensions of files that Obsidian shows next to notes. No program creates such a file in order
// to save a note, so an error can be reported immediately.
var attachmentExts = []string{
	".avif", ".bmp", ".gif", ".jpeg", ".jpg", ".png", ".svg", ".webp", ".flac", ".m4a", ".mp3", ".ogg", ".wav", ".3gp", ".mkv", ".mov", ".mp4", ".ogv", ".webm",
	".pdf", ".canvas", ".base",
}

func isAttachmentName(name string) bool {
	return slices.Contains(attachmentExts, strings.ToLower(path.Ext(name)))
}

// isBackupOf reports whether a program that renames note to name makes a backup of it: name is note with a suffix, as
// with sed -i.save.
func isBackupOf(name, note string) bool {
	return len(name) > len(note) && strings.HasPrefix(name, note) && !model.Path(name).IsNote()
}

// maxScratch is the maximum total size in bytes of all scratch files and drafts. Beyond it writes fail.
const maxScratch = 256 << 20

type scratchQuota struct{ atomic.Int64 }

func (q *scratchQuota) grow(more int64) bool {
	if more > 0 && q.Load()+more > maxScratch {
		return false
	}
	q.Add(more)
	return true
}
