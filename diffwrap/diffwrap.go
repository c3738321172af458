package diffwrap

import (
	"github.com/relayfs/relayfs/diffwrap/internal/align"
	"github.com/relayfs/relayfs/diffwrap/internal/script"
	"github.com/relayfs/relayfs/diffwrap/internal/span"
)

// Span is a half-open range of bytes.
type Span = span.Span

// Edit replaces Len bytes at byte offset Off of a text by New. A script is a []Edit sorted by Off, without
// overlaps, whose offsets all refer to the text before the first edit; two edits may touch.
// Offsets never fall inside a UTF-8 sequence.
type Edit = script.Edit

// Apply returns text with a script carried out.
func Apply(text string, edits []Edit) string { return script.Apply(text, edits) }

// Compose returns the script that does to a text of that size what first does, and then second, whose places are of the
// text after first.
func Compose(size int, first, second []Edit) []Edit { return script.Compose(size, first, second) }

// Diff returns a small script of edits that turns old into new. It is never larger than what lies between the texts'
// common start and end, and of that size it is one edit. No edit cuts a grapheme cluster. Markup has no meaning here;
// this is what brings a change that a person made to a file into the document.
func Diff(old, new string) []Edit { return align.Diff(old, new) }
