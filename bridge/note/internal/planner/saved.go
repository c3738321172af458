package planner

import (
	"bytes"
	"math"
	"slices"
	"strings"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/note/internal/attribution"
	"github.com/relayfs/relayfs/bridge/textmerge"
	"github.com/relayfs/relayfs/bridge/ycrdt"
	"github.com/relayfs/relayfs/diffwrap"
)

// A file that holds the text of an earlier state, byte for byte, is that state again: git, a
// backup or a sync tool put it there, or the second half of a file was written. Its characters
// come back, by whoever wrote them. All other text that a save puts there is typed.

// Saved is what a save changes.
type Saved struct {
	textmerge.Adopted
	back []stretch // all that was ever in the document, if the save brings an earlier state back
}

// MayReturn says whether edits by which a save made raw of had may bring something back: they put text there, or whole words are
// another's.
func (s *Saved) MayReturn(had, raw string) bool {
	puts := func(e diffwrap.Edit) bool { return e.New != "" }
	return slices.ContainsFunc(s.Edits, puts) || slices.ContainsFunc(textmerge.WordEdits(had, raw), puts)
}

// Return has the save bring an earlier state back whose text is raw, if there is one. had is the text that the records of
// the document lead to. older are the states from before the records were merged, as far as they are known.
func (s *Saved) Return(records []model.Record, older []model.Moment, had, raw string) {
	s.back = returned(records, older, had, raw)
}

func returned(records []model.Record, older []model.Moment, had, raw string) []stretch {
	p, err := pastOf(records, older)
	if err != nil || p == nil || !p.holds(p.last, had) {
		return nil
	}
	for _, state := range slices.Backward(p.states()) {
		if p.holds(state, raw) {
			for i := range p.stretches {
				p.stretches[i].stays = p.stretches[i].in(state)
			}
			return p.stretches
		}
	}
	return nil
}

// CarryOut makes the changes in a document whose text is had, and completes the record of that.
func (s *Saved) CarryOut(doc *ycrdt.Doc, text *ycrdt.Text, had string, origin any, rec *model.Record) {
	added := uint64(0)
	var before attribution.Units
	if len(s.Moved) > 0 {
		before = attribution.UnitsOf(text.Runs())
	}
	doc.Transact(origin, func(txn *ycrdt.Txn) {
		if s.back != nil {
			added = s.bringBack(txn, text, rec)
			return
		}
		textmerge.ApplyEdits(txn, text, had, s.Edits)
	})
	if s.back == nil && len(s.Moved)+len(s.Torn) > 0 {
		s.name(had, before, text, rec)
	}
	if clock := doc.StateVector()[doc.ClientID()]; s.back != nil && clock != rec.Clock+added {
		rec.Returned = nil // formats take names, too
	}
}

// name names what moved by its identities before and after the save, and what is torn.
func (s *Saved) name(had string, before attribution.Units, text *ycrdt.Text, rec *model.Record) {
	after := attribution.UnitsOf(text.Runs())
	places := make([]attribution.PlacedText, len(s.Moved)) // in had, which is gone through in its own order
	order := make([]int, len(s.Moved))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, k int) int { return s.Moved[i].From.Start - s.Moved[k].From.Start })
	cursor := textmerge.NewCursor(had)
	for _, i := range order {
		places[i].From = cursor.PosAt(s.Moved[i].From.Start)
		places[i].To = cursor.PosAt(s.Moved[i].From.End)
	}
	cursor = textmerge.NewCursor(text.String())
	for i, m := range s.Moved {
		at := cursor.PosAt(m.To.Start)
		for _, old := range before.Resolve(model.PlaceRun(places[i].From, places[i].To)) {
			done := uint64(0)
			for _, now := range after.Resolve(model.PlaceRun(at, at+int(old.Len))) {
				rec.Returned = append(rec.Returned, model.Revival{Old: old.Part(done, now.Len), New: now})
				done += now.Len
			}
			at += int(old.Len)
		}
	}
	cursor = textmerge.NewCursor(text.String())
	for _, t := range s.Torn {
		from := cursor.PosAt(t.Start)
		rec.Torn = append(rec.Torn, after.Resolve(model.PlaceRun(from, cursor.PosAt(t.End)))...)
	}
}

// bringBack makes the text what it is to be, and returns how many characters that added.
func (s *Saved) bringBack(txn *ycrdt.Txn, text *ycrdt.Text, rec *model.Record) (added uint64) {
	pos := 0
	for _, x := range s.back {
		size := int(x.id.Len)
		switch {
		case x.stays && x.live:
			pos += size
		case x.live:
			text.Delete(txn, pos, size)
		case x.stays:
			now := model.IDRun{Client: rec.Client, Clock: rec.Clock + added, Len: x.id.Len}
			if text.InsertAt(txn, x.id.Last(), ycrdt.Behind, x.text) {
				rec.Returned = append(rec.Returned, model.Revival{Old: x.id, New: now})
			} else {
				text.InsertAfter(txn, pos, x.text)
			}
			added += x.id.Len
			pos += size
		}
	}
	return added
}

// past is every text that was ever in a document, in its place.
type past struct {
	stretches []stretch
	last      int // the newest state
}

// stretch is text that came and went as one.
type stretch struct {
	id    model.IDRun
	text  string
	lives []life // of what has come back, those before, too
	live  bool
	stays bool // it is to be there after the save
}

// life is the first state with a text, and the first one without it.
type life struct{ born, died int }

func (x *stretch) in(state int) bool {
	return slices.ContainsFunc(x.lives, func(l life) bool { return l.born <= state && state < l.died })
}

// never is when text dies that is still there.
const never = math.MaxInt

// pastOf numbers the states to which moments and records led; nil if no agent wrote there.
func pastOf(records []model.Record, older []model.Moment) (*past, error) {
	if !slices.ContainsFunc(records, func(r model.Record) bool { return r.Author != "" }) {
		return nil, nil
	}
	updates := make([][]byte, len(records))
	known := make(map[ycrdt.ClientID]uint64)
	born := make(attribution.Ranges[int])
	var dead []attribution.Told[int]
	states := 0
	add := func(did *ycrdt.Snapshot) {
		for client, end := range did.StateVector() {
			if from := known[client]; from < end {
				born.Set(model.IDRun{Client: uint64(client), Clock: from, Len: end - from}, states)
				known[client] = end
			}
		}
		for _, r := range did.DeletedRuns() {
			dead = append(dead, attribution.Told[int]{Of: model.RunOf(r), Value: states})
		}
		states++
	}
	merged := uint64(0) // the last record whose update the first one has
	for i, rec := range records {
		if updates[i] = rec.Update; i == 0 || bytes.Equal(rec.Update, model.EmptyUpdate()) {
			merged = rec.Seq
		}
	}
	for _, m := range older {
		if m.Did != nil && m.Seq <= merged {
			add(m.Did)
		}
	}
	for _, update := range updates {
		did, err := ycrdt.SnapshotOf(update)
		if err != nil {
			return nil, err
		}
		add(did)
	}
	died := attribution.RangesOf(dead, func(a, b int) bool { return a < b })
	held, err := ycrdt.MergeUpdates(updates...)
	if err != nil {
		return nil, err
	}
	if held, err = ycrdt.WithDeletesOf(held, ycrdt.JoinSnapshots()); err != nil {
		return nil, err
	}
	doc, err := everything(held)
	if err != nil {
		return nil, err
	}
	p := &past{last: states - 1}
	text := doc.String()
	if doc.Len() != textmerge.UTF16Len(text) {
		return nil, nil // it holds more than characters
	}
	cursor := textmerge.NewCursor(text)
	pos, off := 0, 0
	var all []stretch
	for _, run := range doc.Runs() {
		born.Each(model.RunOf(run), func(r model.IDRun, from int, _ bool) {
			died.Each(r, func(r model.IDRun, to int, ok bool) {
				if !ok {
					to = never
				}
				pos += int(r.Len)
				end := cursor.OffAt(pos)
				all = append(all, stretch{id: r, text: text[off:end], lives: []life{{from, to}}, live: !ok})
				off = end
			})
		})
	}
	p.place(all, attribution.NewLedger(records))
	return p, nil
}

// place puts stretches in their order. What came back stands for what it was before that.
func (p *past) place(all []stretch, known *attribution.Ledger) {
	if !known.HasRevived() {
		p.stretches = all
	} else {
		p.stretches = nil
		var copies []attribution.Told[[]life]
		for _, x := range all {
			for _, first := range known.Firsts(x.id) {
				copies = append(copies, attribution.Told[[]life]{Of: first, Value: x.lives})
			}
		}
		newest := attribution.RangesOf(slices.Clone(copies), func(a, b []life) bool { return a[0].born > b[0].born })
		for _, c := range copies {
			newest.Update(c.Of, func(l []life) []life {
				if l[0] == c.Value[0] {
					return l
				}
				return append(slices.Clip(l), c.Value[0])
			})
		}
		for _, x := range all {
			cursor := textmerge.NewCursor(x.text)
			done, off := uint64(0), 0
			for _, first := range known.Firsts(x.id) {
				newest.Each(first, func(r model.IDRun, l []life, _ bool) {
					y := x
					y.id = x.id.Part(done, r.Len)
					done += r.Len
					end := cursor.OffAt(int(done))
					y.text, off = x.text[off:end], end
					if l[0] == x.lives[0] {
						y.lives = l
						p.stretches = append(p.stretches, y)
					} else if x.live {
						p.stretches = append(p.stretches, y)
					}
				})
			}
		}
	}
}

func everything(update []byte) (*ycrdt.Text, error) {
	doc := ycrdt.NewDoc(ycrdt.Options{})
	err := doc.ApplyUpdate(update, nil)
	return doc.Text(model.ContentsName), err
}

// holds says whether a text is that of a state.
func (p *past) holds(state int, text string) bool {
	for i := range p.stretches {
		if x := &p.stretches[i]; x.in(state) {
			var ok bool
			if text, ok = strings.CutPrefix(text, x.text); !ok {
				return false
			}
		}
	}
	return text == ""
}

// maxStates bounds how many states are compared with a save.
const maxStates = 1024

// states are those in which something came or went, oldest first.
func (p *past) states() (states []int) {
	for _, x := range p.stretches {
		for _, l := range x.lives {
			states = append(states, l.born)
			if l.died <= p.last {
				states = append(states, l.died)
			}
		}
	}
	slices.Sort(states)
	states = slices.Compact(states)
	return states[max(0, len(states)-maxStates):]
}
