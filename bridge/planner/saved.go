package planner

import (
	"bytes"
	"math"
	"slices"
	"strings"

	"github.com/relayfs/relayfs/bridge/attribution"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/textmerge"
	"github.com/relayfs/relayfs/bridge/ycrdt"
	"github.com/relayfs/relayfs/diffwrap"
)

// This file tells what a person's save typed from what it only brought back: an older or
// newer file that git, a backup or a sync tool puts in place, or one that was written in two
// halves. What stands between the same characters as in an earlier state, byte for byte, is
// that state's text, and by whoever wrote it. Words that were typed among lines which come back
// are what a save on top of that state would have typed.

// slack is how far an insertion can be moved to either side, and make the same text of had.
func slack(had string, edits []diffwrap.Edit, k int) (left, right int) {
	e := edits[k]
	if e.Len > 0 || e.New == "" {
		return 0, 0
	}
	low, high := 0, len(had)
	if k > 0 {
		low = edits[k-1].Off + edits[k-1].Len + 1
	}
	if k+1 < len(edits) {
		high = edits[k+1].Off - 1
	}
	n := len(e.New)
	for e.Off-left > low && had[e.Off-left-1] == movedByte(e.New, n-1-left) {
		left++
	}
	for e.Off+right < high && had[e.Off+right] == movedByte(e.New, right) {
		right++
	}
	return left, right
}

// movedByte is the byte of an endless repetition of s.
func movedByte(s string, i int) byte { return s[(i%len(s)+len(s))%len(s)] }

// moved is an insertion by as many bytes to the right.
func moved(e diffwrap.Edit, by int) diffwrap.Edit {
	cut := (by%len(e.New) + len(e.New)) % len(e.New)
	return diffwrap.Edit{Off: e.Off + by, New: e.New[cut:] + e.New[:cut]}
}

// Saved is what a save changes.
type Saved struct {
	edits []diffwrap.Edit
	back  [][]stretch // by edit: what is in its place, and is to be; nil for text that was never there
}

// Typed are edits of which nothing was there before.
func Typed(edits []diffwrap.Edit) Saved { return Saved{edits: edits} }

// MayReturn says whether edits by which a save made raw of had may bring something back: they put text there, or whole words are
// another's.
func MayReturn(had, raw string, edits []diffwrap.Edit) bool {
	puts := func(e diffwrap.Edit) bool { return e.New != "" }
	return slices.ContainsFunc(edits, puts) || slices.ContainsFunc(textmerge.WordEdits(had, raw), puts)
}

// SavedEdits are the edits by which a save made raw of had, the text that the records of a
// document lead to. older are the states from before the records were merged, as far as they
// are known.
func SavedEdits(records []model.Record, older []model.Moment, had, raw string, edits []diffwrap.Edit) Saved {
	s := Saved{edits: edits}
	p, err := pastOf(records, older)
	if err != nil || p == nil || textOf(p.stretches, p.last) != had {
		return s
	}
	whole := hunk{diffwrap.Edit{Len: len(had), New: raw}, 0, len(edits)}
	lines := hunks(had, edits)
	in := p.find(whole.whole, len(had))
	if in == nil && slices.ContainsFunc(lines, func(h hunk) bool { return p.hasGone(h.whole) || attribution.MarksIn(h.whole.New) }) {
		in = p.findTypedIn(had, whole, edits)
	}
	if in != nil {
		return Saved{[]diffwrap.Edit{whole.whole}, [][]stretch{in}}
	}
	s.edits = nil
	add := func(e diffwrap.Edit, in []stretch) {
		s.edits, s.back = append(s.edits, e), append(s.back, in)
	}
	for _, h := range lines {
		in := p.find(h.whole, len(had))
		if in == nil && p.hasGone(h.whole) {
			in = p.findTypedIn(had, h, edits)
		}
		if in != nil {
			add(h.whole, in)
			continue
		}
		for k := h.from; k < h.to; k++ {
			add(p.findMoved(had, edits, k, h.whole))
		}
	}
	return s
}

// hunk is the lines that some edits change.
type hunk struct {
	whole    diffwrap.Edit
	from, to int // the edits
}

// hunks are edits by the lines that they change.
func hunks(had string, edits []diffwrap.Edit) (list []hunk) {
	for k, e := range edits {
		start := strings.LastIndexByte(had[:e.Off], '\n') + 1
		end := len(had)
		if i := strings.IndexByte(had[e.Off+e.Len:], '\n'); i >= 0 {
			end = e.Off + e.Len + i + 1
		}
		if n := len(list) - 1; n >= 0 && start <= list[n].whole.Off+list[n].whole.Len {
			list[n].whole.Len, list[n].to = end-list[n].whole.Off, k+1
		} else {
			list = append(list, hunk{diffwrap.Edit{Off: start, Len: end - start}, k, k + 1})
		}
	}
	for i := range list {
		h := &list[i].whole
		at := h.Off
		for _, e := range edits[list[i].from:list[i].to] {
			h.New += had[at:e.Off] + e.New
			at = e.Off + e.Len
		}
		h.New += had[at : h.Off+h.Len]
	}
	return list
}

// findMoved is find for one of edits, and that edit where it brings something back: within whole.
func (p *past) findMoved(had string, edits []diffwrap.Edit, k int, whole diffwrap.Edit) (e diffwrap.Edit, in []stretch) {
	left, right := slack(had, edits, k)
	left, right = min(left, edits[k].Off-whole.Off), min(right, max(0, whole.Off+whole.Len-edits[k].Off-1))
	for by := range tries(min(left, maxMove), min(right, maxMove)) {
		e := edits[k]
		if !p.hasGone(diffwrap.Edit{Off: e.Off + by, Len: e.Len}) {
			continue
		}
		if by != 0 {
			e = moved(e, by)
		}
		if in := p.find(e, len(had)); in != nil {
			return e, in
		}
	}
	return edits[k], nil
}

// tries are the distances by which an insertion may be moved, the shortest ones first.
func tries(left, right int) func(func(int) bool) {
	return func(yield func(int) bool) {
		if !yield(0) {
			return
		}
		for n := 1; n <= max(left, right); n++ {
			if n <= left && !yield(-n) || n <= right && !yield(n) {
				return
			}
		}
	}
}

// CarryOut makes the changes in a document whose text is had, and completes the record of that.
func (s *Saved) CarryOut(doc *ycrdt.Doc, text *ycrdt.Text, had string, origin any, rec *model.Record) {
	added := uint64(0)
	doc.Transact(origin, func(txn *ycrdt.Txn) {
		k := 0
		for e := range textmerge.Places(had, s.edits) {
			if s.back == nil || s.back[k] == nil {
				textmerge.ApplyEdit(txn, text, e)
				added += uint64(e.Size)
			} else {
				added = s.bringBack(txn, text, e.After, k, added, rec)
			}
			k++
		}
	})
	if clock := doc.StateVector()[doc.ClientID()]; clock != rec.Clock+added {
		rec.Returned = nil // formats take names, too
	}
}

// bringBack makes what is in the place of an edit what it is to be.
func (s *Saved) bringBack(txn *ycrdt.Txn, text *ycrdt.Text, pos, k int, added uint64, rec *model.Record) uint64 {
	for _, x := range s.back[k] {
		size := int(x.id.Len)
		switch {
		case x.typed:
			text.InsertAfter(txn, pos, x.text)
			added += x.id.Len
			pos += size
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
	places    []int // in the newest text, of stretches
	last      int   // the newest state
}

// stretch is text that came and went as one.
type stretch struct {
	id    model.IDRun
	text  string
	lives []life // of what has come back, those before, too
	live  bool
	stays bool // it is to be there after the save
	typed bool // it was never there
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
	place := 0
	for i := range p.stretches {
		p.places = append(p.places, place)
		if p.stretches[i].live {
			place += len(p.stretches[i].text)
		}
	}
}

func everything(update []byte) (*ycrdt.Text, error) {
	doc := ycrdt.NewDoc(ycrdt.Options{})
	err := doc.ApplyUpdate(update, nil)
	return doc.Text(model.ContentsName), err
}

// textOf is what stretches had in a state.
func textOf(in []stretch, state int) string {
	var b strings.Builder
	for i := range in {
		if x := &in[i]; x.in(state) {
			b.WriteString(x.text)
		}
	}
	return b.String()
}

// find is everything that was ever in the place of an edit, of which what stays is what the newest state had whose text there
// is the new text; nil if there is none. A file that is being written ends anywhere.
func (p *past) find(e diffwrap.Edit, size int) []stretch {
	if e.New == "" || !p.hasGone(e) {
		return nil
	}
	in := p.between(e.Off, e.Off+e.Len)
	states := p.statesOf(in, e.New)
	for _, state := range slices.Backward(states) {
		if rest, more := left(in, state, e.New); rest == "" && !more {
			return begun(in, state, len(e.New))
		}
	}
	if e.Off+e.Len < size {
		return nil
	}
	for _, state := range slices.Backward(states) {
		if rest, more := left(in, state, e.New); rest == "" && more {
			return begun(in, state, len(e.New))
		}
	}
	return nil
}

// findTypedIn is find for lines among which edits type words that no state had. It is the newest of the states that leave the
// least to be typed, and that less than the edits type.
func (p *past) findTypedIn(had string, h hunk, edits []diffwrap.Edit) (in []stretch) {
	e := h.whole
	all, least := p.between(e.Off, e.Off+e.Len), typedBy(had, edits[h.from:h.to])
	for _, state := range slices.Backward(p.statesOf(all, e.New)) {
		if more := lacks(all, state, e.New); more <= 0 || more >= least {
			continue
		}
		text := textOf(all, state)
		edits := textmerge.SavedEdits(text, e.New)
		typed := typedBy(text, edits)
		for _, x := range edits {
			if hasMoreOf(x.New, had[e.Off:e.Off+e.Len], text) {
				typed += len(x.New) // which is there, and would go
			}
		}
		if typed < least {
			in, least = typedIn(all, state, edits), typed
		}
	}
	return in
}

// typedBy is how much edits of a text type, in whole words.
func typedBy(text string, edits []diffwrap.Edit) (size int) {
	for _, e := range textmerge.WordsOf(text, edits) {
		size += len(e.New)
	}
	return size
}

// hasMoreOf says whether one text has some of the words more often than another.
func hasMoreOf(words, one, other string) bool {
	return slices.ContainsFunc(strings.Fields(words), func(w string) bool { return strings.Count(one, w) > strings.Count(other, w) })
}

// lacks is how much of a text a state has not, which has nothing else; -1 if it has.
func lacks(in []stretch, state int, text string) int {
	size := len(text)
	for i := range in {
		if x := &in[i]; x.in(state) {
			size -= len(x.text)
		}
	}
	left := size // to be passed over
	for i := range in {
		x := &in[i]
		if !x.in(state) {
			continue
		}
		if rest, ok := strings.CutPrefix(text, x.text); ok {
			text = rest
			continue
		}
		for k := range len(x.text) {
			n := strings.IndexByte(text, x.text[k])
			if left -= n; n < 0 || left < 0 {
				return -1
			}
			text = text[n+1:]
		}
	}
	return size
}

// typedIn are stretches, of which those of a state stay, after edits of its text.
func typedIn(in []stretch, state int, edits []diffwrap.Edit) (out []stretch) {
	at := 0 // in the state
	typed := func() {
		for ; len(edits) > 0 && edits[0].Off+edits[0].Len <= at; edits = edits[1:] {
			if text := edits[0].New; text != "" {
				out = append(out, stretch{id: model.IDRun{Len: uint64(textmerge.UTF16Len(text))}, text: text, typed: true})
			}
		}
	}
	for _, x := range in {
		if !x.in(state) {
			out = append(out, x)
			continue
		}
		for from, to := 0, 0; from < len(x.text); from = to {
			typed()
			to = len(x.text)
			switch {
			case len(edits) == 0:
				out = append(out, x.kept(from, to))
			case at < edits[0].Off:
				to = min(to, from+edits[0].Off-at)
				out = append(out, x.kept(from, to))
			default:
				to = min(to, from+edits[0].Off+edits[0].Len-at)
				out = append(out, x.part(from, to))
			}
			at += to - from
		}
	}
	typed()
	return out
}

// statesOf are the states in which something of stretches came or went, as many as text is compared with.
func (p *past) statesOf(in []stretch, text string) (states []int) {
	for _, x := range in {
		for _, l := range x.lives {
			states = append(states, l.born)
			if l.died <= p.last {
				states = append(states, l.died)
			}
		}
	}
	slices.Sort(states)
	states = slices.Compact(states)
	return states[max(0, len(states)-statesFor(text)):]
}

// maxStates and maxCompared, in bytes, bound how many states are compared with a save, and maxMove how far an
// insertion is moved.
const (
	maxStates   = 1024
	maxCompared = 128 << 20
	maxMove     = 1024
)

// statesFor is with how many states a text is compared.
func statesFor(text string) int { return min(maxStates, 1+maxCompared/max(1, len(text))) }

// left is what a state has not of text, which it may begin with, and whether it has more.
func left(in []stretch, state int, text string) (rest string, more bool) {
	for i := range in {
		x := &in[i]
		if !x.in(state) {
			continue
		}
		if n := len(text); n < len(x.text) {
			return strings.TrimPrefix(text, x.text[:n]), true
		}
		var ok bool
		if text, ok = strings.CutPrefix(text, x.text); !ok {
			return text, true
		}
	}
	return text, false
}

// begun are stretches, of which the first bytes of a state stay.
func begun(in []stretch, state, size int) []stretch {
	out := make([]stretch, 0, len(in)+1)
	for _, x := range in {
		if !x.in(state) {
			out = append(out, x)
			continue
		}
		n := min(size, len(x.text))
		size -= n
		if n > 0 {
			out = append(out, x.kept(0, n))
		}
		if n < len(x.text) {
			out = append(out, x.part(n, len(x.text)))
		}
	}
	return out
}

// part is the stretch from one byte to another.
func (x *stretch) part(from, to int) stretch {
	y := *x
	y.text = x.text[from:to]
	y.id = x.id.Part(uint64(textmerge.UTF16Len(x.text[:from])), uint64(textmerge.UTF16Len(y.text)))
	return y
}

// kept is such a part, which stays.
func (x *stretch) kept(from, to int) stretch {
	y := x.part(from, to)
	y.stays = true
	return y
}

// hasGone says whether there was something in the place of an edit that is gone.
func (p *past) hasGone(e diffwrap.Edit) bool {
	i, _ := slices.BinarySearch(p.places, e.Off)
	for ; i < len(p.stretches) && p.places[i] <= e.Off+e.Len; i++ {
		if !p.stretches[i].live {
			return true
		}
	}
	return false
}

// between is everything that was ever between two offsets of the newest text.
func (p *past) between(from, to int) (in []stretch) {
	i, _ := slices.BinarySearch(p.places, from)
	for i > 0 && (p.places[i-1]+len(p.stretches[i-1].text) > from && p.stretches[i-1].live) {
		i--
	}
	for ; i < len(p.stretches) && p.places[i] <= to; i++ {
		x := &p.stretches[i]
		if !x.live {
			in = append(in, *x)
			continue
		}
		start, end := max(from-p.places[i], 0), min(to-p.places[i], len(x.text))
		if start < end {
			in = append(in, x.part(start, end))
		}
	}
	return in
}
