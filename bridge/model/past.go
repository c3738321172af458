package model

import (
	"math"
	"strings"
	"time"

	"github.com/relayfs/relayfs/bridge/textmerge"
	"github.com/relayfs/relayfs/bridge/ycrdt"
)

// Past is the stored history of a document's states.
type Past struct {
	// Update has every retained text of the document.
	Update []byte
	// Begin is the oldest known state. If its Seq is not 0, earlier ones are beyond the retention. Its time is that of the last
	// change in it.
	Begin Moment
	// Moments are the changes from there to the newest state, oldest first.
	Moments []Moment
	Moves   []Moved // oldest first
}

// Moment is a change of a document, or all changes of one author in one minute: the last record, without its update.
type Moment struct {
	Record
	Did *ycrdt.Snapshot // the added and deleted units, nil if unknown
}

// Moved is a rename of a document.
type Moved struct {
	Time  time.Time `json:"time"`
	From  Path      `json:"from"`
	To    Path      `json:"to"`
	After uint64    `json:"after"` // number of the last record before
}

// Texts are all texts that a document had; deleted text keeps its place.
type Texts struct {
	Stretches []Stretch
	Last      int // the newest state
}

// Stretch is text that was inserted together and deleted together.
type Stretch struct {
	At         IDRun
	Text       string
	Born, Died int // the first state with it (Never if unknown), and the first one without it
}

// Never is the state in which remaining text is deleted.
const Never = math.MaxInt

// In reports whether a state has the text.
func (s *Stretch) In(state int) bool { return s.Born <= state && state < s.Died }

// TextsOf reads an update with all that a document had, and the changes that led to each of its states, nil if unknown.
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
	place, pos, off := 0, 0, 0 // offsets: in the document, in its text, and in bytes
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

func (t *Texts) At(state int) string {
	var b strings.Builder
	for i := range t.Stretches {
		if s := &t.Stretches[i]; s.In(state) {
			b.WriteString(s.Text)
		}
	}
	return b.String()
}

// Holds reports whether a state has a text.
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
