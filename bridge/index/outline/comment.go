package outline

import (
	"slices"
	"strings"

	"github.com/relayfs/relayfs/bridge/frontmatter"
	"github.com/relayfs/relayfs/diffwrap"
	"github.com/relayfs/relayfs/diffwrap/block"
)

// commentBlocks returns the multi-line comments of a text with the given leaves, in which plugins store their data. Such
// a comment reaches from a "%%" at the start of a line to the next "%%" on a later line, or to the end of the text. A
// "%%" in code or in the middle of a line does not begin a comment.
func commentBlocks(text string, leaves []block.Leaf) (list []diffwrap.Span) {
	open, off := -1, 0
	for line := range strings.Lines(text) {
		at := off
		off += len(line)
		content := strings.TrimLeft(line, " \t")
		for len(leaves) > 0 && (leaves[0].End <= at || leaves[0].Kind != block.Code) {
			leaves = leaves[1:]
		}
		switch {
		case open >= 0:
			if i := strings.Index(line, "%%"); i >= 0 {
				list = append(list, diffwrap.Span{Start: open, End: at + i + len("%%")})
				open = -1
			}
		case len(leaves) > 0 && leaves[0].Start <= at:
		case strings.HasPrefix(content, "%%") && strings.Count(content, "%%")%2 == 1:
			open = at
		}
	}
	if open >= 0 {
		list = append(list, diffwrap.Span{Start: open, End: len(text)})
	}
	return list
}

// These are the properties by which plugins mark their notes, and the line between the lanes of a Kanban board and its
// archive.
const (
	kanbanProperty     = "kanban-plugin"
	excalidrawProperty = "excalidraw-plugin"
	kanbanArchive      = "***"
)

// form has the parts of a note that are not the user's text: comments and the data of plugins.
type form struct {
	kanban   bool
	comments []diffwrap.Span
	data     int // offset of a drawing's data or of a board's archive; for any other note its length
}

func formOf(note string) form {
	_, body, _ := frontmatter.Split(note)
	f := form{comments: commentBlocks(note[body:], slices.Collect(block.Leaves(note[body:]))), data: len(note)}
	for i := range f.comments {
		f.comments[i] = f.comments[i].Shift(body)
	}
	properties, err := frontmatter.Parse(note)
	if err != nil {
		return f
	}
	for _, p := range properties {
		switch p.Key {
		case kanbanProperty:
			f.kanban = true
			f.data = lineOf(note, body, kanbanArchive)
		case excalidrawProperty:
			f.data = lineOf(note, body, drawingData...)
		}
	}
	return f
}

var drawingData = []string{"%%", "# Excalidraw Data", "# Text Elements", "# Drawing", "## Text Elements", "## Drawing"}

// lineOf returns the offset of the first line after body that equals one of lines, or the length of note.
func lineOf(note string, body int, lines ...string) int {
	off := body
	for line := range strings.Lines(note[body:]) {
		if slices.Contains(lines, strings.TrimSpace(line)) {
			return off
		}
		off += len(line)
	}
	return len(note)
}

// end returns the end of the user's text between two offsets. The text ends before multi-line comments and the blank
// lines around them, and before the data of a drawing or the archive of a board.
func (f form) end(note string, from, to int) int {
	if from < f.data {
		to = min(to, f.data)
	}
	left := f.comments
	for {
		end := from + len(strings.TrimRight(note[from:to], " \t\r\n"))
		for len(left) > 0 && left[len(left)-1].Start >= end {
			left = left[:len(left)-1]
		}
		if len(left) == 0 || left[len(left)-1].Start < from || left[len(left)-1].End < end {
			return to
		}
		to = left[len(left)-1].Start
	}
}
