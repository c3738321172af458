package history

import (
	"fmt"
	"slices"
	"time"
	"unicode/utf16"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/ycrdt"
)

// History is what is known of one note.
type History struct {
	past model.Past
	// units are the characters that the note ever had and that are kept, in their places.
	units []unit
}

// unit is one UTF-16 unit of a text.
type unit struct {
	code uint16
	// added and deleted number the changes that did it: 0 is what the history begins with, n
	// is moment n-1. A unit that was not deleted has never, and one whose beginning is not
	// known any more was never added.
	added, deleted int
}

const never = int(^uint(0) >> 1)

// New reads what a Store knows.
func New(past model.Past) (*History, error) {
	h := &History{past: past}
	held, err := ycrdt.WithDeletesOf(past.Update, ycrdt.JoinSnapshots())
	if err != nil {
		return nil, err
	}
	doc := ycrdt.NewDoc(ycrdt.Options{})
	if err := doc.ApplyUpdate(held, nil); err != nil {
		return nil, err
	}
	text := doc.Text(model.ContentsName)
	codes, objects := utf16.Encode([]rune(text.String())), text.Objects()
	place := 0 // in the text, objects included
	places := make(map[ycrdt.ClientID][]stretch)
	for _, run := range text.Runs() {
		for k := range run.Len {
			if len(objects) > 0 && objects[0] == place {
				objects = objects[1:]
			} else {
				id := ycrdt.ID{Client: run.ID.Client, Clock: run.ID.Clock + uint64(k)}
				places[id.Client] = append(places[id.Client], stretch{id.Clock, len(h.units)})
				h.units = append(h.units, unit{code: codes[len(h.units)], added: never, deleted: never})
			}
			place++
		}
	}
	h.date(places)
	return h, nil
}

// stretch says where the unit of that clock is.
type stretch struct {
	clock uint64
	at    int
}

// date finds out which change added and which deleted each unit.
func (h *History) date(places map[ycrdt.ClientID][]stretch) {
	for _, list := range places {
		slices.SortFunc(list, func(a, b stretch) int { return int(a.clock) - int(b.clock) })
	}
	known := make(map[ycrdt.ClientID]int) // units of the client that have been added
	did := func(n int, s *ycrdt.Snapshot) {
		if s == nil {
			return
		}
		for client, end := range s.StateVector() {
			list := places[client]
			i := known[client]
			for ; i < len(list) && list[i].clock < end; i++ {
				h.units[list[i].at].added = n
			}
			known[client] = i
		}
		for _, run := range s.DeletedRuns() {
			list := places[run.ID.Client]
			i, _ := slices.BinarySearchFunc(list, run.ID.Clock, func(s stretch, clock uint64) int { return int(s.clock) - int(clock) })
			for ; i < len(list) && list[i].clock < run.ID.Clock+uint64(run.Len); i++ {
				u := &h.units[list[i].at]
				u.deleted = min(u.deleted, n)
			}
		}
	}
	did(0, h.past.Begin.Did)
	for i, m := range h.past.Moments {
		did(i+1, m.Did)
	}
}

// textAt is the text after change n.
func (h *History) textAt(n int) string {
	var codes []uint16
	for _, u := range h.units {
		if u.added <= n && u.deleted > n {
			codes = append(codes, u.code)
		}
	}
	return string(utf16.Decode(codes))
}

// When names a state of a note: by the number of an entry, or by a time.
type When struct {
	Entry uint64    `json:"entry,omitempty"` // if it is not 0
	Time  time.Time `json:"time,omitzero"`
}

// UnknownError says why a state is not known.
type UnknownError struct{ Reason string }

func (e *UnknownError) Error() string { return e.Reason }

// At is the raw text of the note at a time, and the last entry before. Of changes that one
// author made in one minute it has all or none.
func (h *History) At(w When) (string, Entry, error) {
	n, err := h.find(w)
	switch {
	case err != nil:
		return "", Entry{}, err
	case n == 0:
		return h.textAt(0), h.beginning(), nil
	}
	return h.textAt(n), h.entry(n-1, nil), nil
}

// find is the number of the last change by a time, or of the one that an entry tells of.
func (h *History) find(w When) (int, error) {
	begin := h.past.Begin
	if w.Entry != 0 {
		i := slices.IndexFunc(h.past.Moments, func(m model.Moment) bool { return m.Did != nil && m.Seq >= w.Entry })
		switch {
		case begin.Seq >= w.Entry && begin.Seq != 0 && w.Entry < begin.Seq:
			return 0, &UnknownError{fmt.Sprintf("the text of entry %d is not kept any more; %s", w.Entry, h.firstKnown())}
		case begin.Seq == w.Entry:
			return 0, nil
		case i < 0:
			return 0, &UnknownError{fmt.Sprintf("there is no entry %d; %s", w.Entry, h.firstKnown())}
		}
		return i + 1, nil
	}
	for i, m := range slices.Backward(h.past.Moments) {
		if m.Did != nil && !m.Time.After(w.Time) {
			return i + 1, nil
		}
	}
	if begin.Seq == 0 || w.Time.Before(begin.Time) {
		return 0, &UnknownError{fmt.Sprintf("the text at %s is not known; %s", w.Time.Local().Format(time.DateTime), h.firstKnown())}
	}
	return 0, nil
}

// firstKnown says what the oldest text is that can be shown.
func (h *History) firstKnown() string {
	if h.past.Begin.Seq != 0 {
		return fmt.Sprintf("the oldest known text is that of entry %d (%s)", h.past.Begin.Seq, h.past.Begin.Time.Local().Format(time.DateTime))
	}
	for _, m := range h.past.Moments {
		return fmt.Sprintf("the history begins with entry %d (%s)", m.Seq, m.Time.Local().Format(time.DateTime))
	}
	return "nothing is known of the note"
}
