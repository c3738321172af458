package diffwrap

import (
	"github.com/relayfs/relayfs/diffwrap/internal/align"
	"github.com/relayfs/relayfs/diffwrap/internal/critic"
	"github.com/relayfs/relayfs/diffwrap/internal/span"
)

// Span is a half-open range of bytes.
type Span = span.Span

// Edit replaces Len bytes at byte offset Off of a text by New. A script is a []Edit sorted by Off, without overlaps.
// All offsets of a script refer to the text before its first edit. Two edits may touch. Offsets never fall inside a
// UTF-8 sequence.
type Edit = span.Edit

func Apply(text string, edits []Edit) string { return span.Apply(text, edits) }

// Compose returns one script with the effect of first and then second on a text of size bytes. The offsets of second
// refer to the text after first.
func Compose(size int, first, second []Edit) []Edit { return span.Compose(size, first, second) }

// Diff returns a small script that turns old into new. The script deletes and inserts no more text than a single edit
// would; if it deletes and inserts as much, it is a single edit. No edit cuts a grapheme cluster. Diff treats
// CriticMarkup as text.
func Diff(old, new string) []Edit { return align.Diff(old, new) }

// DiffKeepingWords returns a script that turns old into new. The script usually keeps the words that both texts have in
// the same order.
func DiffKeepingWords(old, new string) []Edit { return align.DiffKeepingWords(old, new, true) }

// DiffWords returns an edit script that turns old into new and is easy to read. It changes whole words, and prefers one
// long change to many short ones.
func DiffWords(old, new string) []Edit { return align.Words(old, new) }

type View = critic.View

const (
	AcceptedView = critic.AcceptedView
	OriginalView = critic.OriginalView
	RawView      = critic.RawView
)

func ParseView(s string) (View, error) { return critic.ParseView(s) }

func (k Known) Accepted(raw string) string { return k.Render(raw, AcceptedView) }
func Accepted(raw string) string           { return Known{}.Accepted(raw) }

func (k Known) Original(raw string) string { return k.Render(raw, OriginalView) }
func Original(raw string) string           { return Known{}.Original(raw) }

// Render returns a view of raw. If raw has no markup, it returns raw without a copy.
func (k Known) Render(raw string, v View) string {
	if v == RawView {
		return raw
	}
	return k.parse(raw).Render(v)
}

// Segment maps Len bytes at ViewOff of a view to the same bytes at RawOff of the raw text.
type Segment = critic.Segment

// Segments lists the parts of raw that the view shows, in order. No segment is empty. Segments that are adjacent in
// raw are merged.
func (k Known) Segments(raw string, v View) []Segment {
	if v == RawView && raw != "" {
		return []Segment{{Len: len(raw)}}
	}
	return k.parse(raw).Segments(v)
}

// ViewOff converts an offset of the raw text to an offset of the view with these segments. Text that the view does not
// show has the offset of the text behind it.
func ViewOff(segments []Segment, raw int) int { return critic.ViewOff(segments, raw) }

// Dialect is a way to attribute a mark to its writer inside the text. All dialects are read; Options selects the
// dialect that Put writes.
type Dialect = critic.Dialect

const (
	Plain         = critic.Plain
	Commentator   = critic.Commentator
	RelayComments = critic.RelayComments
)

func ParseDialect(s string) (Dialect, error) { return critic.ParseDialect(s) }
