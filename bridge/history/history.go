package history

import (
	"fmt"
	"io/fs"
	"slices"
	"time"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/note/attribution"
	"github.com/relayfs/relayfs/bridge/ycrdt"
	"github.com/relayfs/relayfs/diffwrap"
)

type History struct {
	revisions model.RevisionHistory
	// texts has the states: state 0 is the beginning of the history, and state n is the state after revision n-1.
	texts *model.Texts
}

func New(past model.RevisionHistory) (*History, error) {
	did := []*ycrdt.Snapshot{past.Begin.Units}
	for _, m := range past.Revisions {
		did = append(did, m.Units)
	}
	texts, err := model.TextsOf(past.Update, did)
	return &History{past, texts}, err
}

// Point identifies a state of a note by the number of an entry or by a time.
type Point struct {
	Entry uint64    `json:"entry,omitempty"` // takes precedence over Time if it is not 0
	Time  time.Time `json:"time,omitzero"`
}

// UnknownError is an fs.ErrNotExist: the store does not have the requested state.
type UnknownError struct{ Reason string }

func (e *UnknownError) Error() string { return e.Reason }

func (e *UnknownError) Unwrap() error { return fs.ErrNotExist }

// At returns a view of the note at a point, and the last entry up to it. The text has all or none of the plain
// changes that one author made in one minute.
func (h *History) At(w Point, v diffwrap.View) (string, Entry, error) {
	n, err := h.find(w)
	if err != nil {
		return "", Entry{}, err
	}
	e := h.beginning()
	if n > 0 {
		e = h.entry(n - 1)
	}
	return h.render(n, e.Number, v), e, nil
}

// render returns a view of state n, to which the record seq led.
func (h *History) render(n int, seq uint64, v diffwrap.View) string {
	raw, runs := h.texts.At(n)
	if v == diffwrap.RawView {
		return raw
	}
	later := func(r model.Record) bool { return r.Seq > seq }
	t := attribution.NewTable(slices.DeleteFunc(slices.Clone(h.revisions.Records), later))
	u := t.UnitsOf(raw, runs)
	edits, x := t.CanonicalEdits(attribution.Known(u), u)
	return x.Known.Render(diffwrap.Apply(raw, edits), v)
}

func (h *History) find(w Point) (int, error) {
	begin := h.revisions.Begin
	if w.Entry != 0 {
		i := slices.IndexFunc(h.revisions.Revisions, func(m model.Revision) bool { return m.Units != nil && m.Seq >= w.Entry })
		switch {
		case w.Entry < begin.Seq:
			return 0, &UnknownError{fmt.Sprintf("the text of entry %d is no longer stored; %s", w.Entry, h.firstKnown(time.Local))}
		case begin.Seq == w.Entry:
			return 0, nil
		case i < 0:
			return 0, &UnknownError{fmt.Sprintf("there is no entry %d; %s", w.Entry, h.firstKnown(time.Local))}
		}
		return i + 1, nil
	}
	for i, m := range slices.Backward(h.revisions.Revisions) {
		if m.Units != nil && !m.Time.After(w.Time) {
			return i + 1, nil
		}
	}
	if begin.Seq == 0 || w.Time.Before(begin.Time) {
		return 0, &UnknownError{fmt.Sprintf("the text at %s is unknown; %s", w.Time.Format(time.RFC3339), h.firstKnown(w.Time.Location()))}
	}
	return 0, nil
}

// firstKnown names the oldest text. Its time has the zone of the user who asks, which may not be the zone of this process.
func (h *History) firstKnown(zone *time.Location) string {
	if h.revisions.Begin.Seq != 0 {
		return fmt.Sprintf("the oldest stored text is entry %d (%s)", h.revisions.Begin.Seq, h.revisions.Begin.Time.In(zone).Format(time.RFC3339))
	}
	for _, m := range h.revisions.Revisions {
		return fmt.Sprintf("the history begins with entry %d (%s)", m.Seq, m.Time.In(zone).Format(time.RFC3339))
	}
	return "the note has no history"
}
