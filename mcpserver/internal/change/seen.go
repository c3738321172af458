package change

import (
	"context"
	"fmt"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/diffwrap"
	"github.com/relayfs/relayfs/mcpserver/internal/answer"
	"github.com/relayfs/relayfs/mcpserver/internal/passage"
	"github.com/relayfs/relayfs/mcpserver/internal/session"
)

// Reader is the tool of a toolset by which a document is read before it is changed.
type Reader struct {
	// NotesOnly is set if it refuses whatever is no note.
	NotesOnly bool
	// Call describes the call that reads the document at p, from a position on if that
	// is set.
	Call func(p model.Path, from passage.Position) string
}

// MustKnow returns what the session was shown of the document at p, or an error
// that says to read it first.
func (c Changes) MustKnow(ctx context.Context, p model.Path, by Reader, doing string) (session.Knowledge, error) {
	known, ok := c.Session.Known(p)
	if ok {
		return known, nil
	}
	if p.IsNote() || by.NotesOnly {
		if _, err := c.Workspace.Open(ctx, p); err != nil {
			return known, err
		}
	}
	return known, answer.WrongArgument("You must read this document before %s it. Call %s first.", doing, by.Call(p, passage.Position{}))
}

// MayTake refuses edits of what is known that take away what the session was not
// shown.
func (c Changes) MayTake(p model.Path, known session.Knowledge, edits []diffwrap.Edit, by Reader) error {
	for _, e := range edits {
		if part, lacks := known.Seen.Lacks(passage.Place{Start: e.Off, End: e.Off + e.Len}); lacks {
			return NotShown(p, known.Text, part, by)
		}
	}
	return nil
}

// NotShown says how to read a part of text, before it is changed.
func NotShown(p model.Path, text string, part passage.Place, by Reader) error {
	begin := passage.At(text, part.Start)
	if begin.Column <= answer.MaxLine {
		begin.Column = 1
	}
	return answer.WrongArgument("%s was left as it is: the change would take away text that you have not been shown, in line %d. Call %s to see it first.",
		answer.Shown(p), begin.Line, by.Call(p, begin))
}

// ReadCall describes the call of a tool that reads what document names, as arguments,
// from a position on if that is set. line is the argument for the line to begin at.
func ReadCall(tool, document, line string, from passage.Position) string {
	if from.Line > 0 {
		document += fmt.Sprintf(", %s: %d", line, from.Line)
	}
	if from.Column > 1 {
		document += fmt.Sprintf(", column: %d", from.Column)
	}
	return "the " + tool + " tool with " + document
}
