package history

import (
	"slices"
	"time"

	"github.com/relayfs/relayfs/bridge/model"
)

type Kind string

const (
	Started     Kind = "began"       // the text when relayfs first tracked the note
	Created     Kind = "created"     // an agent created the note
	Changed     Kind = "changed"     // an agent or a user changed the text
	Decided     Kind = "decided"     // a user accepted, rejected, changed or undid something
	Properties  Kind = "frontMatter" // the front matter changed
	LinksFollow Kind = "links"       // links were rewritten for a rename
	Moved       Kind = "moved"       // the note got another path
	Unknown     Kind = "unknown"     // the lost part of the history
)

// Entry is one change of a note, or all plain changes by one author in one minute.
type Entry struct {
	// Number identifies the entry. It is 0 for a move. It never changes, except for the newest entry.
	Number uint64    `json:"entry,omitempty"`
	Time   time.Time `json:"time"`
	Kind   Kind      `json:"kind"`
	// Author is "" if a user saved the file, because the name of that user is unknown.
	Author  string `json:"author,omitempty"`
	Session string `json:"session,omitempty"`
	// DetectedLate is set for changes made while relayfs did not follow the note. Time is then the time of their
	// detection.
	DetectedLate bool `json:"found,omitempty"`
	// Added and Deleted are pieces of the raw text in order. They omit text that was both added and deleted within the
	// entry.
	Added   []string `json:"added,omitempty"`
	Deleted []string `json:"deleted,omitempty"`
	// TextExpired is set if the added and deleted text is no longer stored.
	TextExpired bool       `json:"lost,omitempty"`
	Decision    *Decision  `json:"decision,omitempty"`
	From        model.Path `json:"from,omitempty"`
	To          model.Path `json:"to,omitempty"`
}

type Decision struct {
	Verdict model.Verdict       `json:"verdict"`
	Batch   string              `json:"batch"`
	Reason  string              `json:"reason,omitempty"`
	Items   []model.DecidedItem `json:"items,omitempty"`
}

func (h *History) Entries() []Entry {
	added := h.textRuns(func(s *model.TextRange) int { return s.From })
	deleted := h.textRuns(func(s *model.TextRange) int { return s.Until })
	var list []Entry
	if h.revisions.Begin.Seq != 0 {
		list = append(list, h.beginning())
	}
	moves := h.revisions.Moves
	for i, m := range h.revisions.Revisions {
		for len(moves) > 0 && moves[0].After < m.Seq {
			list, moves = append(list, moveEntry(moves[0])), moves[1:]
		}
		if m.Units == nil { // the change is older than the oldest stored text, but is listed after it
			at := max(0, len(list)-1)
			list = slices.Insert(list, at, h.entry(i))
			continue
		}
		e := h.entry(i)
		e.Added, e.Deleted = added[i+1], deleted[i+1]
		list = append(list, e)
	}
	for _, m := range moves {
		list = append(list, moveEntry(m))
	}
	return list
}

func (h *History) textRuns(change func(*model.TextRange) int) map[int][]string {
	type textRun struct {
		text string
		last int // index of the last range in the run
	}
	open, pieces := make(map[int]*textRun), make(map[int][]string)
	for i := range h.texts.Ranges {
		s := &h.texts.Ranges[i]
		n := change(s)
		if n == model.StillPresent || s.From == s.Until {
			continue
		}
		p := open[n]
		if p != nil && h.isFarApart(n, p.last+1, i) {
			pieces[n] = append(pieces[n], p.text)
			p = nil
		}
		if p == nil {
			p = new(textRun)
			open[n] = p
		}
		p.text, p.last = p.text+s.Text, i
	}
	for n, p := range open {
		pieces[n] = append(pieces[n], p.text)
	}
	return pieces
}

// maxGap is the maximum number of characters between two changes that are shown as one piece.
const maxGap = 1000

// isFarApart reports whether the ranges with the indexes from and to are not one piece: between them there is text that
// change n left unchanged, or text of more than maxGap characters.
func (h *History) isFarApart(n, from, to int) bool {
	size := uint64(0)
	for i := from; i < to && size <= maxGap; i++ {
		s := &h.texts.Ranges[i]
		if size += s.At.Len; s.From < n && s.Until > n {
			return true
		}
	}
	return size > maxGap
}

func (h *History) beginning() Entry {
	return Entry{Number: h.revisions.Begin.Seq, Time: h.revisions.Begin.Time, Kind: Unknown, TextExpired: true}
}

func moveEntry(m model.Moved) Entry { return Entry{Time: m.Time, Kind: Moved, From: m.From, To: m.To} }

// entry returns the Entry of revision i, without Added and Deleted.
func (h *History) entry(i int) Entry {
	m := &h.revisions.Revisions[i]
	e := Entry{
		Number: m.Seq, Time: m.Time, Kind: Changed, Author: m.Author, Session: m.Session,
		DetectedLate: m.DetectedLate, TextExpired: m.Units == nil,
	}
	switch {
	case m.Decision != nil && m.Decision.Follows != "":
		e.Kind, e.Author = LinksFollow, m.Decision.By
	case m.Decision != nil:
		d := m.Decision
		e.Kind, e.Author = Decided, d.By
		e.Decision = &Decision{Verdict: d.Verdict, Batch: d.Batch, Reason: d.Reason, Items: d.Items}
	case m.FrontMatter != nil:
		e.Kind = Properties
	case m.Created:
		e.Kind = Created
	case m.Proposal != "":
		e.Kind = LinksFollow
	case m.Seq == 1 && m.Author == "":
		e.Kind = Started
	}
	return e
}
