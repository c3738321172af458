package model

import (
	"math"
	"strings"
	"time"

	"github.com/relayfs/relayfs/bridge/textmerge"
	"github.com/relayfs/relayfs/bridge/ycrdt"
)

// Past is what a Store knows of the states that a document had.
type Past struct {
	// Update holds every text that the document had, as far as that is kept.
	Update []byte
	// Begin is the oldest state that is known: what came before it, if its Seq is not 0, was
	// kept too long ago, or by an older version. Its time is that of the last change in it.
	Begin Moment
	// Moments are what led from there to the newest state, oldest first.
	Moments []Moment
	Moves   []Moved // oldest first
}

// Moment is a change of a document, or all those that one author made in one minute: the
// record of the last one, without its update.
type Moment struct {
	Record
	Did *ycrdt.Snapshot // the units that it added and deleted, nil if that is not known any more
}

// Moved says that a document got another path.
type Moved struct {
	Time time.Time `json:"time"`
	From Path      `json:"from"`
	To   Path      `json:"to"`
	// After is the number of the last record before.
	After uint64 `json:"after"`
}

// Texts are all the texts that a document had: what is gone stands in its place.
type Texts struct {
	Stretches []Stretch
	Last      int // the newest state
}

// Stretch is text that came and went as one.
type Stretch struct {
	At         IDRun
	Text       string
	Born, Died int // the first state with it, Never if that is not known, and the first one without it
}

// Never is when text dies that is still there.
const Never = math.MaxInt

// In says whether a state has the text.
func (s *Stretch) In(state int) bool { return s.Born <= state && state < s.Died }

// TextsOf reads an update that holds all that a document had, by what led to each of its states; nil is a state that is not known.
func TextsOf(update []byte, did []*ycrdt.Snapshot) (*Texts, error) {
	held, err := ycrdt.WithDeletesOf(update, ycrdt.JoinSnapshots())
	if err != nil {
		return nil, err
	}
	doc := ycrdt.NewDoc(ycrdt.Options{})
	if err := doc.ApplyUpdate(held, nil); err != nil {
		return nil, err
	}
	born, known := make(Ranges[int]), make(map[ycrdt.ClientID]uint64)
	var dead []Told[int]
	for n, s := range did {
		if s == nil {
			continue
		}
		for client, end := range s.StateVector() {
			if from := known[client]; from < end {
				born.Set(IDRun{Client: uint64(client), Clock: from, Len: end - from}, n)
				known[client] = end
			}
		}
		for _, r := range s.DeletedRuns() {
			dead = append(dead, Told[int]{RunOf(r), n})
		}
	}
	died := RangesOf(dead, func(a, b int) bool { return a < b })
	t := &Texts{Last: len(did) - 1}
	text := doc.Text(ContentsName)
	all, objects := text.String(), text.Objects()
	cursor := textmerge.NewCursor(all)
	place, pos, off := 0, 0, 0 // in the document, in its text, and in bytes
	add := func(r IDRun, from, to int) {
		for ; len(objects) > 0 && objects[0] < place+int(r.Len); objects = objects[1:] { // it is one unit
			n := uint64(objects[0] - place)
			if n > 0 {
				pos += int(n)
				end := cursor.OffAt(pos)
				t.Stretches = append(t.Stretches, Stretch{r.Part(0, n), all[off:end], from, to})
				off = end
			}
			place, r = place+int(n)+1, r.Part(n+1, r.Len-n-1)
		}
		if r.Len > 0 {
			place, pos = place+int(r.Len), pos+int(r.Len)
			end := cursor.OffAt(pos)
			t.Stretches = append(t.Stretches, Stretch{r, all[off:end], from, to})
			off = end
		}
	}
	for _, run := range text.Runs() {
		born.Each(RunOf(run), func(r IDRun, from int, ok bool) {
			if !ok {
				from = Never
			}
			died.Each(r, func(r IDRun, to int, ok bool) {
				if !ok {
					to = Never
				}
				add(r, from, to)
			})
		})
	}
	return t, nil
}

// At is the text of a state.
func (t *Texts) At(state int) string {
	var b strings.Builder
	for i := range t.Stretches {
		if s := &t.Stretches[i]; s.In(state) {
			b.WriteString(s.Text)
		}
	}
	return b.String()
}

// Holds says whether a text is that of a state.
func (t *Texts) Holds(state int, text string) bool {
	for i := range t.Stretches {
		if s := &t.Stretches[i]; s.In(state) {
			var ok bool
			if text, ok = strings.CutPrefix(text, s.Text); !ok {
				return false
			}
		}
	}
	return text == ""
}
