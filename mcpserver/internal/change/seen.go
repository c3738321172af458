package change

import (
	"context"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/diffwrap"
	"github.com/relayfs/relayfs/mcpserver/internal/answer"
	"github.com/relayfs/relayfs/mcpserver/internal/passage"
	"github.com/relayfs/relayfs/mcpserver/internal/session"
)

// Reader is the tool by which a client reads a document before it changes it.
type Reader struct {
	// NotesOnly says that the tool refuses everything but notes.
	NotesOnly bool
	// Call describes the call that reads the document at p, from a position if that is
	// not zero.
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

// MayTake returns an error if edits of known.Text remove text that the session was not
// shown.
func (c Changes) MayTake(p model.Path, known session.Knowledge, edits []diffwrap.Edit, by Reader) error {
	for _, e := range edits {
		if part, lacks := known.Seen.Lacks(passage.Place{Start: e.Off, End: e.Off + e.Len}); lacks {
			return NotShown(p, known.Text, part, by)
		}
	}
	return nil
}

// NotShown returns the error that says how to read a part of text before it is changed.
func NotShown(p model.Path, text string, part passage.Place, by Reader) error {
	begin := passage.At(text, part.Start)
	if begin.Column <= answer.MaxLine {
		begin.Column = 1
	}
	return answer.WrongArgument("%s was left as it is: the change would take away text that you have not been shown, in line %d. Call %s to see it first.",
		answer.Shown(p), begin.Line, by.Call(p, begin))
}

// ReadCall describes a call of tool. document has the arguments that name the document.
// line is the name of the argument for the first line, which is added if from is not zero.
func ReadCall(tool, document, line string, from passage.Position) string {
	if from.Line > 0 {
		document += ", " + from.Arguments(line)
	}
	return "the " + tool + " tool with " + document
}
