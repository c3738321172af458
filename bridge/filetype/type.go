// Package filetype derives the type of a document from its name: note, canvas or base. It also checks whether a text is
// a valid canvas or base, and names the place of an error. Its callers check each text that a program writes as a whole
// file, before they write or propose it.
package filetype

import (
	"errors"
	"fmt"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/relayfs/relayfs/bridge/frontmatter"
)

type Type string

const (
	Note   Type = "note"   // Markdown
	Canvas Type = "canvas" // JSON Canvas
	Base   Type = "base"   // Obsidian Bases, YAML
)

var extensions = map[Type]string{Note: ".md", Canvas: ".canvas", Base: ".base"}

func (t Type) Ext() string { return extensions[t] }

// TypeOf returns the type by the file extension, or "" if no type has that extension.
func TypeOf(p string) Type {
	for t, ext := range extensions {
		if strings.EqualFold(path.Ext(p), ext) {
			return t
		}
	}
	return ""
}

// Check returns an error that names the place if text is invalid. Every text is a valid note.
func (t Type) Check(text string) error {
	switch t {
	case Canvas:
		return checkCanvas(text)
	case Base:
		return checkBase(text)
	}
	return nil
}

func checkBase(text string) error {
	_, err := frontmatter.ParseYAML(strings.TrimPrefix(text, "\ufeff"))
	var syntax *frontmatter.SyntaxError
	if errors.As(err, &syntax) {
		// The parser counts lines from the opening fence of front matter. A base has no fence.
		return fmt.Errorf("line %d, column %d: the base is not valid: %s", syntax.Line-1, syntax.Column, syntax.Msg)
	}
	return err
}

// at returns an error that names the line and the column of an offset. Lines and columns, in characters, start at 1.
func at(text string, off int, format string, args ...any) error {
	off = min(max(off, 0), len(text))
	start := strings.LastIndexByte(text[:off], '\n') + 1
	line, column := 1+strings.Count(text[:off], "\n"), 1+utf8.RuneCountInString(text[start:off])
	return fmt.Errorf("line %d, column %d: %s", line, column, fmt.Sprintf(format, args...))
}
