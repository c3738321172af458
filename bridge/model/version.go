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
	read     sync.Once     // computes text
	text     string
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
}

// Text returns the workspace's view of the raw text.
func (v *Version) Text() string {
	v.read.Do(func() {
		v.text = v.raw
		if v.view != diffwrap.RawView {
			v.text = v.Known().Render(v.canonical, v.view)
		}
	})
	return v.text
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
	v := &Version{raw: raw, view: view, canonical: raw, modTime: modTime}
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
	return &Version{raw: raw, view: diffwrap.RawView, canonical: raw, runs: runs}
}

// NextModTime returns the modification time of a change that arrives now. It is at least a millisecond after prev,
// because programs compare milliseconds.
func NextModTime(prev, now time.Time) time.Time {
	if least := prev.Add(time.Millisecond); now.Before(least) {
		return least
	}
	return now
}
