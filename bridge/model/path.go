package model

import (
	"fmt"
	"path"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Path names something in a workspace: "Folder/sub/Name.md", separated by '/',
// UTF-8, without a leading or trailing slash. The empty Path is the workspace
// itself, whose children are the Folders.
type Path string

// DocID identifies a document for as long as it lives, over renames.
type DocID string

// Limits of names, as the kernel and every common file system have them.
const (
	maxName = 255  // bytes of one path element
	maxPath = 4096 // bytes of a whole path
)

// NoteExt is the extension that makes a file a note.
const NoteExt = ".md"

// CleanPath checks a path that came from outside and returns its canonical
// form: leading and repeated slashes dropped, "." elements dropped. It refuses
// "..", NUL, invalid UTF-8 (ErrBadName) and names over 255 bytes
// (ErrNameTooLong). It does not say whether anything exists there.
func CleanPath(s string) (Path, error) {
	if len(s) > maxPath {
		return "", &Error{Op: "open", Path: Path(strings.ToValidUTF8(s[:64], "")) + "...", Err: ErrNameTooLong}
	}
	parts := make([]string, 0, 8)
	for elem := range strings.SplitSeq(s, "/") {
		if elem == "" || elem == "." {
			continue
		}
		if err := CheckName(elem); err != nil {
			return "", &Error{Op: "open", Path: Path(strings.ToValidUTF8(s, "\uFFFD")), Err: err}
		}
		parts = append(parts, elem)
	}
	return Path(strings.Join(parts, "/")), nil
}

// CheckName checks one path element: ErrBadName or ErrNameTooLong, or nil.
func CheckName(name string) error {
	switch {
	case len(name) > maxName:
		return ErrNameTooLong
	case name == "", name == ".", name == "..":
		return ErrBadName
	case strings.ContainsAny(name, "/\x00"), !utf8.ValidString(name):
		return ErrBadName
	}
	return nil
}

// CheckNewName is CheckName for what is to be made or to get a new name: it has no
// control characters and no line breaks either (ErrControlName), which would forge
// what terminals and lists show. What has such a name already is read and written as
// anything else.
func CheckNewName(name string) error {
	if err := CheckName(name); err != nil {
		return err
	}
	if Path(name).HasControl() {
		return ErrControlName
	}
	return nil
}

// reservedNames are those of Windows' devices, with any extension.
var reservedNames = regexp.MustCompile(`(?i)^(con|prn|aux|nul|(com|lpt)[1-9¹²³]) *(\.|$)`)

// CheckWindowsName says why Windows cannot have a file or folder of that name, one element
// of a path, with a *BadNameError; nil if it can.
func CheckWindowsName(name string) error {
	refuse := func(format string, args ...any) error {
		return &BadNameError{fmt.Sprintf(format, args...) + ", so people on Windows could not have it; choose another name"}
	}
	if i := strings.IndexFunc(name, func(r rune) bool { return r < ' ' || strings.ContainsRune(`<>:"|?*\`, r) }); i >= 0 {
		return refuse("it holds the character %q", name[i])
	}
	if strings.HasSuffix(name, ".") || strings.HasSuffix(name, " ") {
		return refuse("it ends with %q", name[len(name)-1])
	}
	if m := reservedNames.FindStringSubmatch(name); m != nil {
		return refuse("%q is the name of a device", m[1])
	}
	return nil
}

// HasControl says whether a path holds control characters, C1 included, or line breaks.
func (p Path) HasControl() bool {
	return strings.ContainsFunc(string(p), func(r rune) bool { return unicode.In(r, unicode.Cc, unicode.Zl, unicode.Zp) })
}

// Split returns the Folder's name and the path inside that Folder ("" for the
// Folder itself).
func (p Path) Split() (folder, rel string) {
	folder, rel, _ = strings.Cut(string(p), "/")
	return folder, rel
}

// Dir is the parent; the parent of a Folder is the workspace, "".
func (p Path) Dir() Path {
	i := strings.LastIndexByte(string(p), '/')
	return p[:max(i, 0)]
}

// Base is the last element.
func (p Path) Base() string { return string(p[strings.LastIndexByte(string(p), '/')+1:]) }

// Join appends one element.
func (p Path) Join(name string) Path {
	if p == "" {
		return Path(name)
	}
	return p + "/" + Path(name)
}

// IsNote says whether the name is a note's: it ends in ".md", in any case.
func (p Path) IsNote() bool { return strings.EqualFold(path.Ext(string(p)), NoteExt) }

// endedDir is no path of a note: what begins with a dot is not served.
const endedDir Path = ".trash"

// Ended is where a Store keeps the document of the note that was at p, once that is removed: what comes to p after it is
// another one.
func (p Path) Ended() Path { return endedDir + "/" + p }

// EndedAt is where the note was whose document a Store keeps at p, and whether that has ended.
func (p Path) EndedAt() (was Path, ended bool) {
	if rest, ok := strings.CutPrefix(string(p), string(endedDir)+"/"); ok {
		return Path(rest), true
	}
	return p, false
}

// Contains says whether q is p or lies below p.
func (p Path) Contains(q Path) bool {
	return p == "" || q == p || strings.HasPrefix(string(q), string(p)+"/")
}

// FoldName maps names that people hold for the same to one key: Unicode
// composition (NFC) always, so that a name typed on macOS (NFD) finds the file
// written on Linux.
func FoldName(name string) string { return norm.NFC.String(name) }

// Rebased is rel after the move, which is at oldRel, below it or elsewhere.
func Rebased(rel, oldRel, newRel string) string {
	if rel == oldRel {
		return newRel
	}
	if rest, below := strings.CutPrefix(rel, oldRel+"/"); below {
		return path.Join(newRel, rest)
	}
	return rel
}
