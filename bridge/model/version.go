package model

import (
	"slices"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/relayfs/relayfs/bridge/textmerge"
	"github.com/relayfs/relayfs/bridge/ycrdt"
	"github.com/relayfs/relayfs/diffwrap"
)

// MaxNote is the size in bytes above which a note is not written, and a file of
// a source is served as it is, not as a note.
const MaxNote = 16 << 20

// Version is one published state of a note. Its text never changes; holding one costs
// its memory and nothing else.
type Version struct {
	raw      string
	view     diffwrap.View // of text
	read     sync.Once     // protects text
	text     string
	seq      uint64
	modTime  time.Time
	readOnly bool

	// canonical is raw with what people typed inside of agents' marks outside of them, and
	// separated the edits that lead there.
	canonical      string
	canonicalEdits []diffwrap.Edit

	known, canonicalKnown diffwrap.Known // the marks of raw and canonical that the store's records know

	// runs names the characters of raw by their CRDT identity. It is set, under
	// the note's write lock, when a newer version replaces this one and the note
	// has a Doc; nil otherwise. The versions of a live document have it from the
	// start. Only merges and attribution read it, under the same lock.
	runs []ycrdt.Run
}

// Text is what a reader is shown: the workspace's view of the raw text.
func (v *Version) Text() string {
	v.read.Do(func() {
		v.text = v.raw
		if v.view != diffwrap.RawView {
			v.text = v.Known().Render(v.canonical, v.view)
		}
	})
	return v.text
}

// Raw is what is stored, marks included.
func (v *Version) Raw() string { return v.raw }

// Canonical is the raw text as its suggestions are read: what people typed inside of
// agents' marks stands plain next to them. The next write leaves the note like that.
func (v *Version) Canonical() string { return v.canonical }

// Seq grows with every change of the note while the process lives.
func (v *Version) Seq() uint64 { return v.seq }

// ModTime changes exactly when Text changes, and never goes backwards.
func (v *Version) ModTime() time.Time { return v.modTime }

// ReadOnly says that writes to the note are refused: its bytes are not UTF-8,
// or there are too many of them.
func (v *Version) ReadOnly() bool { return v.readOnly }

// CanonicalEdits are the edits that lead from Raw to Marked.
func (v *Version) CanonicalEdits() []diffwrap.Edit { return v.canonicalEdits }

// RawKnown are the marks of Raw that relayfs has recorded, Known those of Marked. They count wherever they stand.
func (v *Version) RawKnown() diffwrap.Known { return v.known }

func (v *Version) Known() diffwrap.Known { return v.canonicalKnown }

// Suggestions lists the pending suggestions of Marked, as the text alone tells of them.
func (v *Version) Suggestions() []diffwrap.Suggestion { return v.Known().Suggestions(v.canonical) }

// Runs are the identities of the characters of Raw, nil if they are not known. They are
// read under the note's write lock.
func (v *Version) Runs() []ycrdt.Run { return v.runs }

// Side is the version as one side of a merge.
func (v *Version) Side() textmerge.Side {
	return textmerge.Side{Raw: v.raw, Marked: v.canonical, Known: v.Known(), Text: v.Text(), Separated: v.canonicalEdits, Runs: v.runs}
}

// SetRuns tells the identities of its characters. The note's write lock is held.
func (v *Version) SetRuns(runs []ycrdt.Run) { v.runs = runs }

// SetSeq, Date and LockWrites complete a version before it is published.
func (v *Version) SetSeq(seq uint64)            { v.seq = seq }
func (v *Version) SetModTime(modTime time.Time) { v.modTime = modTime }
func (v *Version) SetReadOnly()                 { v.readOnly = true }

// Writable says whether a note with that raw text can be written: it is UTF-8, and not too large.
func Writable(raw string) bool { return len(raw) <= MaxNote && utf8.ValidString(raw) }

// NewVersion makes the state of a note whose raw text is raw. What is not UTF-8
// or too large is shown byte for byte and cannot be written.
func NewVersion(raw string, view diffwrap.View, modTime time.Time) *Version {
	v := &Version{raw: raw, view: view, canonical: raw, modTime: modTime}
	if !Writable(raw) {
		v.readOnly, v.view = true, diffwrap.RawView
	}
	return v
}

// Attribute says which marks of the raw text are known, and takes what people typed inside of agents' marks out of
// them by edits, before anybody reads the version. canonical are the known marks of the text after that.
func (v *Version) Attribute(known diffwrap.Known, edits []diffwrap.Edit, canonical diffwrap.Known) {
	v.known, v.canonicalEdits, v.canonicalKnown = known, edits, canonical
	v.canonical = diffwrap.Apply(v.raw, edits)
}

// ReadsAs reports whether two versions of one raw text have the same marks.
func (v *Version) ReadsAs(other *Version) bool {
	return v.known.Same(other.known) && slices.Equal(v.canonicalEdits, other.canonicalEdits)
}

// RawVersion is a state of a note as a reader of its raw text sees it.
func RawVersion(raw string, runs []ycrdt.Run) *Version {
	return &Version{raw: raw, view: diffwrap.RawView, canonical: raw, runs: runs}
}

// NextModTime is the modification time of a change that arrives now: later than
// prev by at least a millisecond, because programs compare whole milliseconds.
func NextModTime(prev, now time.Time) time.Time {
	if least := prev.Add(time.Millisecond); now.Before(least) {
		return least
	}
	return now
}
