package diffwrap

import (
	"github.com/relayfs/relayfs/diffwrap/internal/align"
	"github.com/relayfs/relayfs/diffwrap/internal/critic"
	"github.com/relayfs/relayfs/diffwrap/internal/span"
)

// Span is a half-open range of bytes.
type Span = span.Span

// Edit replaces Len bytes at byte offset Off of a text by New. A script is a []Edit sorted by Off, without
// overlaps, whose offsets all refer to the text before the first edit; two edits may touch.
// Offsets never fall inside a UTF-8 sequence.
type Edit = span.Edit

// Apply returns text with a script carried out.
func Apply(text string, edits []Edit) string { return span.Apply(text, edits) }

// Compose returns the script that does to a text of size bytes what first does and then second, whose offsets refer to
// the text after first.
func Compose(size int, first, second []Edit) []Edit { return span.Compose(size, first, second) }

// Diff returns a small script of edits that turns old into new. It is never larger than what lies between the texts'
// common start and end; a script of that size is one edit. No edit cuts a grapheme cluster. Markup has no meaning here:
// Diff merges a change that a person made to a file into the document.
func Diff(old, new string) []Edit { return align.Diff(old, new) }

// DiffKeepingWords returns a script that turns old into new and leaves each word that they share, in order.
func DiffKeepingWords(old, new string) []Edit { return align.DiffKeepingWords(old, new) }

// DiffWords returns a script that turns old into new and is fit to be read: it changes whole words, and rather one long stretch than
// many short ones.
func DiffWords(old, new string) []Edit { return align.Words(old, new) }

// View is what a reader is shown of a raw text.
type View = critic.View

const (
	AcceptedView = critic.AcceptedView
	OriginalView = critic.OriginalView
	RawView      = critic.RawView
)

// ParseView is the inverse of View.String.
func ParseView(s string) (View, error) { return critic.ParseView(s) }

// Accepted returns raw with every pending suggestion accepted.
func (k Known) Accepted(raw string) string { return k.Render(raw, AcceptedView) }
func Accepted(raw string) string           { return Known{}.Accepted(raw) }

// Original returns raw with every pending suggestion rejected.
func (k Known) Original(raw string) string { return k.Render(raw, OriginalView) }
func Original(raw string) string           { return Known{}.Original(raw) }

// Render returns a view of raw. It does not copy a text without markup.
func (k Known) Render(raw string, v View) string {
	if v == RawView {
		return raw
	}
	return k.parse(raw).Render(v)
}
func Render(raw string, v View) string { return Known{}.Render(raw, v) }

// Segment says that Len bytes at ViewOff of a view are the bytes at RawOff of the raw text.
type Segment = critic.Segment

// Segments lists, in order and without empty ones, which bytes of raw the view shows. Neighbours that are
// contiguous in raw are one segment.
func (k Known) Segments(raw string, v View) []Segment { return critic.Segments(raw, k.marks, v) }

// Dialect is a way to attribute a mark to its writer inside the text. All dialects are read. The one in Options is
// written.
type Dialect = critic.Dialect

const (
	Plain         = critic.Plain
	Commentator   = critic.Commentator
	RelayComments = critic.RelayComments
)

// ParseDialect is the inverse of Dialect.String.
func ParseDialect(s string) (Dialect, error) { return critic.ParseDialect(s) }
