package diffwrap

import (
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
