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
	back []stretch        // all that was ever in the document, if the save brings an earlier state back
	wait []model.MadeMark // what waited in that
}

// MayReturn says whether the edits of a text may bring something back: they put text there, or leave another word.
func (s *Saved) MayReturn(had string) bool {
	return slices.ContainsFunc(s.Edits, func(e diffwrap.Edit) bool { return e.New != "" || textmerge.CutsWord(had, e) })
}

// Return has the save bring an earlier state back whose text is raw, if there is one. had is the text that the records of
// the document lead to. older are the states from before the records were merged, as far as they are known.
func (s *Saved) Return(records []model.Record, older []model.Moment, had, raw string) {
	p, state := returned(records, older, had, raw)
	if p == nil {
		return
	}
	var runs []ycrdt.Run
	for i := range p.stretches {
		x := &p.stretches[i]
		if x.stays = x.in(state); x.stays {
			runs = append(runs, x.id.Run())
		}
	}
	s.back = p.stretches
	was := attribution.NewLedger(slices.DeleteFunc(slices.Clone(records), func(r model.Record) bool { return r.Seq > p.seqs[state] }))
	u := attribution.UnitsOf(runs)
	s.wait = was.LayOut(textmerge.Without(raw, was.Torn(raw, runs)), was.Known(raw, u), u).Waiting()
}

// returned finds the newest state with a text. Records that were merged have changed nothing since the first of them, and
// tell more.
func returned(records []model.Record, older []model.Moment, had, raw string) (p *past, state int) {
	p, err := pastOf(records, older)
	if err != nil || p == nil || !p.holds(p.last, had) {
		return nil, 0
	}
	last := p.last // with the text of the state
	for _, state := range slices.Backward(p.states()) {
		if p.holds(state, raw) {
			return p, last
		}
		last = state - 1
	}
	return nil, 0
}

// CarryOut makes the changes in a document whose text is had, and completes the record of that.
func (s *Saved) CarryOut(doc *ycrdt.Doc, text *ycrdt.Text, had string, known *attribution.Ledger, origin any, rec *model.Record) {
	added := uint64(0)
	var before attribution.Units
	if len(s.Moved)+len(s.Torn)+len(s.Plain) > 0 {
		before = attribution.UnitsOf(text.Runs())
	}
	doc.Transact(origin, func(txn *ycrdt.Txn) {
		if s.back != nil {
			added = s.bringBack(txn, text, rec)
			return
		}
		textmerge.ApplyEdits(txn, text, had, s.Edits)
	})
	if s.back != nil {
		after := attribution.UnitsOf(text.Runs())
		for _, r := range after.Runs {
			rec.Restored = append(rec.Restored, model.RunOf(r))
		}
		rec.Marks = resolvedMarks(s.wait, after)
	}
	if s.back == nil && len(s.Moved)+len(s.Torn)+len(s.Plain) > 0 {
		s.name(had, before, text, known, rec)
	}
	if clock := doc.StateVector()[doc.ClientID()]; s.back != nil && clock != rec.Clock+added {
		rec.Returned = nil // formats take names, too
	}
}

// name names what moved by its identities before and after the save, and what is torn of agents' marks.
func (s *Saved) name(had string, before attribution.Units, text *ycrdt.Text, known *attribution.Ledger, rec *model.Record) {
	after := attribution.UnitsOf(text.Runs())
	var was, is []diffwrap.Span
	for _, m := range append(slices.Clip(s.Moved), s.Torn...) {
		was, is = append(was, m.From), append(is, m.To)
	}
	wasAt, isAt := unitsAt(had, append(was, s.Plain...)), unitsAt(text.String(), is)
	from := func(m textmerge.Moved) []model.IDRun {
		return before.Resolve(model.PlaceRun(wasAt[m.From.Start], wasAt[m.From.End]))
	}
	for _, m := range s.Moved {
		at := model.PlaceRun(isAt[m.To.Start], isAt[m.To.End])
		for _, old := range from(m) {
			done := uint64(0)
			for _, new := range after.Resolve(model.IDRun{Clock: at.Clock, Len: old.Len}) {
				rec.Returned = append(rec.Returned, model.Revival{Old: old.Part(done, new.Len), New: new})
				done += new.Len
			}
			at.Clock += old.Len
		}
	}
	for _, body := range s.Plain {
		for _, r := range before.Resolve(model.PlaceRun(wasAt[body.Start], wasAt[body.End])) {
			rec.Plain = append(rec.Plain, known.Pending(r)...)
		}
	}
	for _, m := range s.Torn {
		if !slices.ContainsFunc(from(m), func(r model.IDRun) bool { return !known.Delimits(r) }) {
			rec.Torn = append(rec.Torn, after.Resolve(model.PlaceRun(isAt[m.To.Start], isAt[m.To.End]))...)
		}
	}
}

// unitsAt are the UTF-16 positions at which spans of a text begin and end, by offset.
func unitsAt(text string, spans []diffwrap.Span) map[int]int {
	var offs []int
	for _, s := range spans {
		offs = append(offs, s.Start, s.End)
	}
	slices.Sort(offs)
	at := make(map[int]int)
	cursor := textmerge.NewCursor(text)
	for _, off := range offs {
		at[off] = cursor.PosAt(off)
	}
	return at
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
	last      int      // the newest state
	seqs      []uint64 // of each state, the number of the record that led to it
}

// stretch is text that came and went as one.
type stretch struct {
	id    model.IDRun
	text  string
	born  int // the first state with it
	died  int // the first one without it
	live  bool
	stays bool // it is to be there after the save
}

func (x *stretch) in(state int) bool { return x.born <= state && state < x.died }

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
	p := new(past)
	add := func(did *ycrdt.Snapshot, seq uint64) {
		for client, end := range did.StateVector() {
			if from := known[client]; from < end {
				born.Set(model.IDRun{Client: uint64(client), Clock: from, Len: end - from}, len(p.seqs))
				known[client] = end
			}
		}
		for _, r := range did.DeletedRuns() {
			dead = append(dead, attribution.Told[int]{Of: model.RunOf(r), Value: len(p.seqs)})
		}
		p.seqs = append(p.seqs, seq)
	}
	merged := uint64(0) // the last record whose update the first one has
	for i, rec := range records {
		if updates[i] = rec.Update; i == 0 || bytes.Equal(rec.Update, model.EmptyUpdate()) {
			merged = rec.Seq
		}
	}
	for _, m := range older {
		if m.Did != nil && m.Seq <= merged {
			add(m.Did, m.Seq)
		}
	}
	for i, update := range updates {
		did, err := ycrdt.SnapshotOf(update)
		if err != nil {
			return nil, err
		}
		add(did, records[i].Seq)
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
	p.last = len(p.seqs) - 1
	text := doc.String()
	if doc.Len() != textmerge.UTF16Len(text) {
		return nil, nil // it holds more than characters
	}
	cursor := textmerge.NewCursor(text)
	pos, off := 0, 0
	for _, run := range doc.Runs() {
		born.Each(model.RunOf(run), func(r model.IDRun, from int, _ bool) {
			died.Each(r, func(r model.IDRun, to int, ok bool) {
				if !ok {
					to = never
				}
				pos += int(r.Len)
				end := cursor.OffAt(pos)
				p.stretches = append(p.stretches, stretch{id: r, text: text[off:end], born: from, died: to, live: !ok})
				off = end
			})
		})
	}
	return p, nil
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
		if states = append(states, x.born); x.died <= p.last {
			states = append(states, x.died)
		}
	}
	slices.Sort(states)
	states = slices.Compact(states)
	return states[max(0, len(states)-maxStates):]
}
