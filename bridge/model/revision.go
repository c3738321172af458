package model

import (
	"math"
	"strings"
	"time"

	"github.com/relayfs/relayfs/bridge/textmerge"
	"github.com/relayfs/relayfs/bridge/ycrdt"
)

type RevisionHistory struct {
	// Update has every retained text of the document as one Yjs update.
	Update []byte
	// Begin is the oldest known state. If its Seq is not 0, earlier states are no longer stored. Its time is the time
	// of the last change in it.
	Begin Revision
	// Revisions are the changes from Begin to the newest state, oldest first.
	Revisions []Revision
	Records   []Record // all stored records, oldest first
	Moves     []Moved  // renames of the document, oldest first
}

// Revision is a change of a document, or all plain changes by one author in one minute. It has the last record of these
// changes, without the record's update.
type Revision struct {
	Record
	Units *ycrdt.Snapshot // the added and deleted units; nil if unknown
}

type Moved struct {
	Time  time.Time `json:"time"`
	From  Path      `json:"from"`
	To    Path      `json:"to"`
	After uint64    `json:"after"` // number of the last record before the rename
}

// Texts has all text that a document ever contained, in document order. Deleted text stays where it was.
type Texts struct {
	Ranges []TextRange
	Last   int // index of the newest state
}

// TextRange is text that was inserted together and deleted together.
type TextRange struct {
	At          IDRange
	Text        string
	From, Until int // the first state with the text (StillPresent if unknown), and the first state without it
}

// StillPresent is the value of Until for text that is not deleted.
const StillPresent = math.MaxInt

func (s *TextRange) In(state int) bool { return s.From <= state && state < s.Until }

// TextsOf reads an update with all units that a document had. did has, for each state of the document, the units that
// it added and deleted; an entry is nil if these are unknown.
func TextsOf(update []byte, did []*ycrdt.Snapshot) (*Texts, error) {
	held, err := ycrdt.WithDeletesOf(update, ycrdt.JoinSnapshots())
	if err != nil {
		return nil, err
	}
	doc := ycrdt.NewDoc(ycrdt.Options{})
	if err := doc.ApplyUpdate(held); err != nil {
		return nil, err
	}
	born, known := make(Ranges[int]), make(map[ycrdt.ClientID]uint64)
	var dead []RangeValue[int]
	for n, s := range did {
		if s == nil {
			continue
		}
		for client, end := range s.StateVector() {
			if from := known[client]; from < end {
				born.Set(IDRange{Client: uint64(client), Clock: from, Len: end - from}, n)
				known[client] = end
			}
		}
		for _, r := range s.DeletedRuns() {
			dead = append(dead, RangeValue[int]{RangeOf(r), n})
		}
	}
	died := RangesOf(dead, func(a, b int) bool { return a < b })
	t := &Texts{Last: len(did) - 1}
	text := doc.Text(ContentsName)
	all := text.String()
	cursor := textmerge.NewCursor(all)
	pos, off := 0, 0 // offsets in the text: UTF-16 units and bytes
	add := func(r IDRange, from, to int) {
		pos += int(r.Len)
		end := cursor.OffAt(pos)
		t.Ranges = append(t.Ranges, TextRange{r, all[off:end], from, to})
		off = end
	}
	for _, run := range text.StringRuns() {
		born.Each(RangeOf(run), func(r IDRange, from int, ok bool) {
			if !ok {
				from = StillPresent
			}
			died.Each(r, func(r IDRange, to int, ok bool) {
				if !ok {
					to = StillPresent
				}
				add(r, from, to)
			})
		})
	}
	return t, nil
}

// At returns the text of a state, and its CRDT IDs.
func (t *Texts) At(state int) (string, []ycrdt.Run) {
	var b strings.Builder
	var runs []ycrdt.Run
	for i := range t.Ranges {
		if s := &t.Ranges[i]; s.In(state) {
			b.WriteString(s.Text)
			runs = append(runs, s.At.Run())
		}
	}
	return b.String(), runs
}

func (t *Texts) Holds(state int, text string) bool {
	for i := range t.Ranges {
		if s := &t.Ranges[i]; s.In(state) {
			var ok bool
			if text, ok = strings.CutPrefix(text, s.Text); !ok {
				return false
			}
		}
	}
	return text == ""
}
