package model

import (
	"sync"
	"time"
	"unicode/utf8"

	"github.com/relayfs/relayfs/bridge/textmerge"
	"github.com/relayfs/relayfs/bridge/ycrdt"
	"github.com/relayfs/relayfs/diffwrap"
)

// MaxNote is the maximum size of a note in bytes. A larger note is not written, and a larger file of a source is a
// read-only note.
const MaxNote = 16 << 20

// Version is one published, immutable state of a note.
type Version struct {
	raw      string
	view     diffwrap.View // the view that text renders
	text     *rendering
	seq      uint64
	recorded uint64
	modTime  time.Time
	readOnly bool

	// canonical is raw after canonicalEdits, which move users' text out of agents' marks.
	canonical      string
	canonicalEdits []diffwrap.Edit

	known, canonicalKnown diffwrap.Known // the recorded marks of raw and canonical

	// runs are the CRDT IDs of raw. For a note with a Doc they are set when a newer version replaces the version, or
	// earlier if the change computed them. Versions of a live document have them from the start. Only merges and
	// attribution read them. The note's write lock guards them.
	runs []ycrdt.Run

	apart *bool // the result of IsApart; nil if not known. The note's write lock guards it.
}

// rendering is a view of a text, computed when it is first read. Versions with the same view share it.
type rendering struct {
	once sync.Once
	text string
}

// Text returns the workspace's view of the raw text.
func (v *Version) Text() string {
	v.text.once.Do(func() {
		v.text.text = v.raw
		if v.view != diffwrap.RawView {
			v.text.text = v.Known().Render(v.canonical, v.view)
		}
	})
	return v.text.text
}

// IsApart reports whether a part of the version, from Around, can be changed without a look at the rest (diffwrap.Known's
// IsApart). The caller must hold the note's write lock.
func (v *Version) IsApart() bool {
	if v.apart == nil {
		apart := !v.readOnly && len(v.canonicalEdits) == 0 && v.known.IsApart(v.raw)
		v.apart = &apart
	}
	return *v.apart
}

// Part returns a part of the version as a version of its own. IsApart must be true.
func (v *Version) Part(s diffwrap.Span) *Version {
	p := NewVersion(s.Of(v.raw), v.view, v.modTime)
	known := v.known.Before(s.End).From(s.Start)
	p.Attribute(known, nil, known)
	return p
}

// With returns the version after the part at s changed to p, for which IsApart must be true, too. It reports whether the
// view changed. runs are the CRDT IDs of p, and from and to are the UTF-16 positions of s.
func (v *Version) With(s diffwrap.Span, p *Version, from, to int, runs []ycrdt.Run, modTime time.Time) (with *Version, viewChanged bool) {
	with = NewVersion(v.raw[:s.Start]+p.raw+v.raw[s.End:], v.view, modTime)
	known := v.known.With(s, len(p.raw), p.known)
	with.Attribute(known, nil, known)
	with.apart = p.apart
	if v.runs != nil {
		with.runs = withRuns(v.runs, from, to, runs)
	}
	if viewChanged = p.Text() != v.Part(s).Text(); !viewChanged {
		with.text = v.text
	}
	return with, viewChanged
}

// withRuns returns list with the units between two positions replaced.
func withRuns(list []ycrdt.Run, from, to int, part []ycrdt.Run) []ycrdt.Run {
	runAt := func(pos int) (i, within int) { // index of the run with the unit at pos, and the units before it in the run
		for i < len(list) && pos >= list[i].Len {
			pos, i = pos-list[i].Len, i+1
		}
		return i, pos
	}
	i, n := runAt(from)
	out := append(make([]ycrdt.Run, 0, len(list)+len(part)+1), list[:i]...)
	if n > 0 {
		out = append(out, ycrdt.Run{ID: list[i].ID, Len: n})
	}
	for _, r := range part {
		out = ycrdt.AppendRun(out, r)
	}
	i, n = runAt(to)
	if i == len(list) {
		return out
	}
	after := list[i]
	after.ID.Clock, after.Len = after.ID.Clock+uint64(n), after.Len-n
	return append(ycrdt.AppendRun(out, after), list[i+1:]...)
}

// Decoded returns Text, converted to UTF-8 if the note has another encoding. encoding is the name of that encoding, or
// "" if no conversion was needed.
func (v *Version) Decoded() (text, encoding string) {
	if v.readOnly {
		if text, encoding, ok := Decode(v.Text()); ok {
			return text, encoding
		}
	}
	return v.Text(), ""
}

// Raw returns the stored text, marks included.
func (v *Version) Raw() string { return v.raw }

// Canonical returns the raw text with users' text moved out of agents' marks. The next write stores the note in this
// form.
func (v *Version) Canonical() string { return v.canonical }

// Seq returns a number that grows with every change of the note in this process.
func (v *Version) Seq() uint64 { return v.seq }

// Recorded returns the store sequence number of the last record that the note's document had when the version was
// published, or 0 if it had none.
func (v *Version) Recorded() uint64 { return v.recorded }

// ModTime returns the modification time. While the note is in memory, it changes only when Text changes, and never
// decreases.
func (v *Version) ModTime() time.Time { return v.modTime }

// ReadOnly reports whether writes are refused, because the note is not UTF-8, is too large, or has content that is not
// text.
func (v *Version) ReadOnly() bool { return v.readOnly }

// CanonicalEdits returns the edits from Raw to Canonical.
func (v *Version) CanonicalEdits() []diffwrap.Edit { return v.canonicalEdits }

// RawKnown returns the marks of Raw that relayfs has recorded, and Known returns the recorded marks of Canonical. These
// marks count in every context, even in code.
func (v *Version) RawKnown() diffwrap.Known { return v.known }

func (v *Version) Known() diffwrap.Known { return v.canonicalKnown }

// Suggestions lists the pending suggestions of Canonical, without data from the records.
func (v *Version) Suggestions() []diffwrap.Suggestion { return v.Known().Suggestions(v.canonical) }

// Runs returns the CRDT IDs of Raw, or nil if unknown. The caller must hold the note's write lock.
func (v *Version) Runs() []ycrdt.Run { return v.runs }

func (v *Version) Side() textmerge.Side {
	return textmerge.Side{Raw: v.raw, Canonical: v.canonical, Known: v.Known(), Text: v.Text(), CanonicalEdits: v.canonicalEdits, Runs: v.runs}
}

// SetRuns sets the CRDT IDs of Raw. The caller must hold the note's write lock.
func (v *Version) SetRuns(runs []ycrdt.Run) { v.runs = runs }

// SetSeq, SetModTime and SetReadOnly complete a version before it is published.
func (v *Version) SetSeq(seq, recorded uint64)  { v.seq, v.recorded = seq, recorded }
func (v *Version) SetModTime(modTime time.Time) { v.modTime = modTime }
func (v *Version) SetReadOnly()                 { v.readOnly = true }

func Writable(raw string) bool { return len(raw) <= MaxNote && utf8.ValidString(raw) }

// NewVersion returns a state of a note. Text that is not UTF-8 or too large is shown byte for byte and cannot be
// written.
func NewVersion(raw string, view diffwrap.View, modTime time.Time) *Version {
	v := &Version{raw: raw, view: view, text: new(rendering), canonical: raw, modTime: modTime}
	if !Writable(raw) {
		v.readOnly, v.view = true, diffwrap.RawView
	}
	return v
}

// Attribute sets the recorded marks of the raw text, the edits that move users' text out of agents' marks, and the
// recorded marks of the text after these edits. It must be called before the version is published.
func (v *Version) Attribute(known diffwrap.Known, edits []diffwrap.Edit, canonical diffwrap.Known) {
	v.known, v.canonicalEdits, v.canonicalKnown = known, edits, canonical
	v.canonical = diffwrap.Apply(v.raw, edits)
}

// RawVersion returns a state of a note as a reader of its raw text sees it.
func RawVersion(raw string, runs []ycrdt.Run) *Version {
	return &Version{raw: raw, view: diffwrap.RawView, text: new(rendering), canonical: raw, runs: runs}
}

// NextModTime returns the modification time of a change that arrives now. It is at least a millisecond after prev,
// because programs compare milliseconds.
func NextModTime(prev, now time.Time) time.Time {
	if least := prev.Add(time.Millisecond); now.Before(least) {
		return least
	}
	return now
}
