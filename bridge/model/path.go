package model

import (
	"fmt"
	"iter"
	"path"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Path is a path in a workspace, such as "Folder/sub/Name.md". It is UTF-8, separated by '/', and has no leading or
// trailing slash. The empty Path is the workspace, whose children are the roots.
type Path string

// DocID identifies a document for its whole life, even across renames.
type DocID string

// These are Linux's limits.
const (
	maxName = 255  // size of one path element in bytes
	maxPath = 4096 // size of a whole path in bytes
)

const NoteExt = ".md"

// CleanPath checks a path from outside and returns its canonical form, without empty and "." elements. It refuses "..",
// NUL and invalid UTF-8 (ErrBadName), and names of more than 255 bytes or paths of more than 4096 (ErrNameTooLong). It
// does not check whether the path exists.
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

// CheckName checks one path element. It returns ErrBadName, ErrNameTooLong or nil.
func CheckName(name string) error {
	switch {
	case len(name) > maxName:
		return ErrNameTooLong
	case name == "", name == ".", name == "..":
		return ErrBadName
	case strings.ContainsAny(name, "/\x00"):
		return ErrBadName
	case !utf8.ValidString(name):
		return &BadNameError{Reason: "it is not valid UTF-8; write it as UTF-8"}
	}
	return nil
}

// CheckNewName is CheckName for a new name. It also refuses control characters and line breaks (ErrControlName),
// because they would forge the output of terminals and lists. Existing files with such names are served as usual.
func CheckNewName(name string) error {
	if err := CheckName(name); err != nil {
		return err
	}
	if Path(name).HasControl() {
		return ErrControlName
	}
	return nil
}

// reservedNames are the names of Windows' devices, with any extension.
var reservedNames = regexp.MustCompile(`(?i)^(con|prn|aux|nul|(com|lpt)[1-9¹²³]) *(\.|$)`)

// CheckWindowsName returns a *BadNameError if Windows cannot have a file or folder with this name, which is one path
// element.
func CheckWindowsName(name string) error {
	refuse := func(format string, args ...any) error {
		return &BadNameError{fmt.Sprintf(format, args...) + ", which Windows does not allow; choose another name"}
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

// HasControl reports whether a path has control characters, including C1, or line breaks.
func (p Path) HasControl() bool {
	return strings.ContainsFunc(string(p), func(r rune) bool { return unicode.In(r, unicode.Cc, unicode.Zl, unicode.Zp) })
}

// Split returns the root's name and the path in the root. rel is "" for the root itself.
func (p Path) Split() (folder, rel string) {
	folder, rel, _ = strings.Cut(string(p), "/")
	return folder, rel
}

// Dir returns the parent. The parent of a root is the workspace, "".
func (p Path) Dir() Path {
	i := strings.LastIndexByte(string(p), '/')
	return p[:max(i, 0)]
}

func (p Path) Base() string { return string(p[strings.LastIndexByte(string(p), '/')+1:]) }

func (p Path) Join(name string) Path {
	if p == "" {
		return Path(name)
	}
	return p + "/" + Path(name)
}

func (p Path) IsNote() bool { return strings.EqualFold(path.Ext(string(p)), NoteExt) }

// endedDir is never a folder of served notes, because its name begins with a dot.
const endedDir Path = ".trash"

// Ended returns the path at which a Store keeps the document of a removed note. A new note at p gets another document.
func (p Path) Ended() Path { return endedDir + "/" + p }

// EndedAt reports whether a Store's path belongs to a removed note, and returns the path that the note had.
func (p Path) EndedAt() (original Path, ended bool) {
	if rest, ok := strings.CutPrefix(string(p), string(endedDir)+"/"); ok {
		return Path(rest), true
	}
	return p, false
}

func (p Path) Contains(q Path) bool {
	return p == "" || q == p || strings.HasPrefix(string(q), string(p)+"/")
}

// BeforeExt returns a name with text before its extension, as in "Note 1.md". It shortens the name so that the result is
// no longer than a name may be.
func BeforeExt(name, text string) string {
	ext := path.Ext(name)
	if len(ext) > maxName/2 {
		ext = ""
	}
	stem := strings.TrimSuffix(name, ext)
	if most := maxName - len(text) - len(ext); len(stem) > most {
		stem = strings.ToValidUTF8(stem[:most], "")
	}
	return stem + text + ext
}

// NumberedNames returns a name, and then without end the name with the numbers from 1 before its extension.
func NumberedNames(name string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for n, numbered := 1, name; yield(numbered); n++ {
			numbered = BeforeExt(name, fmt.Sprintf(" %d", n))
		}
	}
}

// FoldName returns the same key for names that differ only in their Unicode composition. So a name typed on macOS (NFD)
// finds the file written on Linux (NFC).
func FoldName(name string) string { return norm.NFC.String(name) }

// Parent is Path.Dir for a path in a source.
func Parent(rel string) string { return string(Path(rel).Dir()) }

func Rebased(rel, oldRel, newRel string) string {
	if rel == oldRel {
		return newRel
	}
	if rest, below := strings.CutPrefix(rel, oldRel+"/"); below {
		return path.Join(newRel, rest)
	}
	return rel
}
