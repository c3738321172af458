package session

import (
	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/diffwrap"
	"github.com/relayfs/relayfs/mcpserver/internal/passage"
)

// Document is what a client is shown.
type Document struct {
	Path    model.Path
	Text    string         // as it is shown
	Version *model.Version // of a note; nil for another file
}

// Knowledge is what a session knows of a document.
type Knowledge struct {
	Text string      // when it was shown last
	Seen passage.Set // what of the text the session knows

	Version *model.Version        // of a note, whose text it is; nil for other files
	Mine    []diffwrap.Suggestion // marks of Version that are the session's own suggestions
	News    []bridge.Resolved     // what became of earlier ones, not told yet
}

// Shown is what is known of a document once a part of d is shown.
func (n Knowledge) Shown(d Document, part passage.Place) Knowledge {
	if part == (passage.Place{Start: 0, End: len(d.Text)}) {
		return Knowledge{Text: d.Text, Seen: passage.All(d.Text), Version: d.Version}
	}
	return Knowledge{Text: d.Text, Seen: n.In(d.Text).With(part), Version: d.Version}
}

// In is what the session knows of text, which the document has become.
func (n Knowledge) In(text string) passage.Set { return n.Seen.Between(n.Text, text, false) }
