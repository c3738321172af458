package bridge

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/relayfs/relayfs/bridge/ycrdt"
	"github.com/relayfs/relayfs/diffwrap"
)

// This file takes decisions on suggestions back. An undo makes what was decided pending
// again, character by character, and nothing else: what is in the text gets its marks
// again, and what is gone comes back at the place that it still has in the document,
// unless people have removed what stood on either side of it. Texts are never compared.

// The reasons for which nothing of a decision can be taken back.
var (
	errHistoryLost   = errors.New("cannot be taken back: the note's history was lost; its text is in 'relayfs suggestions log --json'")
	errOldRecord     = errors.New("cannot be taken back: an older relayfs decided it, and the note has changed since; its text is in 'relayfs suggestions log --json'")
	errMatterChanged = errors.New("cannot be taken back: people have changed that front matter since; what it was is in 'relayfs suggestions log --json'")
	errNotReadBack   = errors.New("cannot be taken back: with what the note says now, it would be read as something else")
)

const (
	deletedByPeople = "deleted by people since"
	aroundDeleted   = "people have deleted the text around it since"
	laterDecision   = "a later decision took it away"
)

// awayList gathers what stays away of several notes.
type awayList struct {
	mu   sync.Mutex
	list []Away
}

func (l *awayList) add(more []Away) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.list = append(l.list, more...)
}

func (l *awayList) sorted() []Away {
	slices.SortStableFunc(l.list, func(a, b Away) int { return strings.Compare(string(a.Path), string(b.Path)) })
	return l.list
}

// takeBack plans the undo of a journal entry and tells of it in d. The write lock is
// held.
func (n *note) takeBack(ctx context.Context, cur *Version, e JournalEntry, d *Decision) (writePlan, error) {
	if e.isOld() {
		return n.takeBackOld(cur, e, d)
	}
	at := n.where()
	if n.live == nil {
		if err := n.prepare(at, cur.raw); err != nil {
			return writePlan{}, err
		}
	}
	if n.id != e.ID {
		return writePlan{}, &refusal{errHistoryLost}
	}
	h, err := at.store.Load(n.id)
	if err != nil {
		return writePlan{}, err
	}
	pieces, err := n.pieces(ctx, cur)
	if err != nil {
		return writePlan{}, err
	}
	t := newTakeback(e, h.Records, cur, d)
	t.read(pieces)
	return t.plan()
}

// pieces are the identities of the live document, deleted ones included; ErrConflict if
// it is not what cur says.
func (n *note) pieces(ctx context.Context, cur *Version) (pieces []ycrdt.Piece, err error) {
	if n.live == nil {
		return n.text.Pieces(), nil
	}
	err = n.live.View(ctx, func(doc *ycrdt.Doc, _ time.Time) error {
		text := doc.Text(contentsName)
		if text.String() != cur.raw || !slices.Equal(text.Runs(), cur.runs) {
			return ErrConflict
		}
		pieces = text.Pieces()
		return nil
	})
	return pieces, err
}

// isOld says whether the record has texts where later ones name characters.
func (e JournalEntry) isOld() bool {
	if e.Decision != nil {
		return e.Decision.Before != e.Decision.After
	}
	return e.FrontMatter.Removed == nil && e.FrontMatter.Typed == nil
}

// takeBackOld takes back what an older relayfs did, if nothing has changed since.
func (n *note) takeBackOld(cur *Version, e JournalEntry, d *Decision) (writePlan, error) {
	before, after := "", ""
	if e.Decision != nil {
		before, after = e.Decision.Before, e.Decision.After
	} else {
		end, _ := diffwrap.FrontMatter(cur.raw)
		before, after = e.FrontMatter.Before+cur.raw[end:], e.FrontMatter.After+cur.raw[end:]
	}
	if cur.raw != after {
		return writePlan{}, &refusal{errOldRecord}
	}
	plan := writePlan{edits: diffwrap.Diff(after, before), decision: d}
	left := slices.Clone(d.Items)
	x := newLedger(nil).layOut(before, units{})
	for _, s := range diffwrap.Suggestions(before) {
		i := slices.IndexFunc(left, func(d Decided) bool {
			return d.Kind == s.Kind.String() && d.Old == s.Old && d.New == s.New
		})
		if i < 0 {
			continue
		}
		m := left[i].made(e.Time)
		for k, c := range x.text {
			if c.Mark >= 0 && s.Start <= c.Start && c.End <= s.End {
				m.put(placeRun(x.places[k].from, x.places[k].to), c.Added)
			}
		}
		plan.marks = append(plan.marks, m)
		left = slices.Delete(left, i, i+1)
	}
	return plan, nil
}

// made is the item as a mark that is pending again.
func (d *Decided) made(decided time.Time) MadeMark {
	m := MadeMark{ID: d.ID, Author: d.Author, Session: d.Session, Time: d.Time, Proposal: d.Proposal, Comment: d.Kind == diffwrap.Comment.String()}
	if m.Time.IsZero() && m.Author != "" {
		m.Time = decided
	}
	return m
}

func (m *MadeMark) put(r IDRun, added bool) {
	if added {
		m.Add = append(m.Add, r)
	} else {
		m.Del = append(m.Del, r)
	}
}

// takeback is one undo that is being planned. Characters go by their first identities:
// what was brought back has had others since.
type takeback struct {
	entry JournalEntry
	d     *Decision // the undo's
	marks []DecidedMark
	runs  []DecidedRun
	cur   *Version
	known *ledger
	x     *layout // of cur.marked

	alias  idRanges[IDRun]     // later identities: the first of the range, and the first identity of that
	target idRanges[int]       // index of runs
	states idRanges[charState] // of targets, and of what stood beside them; before the undo
	live   idRanges[bool]
	home   idRanges[int] // index of items, of what is gone
	items  []item
}

// charState is what the journal tells of a character.
type charState struct {
	added   atomState // nothing if it was there from the start
	deleted []deletion
	dead    bool // a person typed it in the place of a suggestion that waits again
	undo    bool // an undo took it away, not people
}

type deletion struct {
	by    uint64 // number of the record that decided on it
	state atomState
}

type atomState uint8

const (
	none atomState = iota
	isPending
	isAccepted
	isRejected
)

// shown says whether the original and the accepted view have the character.
func (s charState) shown() (o, a bool) {
	o, a = s.added == none || s.added == isAccepted, s.added != isRejected
	for _, d := range s.deleted {
		o, a = o && d.state != isAccepted, a && d.state == isRejected
	}
	return o && !s.dead, a && !s.dead
}

// decided is the state after a decision, of which seq is the number. That the character
// was seen then outweighs what was known: people take marks off by hand.
func (s charState) decided(role Role, seq uint64) charState {
	kept := slices.Clone(s.deleted)
	switch role {
	case acceptedAddition, rejectedAddition:
		kept = slices.DeleteFunc(kept, func(d deletion) bool { return d.state == isPending })
		s.added = isAccepted
		if role == rejectedAddition {
			s.added = isRejected
		}
	case acceptedDeletion, rejectedDeletion:
		if s.added == isPending {
			s.added = none
		}
		now := isAccepted
		if role == rejectedDeletion {
			now = isRejected
		}
		for i := range kept {
			if kept[i].state == isPending {
				kept[i] = deletion{seq, now}
			}
		}
		kept = append(kept, deletion{seq, now})
	}
	s.deleted = kept
	return s
}

// undone is the state after the decision with that number is taken back.
func (s charState) undone(role Role, seq uint64) charState {
	s.deleted = slices.Clone(s.deleted)
	switch role {
	case typedInstead:
		s.dead = true
	case acceptedAddition, rejectedAddition:
		s.added = isPending
	case acceptedDeletion, rejectedDeletion:
		for i := range s.deleted {
			if s.deleted[i].by == seq {
				s.deleted[i].state = isPending
			}
		}
	}
	return s
}

// newTakeback reads from the records what there is to know.
func newTakeback(e JournalEntry, records []Record, cur *Version, d *Decision) *takeback {
	t := &takeback{
		entry: e, d: d, cur: cur, known: newLedger(records), alias: make(idRanges[IDRun]),
	}
	if e.Decision != nil {
		t.runs, t.marks = e.Decision.Runs, e.Decision.Marks
	}
	if fm := e.FrontMatter; fm != nil {
		t.runs = slices.Clone(t.runs)
		for _, g := range fm.Removed {
			t.runs = append(t.runs, DecidedRun{At: g.At, Role: removedPlain, Text: g.Text})
		}
		for _, r := range fm.Typed {
			t.runs = append(t.runs, DecidedRun{At: r, Role: typedInstead})
		}
	}
	for i := range records {
		if d := records[i].Decision; d != nil {
			for _, r := range d.Revived {
				first := t.firsts(r.Old)
				done := uint64(0)
				for _, old := range first {
					t.alias.set(r.New.part(done, old.Len), IDRun{old.Client, old.Clock - (r.New.Clock + done), 0})
					done += old.Len
				}
			}
		}
	}
	var targets []told[int]
	var states []told[charState]
	for i, run := range t.runs {
		for _, r := range t.firsts(run.At) {
			targets = append(targets, told[int]{r, i})
		}
		for _, of := range []IDRun{run.At, run.Left, run.Right} {
			for _, r := range t.firsts(of) {
				states = append(states, told[charState]{of: r})
			}
		}
	}
	t.target, t.states = rangesOf(targets, nil), rangesOf(states, nil)
	bySeq := make(map[uint64]*Decision)
	for i := range records {
		d := records[i].Decision
		switch {
		case d == nil:
		case d.Verdict == Undone:
			t.each(d, func(s charState, _ Role) charState { s.undo = true; return s })
			if undone := bySeq[d.UndoesSeq]; undone != nil {
				t.each(undone, func(s charState, role Role) charState { return s.undone(role, d.UndoesSeq) })
			}
		default:
			bySeq[records[i].Seq] = d
			t.each(d, func(s charState, role Role) charState { return s.decided(role, records[i].Seq) })
		}
	}
	return t
}

func (t *takeback) each(d *Decision, f func(charState, Role) charState) {
	for _, run := range d.Runs {
		for _, r := range t.firsts(run.At) {
			t.states.update(r, func(s charState) charState { return f(s, run.Role) })
		}
	}
}

// firsts are the first identities of characters.
func (t *takeback) firsts(r IDRun) (list []IDRun) {
	if r.Len == 0 {
		return nil
	}
	t.alias.each(r, func(part IDRun, first IDRun, ok bool) {
		if ok {
			part.Client, part.Clock = first.Client, part.Clock+first.Clock // Clock is the difference
		}
		list = append(list, part)
	})
	return list
}

// item is a stretch of the document in one state.
type item struct {
	id    IDRun // as it is named now
	first IDRun
	run   int  // of takeback.runs, -1 for none
	gone  bool // deleted, perhaps to come back
	text  string
	off   int // in the raw text, of what is there
	kind  itemKind
	mark  int // of the layout; -1 for none
	o, a  bool
	state charState
}

type itemKind uint8

const (
	contentItem itemKind = iota
	delimiterItem
	furnitureItem // a comment, a highlight's delimiter
)

// segment is a stretch of the raw text.
type segment struct {
	from, to int // UTF-16 units
	off, end int
	kind     itemKind
	mark     int
	o, a     bool // which views show it
}

// segments are the raw text by what it is to the layout.
func (t *takeback) segments() (list []segment) {
	marked := t.markedSegments()
	spans := keptSpans(len(t.cur.raw), t.cur.separated)
	at := 0
	add := func(off, end int, s segment) {
		if off < end {
			s.off, s.end = off, end
			list = append(list, s)
			at = end
		}
	}
	taken := segment{kind: delimiterItem, mark: -1}
	for _, s := range spans {
		add(at, s.a, taken)
		for len(marked) > 0 && marked[0].off < s.b+s.n {
			m := marked[0]
			off, end := max(m.off, s.b), min(m.end, s.b+s.n)
			add(off-s.b+s.a, end-s.b+s.a, m)
			if m.end > s.b+s.n {
				break
			}
			marked = marked[1:]
		}
		at = s.a + s.n
	}
	add(at, len(t.cur.raw), taken)
	cursor := utf16Cursor{text: t.cur.raw}
	for i := range list {
		list[i].from = cursor.posAt(list[i].off)
		list[i].to = cursor.posAt(list[i].end)
	}
	return list
}

// markedSegments are those of the marked text, in bytes alone.
func (t *takeback) markedSegments() (list []segment) {
	at, k := 0, 0
	fill := func(to int) {
		for at < to {
			for k < len(t.x.marks) && t.x.marks[k].End <= at {
				k++
			}
			s := segment{off: at, end: to, kind: furnitureItem, mark: -1}
			if k < len(t.x.marks) {
				if m := t.x.marks[k]; m.Start <= at {
					s.kind, s.mark, s.end = delimiterItem, k, min(to, m.End)
				} else {
					s.end = min(to, m.Start)
				}
			}
			list = append(list, s)
			at = s.end
		}
	}
	for _, c := range t.x.text {
		fill(c.Start)
		list = append(list, segment{off: c.Start, end: c.End, mark: c.Mark, o: !c.Added, a: !c.Deleted})
		at = c.End
	}
	fill(len(t.cur.marked))
	return list
}

// read goes through the document from its start.
func (t *takeback) read(pieces []ycrdt.Piece) {
	runs := make([]ycrdt.Run, 0, len(pieces))
	for _, p := range pieces {
		if !p.Deleted {
			runs = append(runs, ycrdt.Run{ID: p.ID, Len: p.Len})
		}
	}
	t.x = t.known.layOut(t.cur.marked, unitsOf(runs).through(t.cur.raw, t.cur.separated))
	segments := t.segments()
	pos := 0
	cursor := utf16Cursor{text: t.cur.raw}
	var seen found
	for _, p := range pieces {
		r := IDRun{uint64(p.ID.Client), p.ID.Clock, uint64(p.Len)}
		if p.Deleted {
			t.part(r, item{gone: true, mark: -1}, &seen)
			continue
		}
		for r.Len > 0 {
			for segments[0].to <= pos {
				segments = segments[1:]
			}
			s := segments[0]
			n := min(r.Len, uint64(s.to-pos))
			t.part(r.part(0, n), item{kind: s.kind, mark: s.mark, o: s.o, a: s.a}, &seen)
			r = r.part(n, r.Len-n)
			pos += int(n)
		}
	}
	t.live = rangesOf(seen.live, nil)
	t.home = rangesOf(seen.home, func(a, b int) bool { return a > b }) // what came back and went again was last
	pos = 0
	for i := range t.items {
		if x := &t.items[i]; !x.gone {
			x.off = cursor.off
			pos += int(x.id.Len)
			x.text = t.cur.raw[x.off:cursor.offAt(pos)]
		}
	}
}

// found is what is where.
type found struct {
	live []told[bool]
	home []told[int]
}

// part adds one stretch, cut where what is known of it changes. Of what is gone only
// what the undo is about is of interest.
func (t *takeback) part(r IDRun, like item, seen *found) {
	t.alias.each(r, func(now IDRun, first IDRun, ok bool) {
		is := now
		if ok {
			is.Client, is.Clock = first.Client, now.Clock+first.Clock
		}
		t.target.each(is, func(aimed IDRun, run int, ok bool) {
			if !ok {
				run = -1
			}
			t.states.each(aimed, func(one IDRun, s charState, known bool) {
				if known && !like.gone {
					seen.live = append(seen.live, told[bool]{one, true})
				}
				if like.gone && run < 0 {
					return
				}
				x := like
				x.id, x.first, x.run, x.state = now.part(one.Clock-is.Clock, one.Len), one, run, s
				if x.gone {
					seen.home = append(seen.home, told[int]{one, len(t.items)})
				}
				t.items = append(t.items, x)
			})
		})
	})
}

// plan finds out what becomes of every item, and writes that down.
func (t *takeback) plan() (writePlan, error) {
	if !t.mattersAreThere() {
		return writePlan{}, &refusal{errMatterChanged}
	}
	wants, changed := t.wants()
	p := printer{takeback: t, wants: wants, made: make(map[int]*MadeMark)}
	p.print()
	if !changed && len(p.made) == 0 {
		return writePlan{}, t.nothing()
	}
	plan := writePlan{edits: p.edits, placed: p.placed, decision: t.d, marks: p.marksMade()}
	t.d.Revived = p.revived
	return plan, p.check()
}

// nothing is the refusal of an undo that could bring nothing back.
func (t *takeback) nothing() error {
	if len(t.d.Away) == 0 {
		return &refusal{errors.New("there is nothing left to take back")}
	}
	return &refusal{fmt.Errorf("cannot be taken back: %s; its text is in 'relayfs suggestions log'", t.d.Away[0])}
}

// String tells of text that stays away.
func (a Away) String() string { return fmt.Sprintf("%s stays away: %s", quoteShort(a.Text), a.Why) }

func quoteShort(s string) string {
	const limit = 60
	if r := []rune(s); len(r) > limit {
		return fmt.Sprintf("%q...", string(r[:limit]))
	}
	return fmt.Sprintf("%q", s)
}

// mattersAreThere says whether all that the write put in the front matter is there.
func (t *takeback) mattersAreThere() bool {
	if t.entry.FrontMatter == nil {
		return true
	}
	there := true
	for _, r := range t.entry.FrontMatter.Typed {
		for _, first := range t.firsts(r) {
			t.live.each(first, func(_ IDRun, _ bool, ok bool) { there = there && ok })
		}
	}
	return there
}

// want is what is to become of an item.
type want struct {
	item
	shown   bool
	revived bool
	changed bool
	key     inMark
}

// inMark names a mark of the note as it is, or one that was decided on; n is -1 for none.
type inMark struct {
	decided bool
	n       int
}

var noMark = inMark{n: -1}

// wants decides on every item. changed says whether that comes to anything.
func (t *takeback) wants() (list []want, changed bool) {
	run := func(w want) Role { return t.runs[w.run].Role } // of what is gone
	for i, x := range t.items {
		if !x.gone {
			w := t.wantLive(x)
			changed = changed || w.changed
			list = append(list, w)
			continue
		}
		t.home.each(x.first, func(part IDRun, at int, _ bool) {
			if at != i {
				return // it came back since, and went again
			}
			t.live.each(part, func(part IDRun, _ bool, live bool) {
				if live {
					return
				}
				one := x
				one.id, one.first = x.id.part(part.Clock-x.first.Clock, part.Len), part
				w := t.wantGone(one)
				changed = changed || w.shown && (w.kind == contentItem || run(w) == rejectedComment)
				list = append(list, w)
			})
		})
	}
	back := make(map[int]bool) // items that wait again
	for _, w := range list {
		switch {
		case !w.shown:
		case w.key.decided:
			back[t.marks[w.key.n].Item] = true
		case w.revived && run(w) == rejectedComment:
			back[t.marks[t.runs[w.run].Mark].Item] = true
		}
	}
	for i := range list { // what went with a suggestion comes back with it
		if w := &list[i]; w.revived && w.kind == furnitureItem && !back[t.marks[t.runs[w.run].Mark].Item] {
			w.shown, w.revived = false, false
		}
	}
	return list, changed
}

// wantLive decides on what is there: what the decision let in waits again, and so does
// what it let stay.
func (t *takeback) wantLive(x item) want {
	w := want{item: x, shown: true, key: noMark}
	if x.kind == furnitureItem && x.run >= 0 && t.runs[x.run].Role == rejectedDeletion { // a comment that was to go
		w.kind, w.o, w.a, x.o, x.a = contentItem, true, true, true, true
	}
	if w.kind != contentItem {
		return w
	}
	w.key.n = x.mark
	if x.run < 0 {
		return w
	}
	run := t.runs[x.run]
	switch run.Role {
	case acceptedAddition:
		w.o = false
	case rejectedDeletion:
		w.a = false
	case typedInstead:
		w.o, w.a = false, false
	}
	w.changed = w.o != x.o || w.a != x.a
	w.shown = w.o || w.a
	switch {
	case !w.changed:
	case !w.shown && run.Role != typedInstead:
		t.away(x.text, t.proposer(x)+" proposes to delete it")
		t.d.Runs = append(t.d.Runs, DecidedRun{At: x.id, Role: absorbed})
	case w.key.n < 0:
		w.key = inMark{true, run.Mark}
	}
	return w
}

// proposer is whose mark an item stands in.
func (t *takeback) proposer(x item) string {
	if x.mark >= 0 {
		return cmp.Or(t.x.owners[x.mark].author(), "somebody")
	}
	return "somebody"
}

// wantGone decides on what is not there.
func (t *takeback) wantGone(x item) want {
	w := want{item: x, key: noMark}
	run := t.runs[x.run]
	w.text = t.textOf(x)
	o, a := x.state.shown()
	switch run.Role {
	case typedInstead:
	case acceptedComment:
		t.away(w.text, deletedByPeople)
	case acceptedAddition, rejectedDeletion:
		if o || a {
			t.away(w.text, deletedByPeople)
		} else {
			t.away(w.text, laterDecision)
		}
	case removedPlain:
		w.shown, w.o, w.a = true, true, true
	default:
		if t.removed(run.Left) && t.removed(run.Right) {
			t.away(w.text, aroundDeleted)
			return w
		}
		if run.Role == takenAlong || run.Role == takenAlongOlder || run.Role == rejectedComment {
			w.kind, w.shown, w.revived = furnitureItem, true, true
			return w
		}
		w.o, w.a = x.state.undone(run.Role, t.entry.Seq).shown()
		if w.shown = w.o || w.a; !w.shown {
			t.away(w.text, laterDecision)
		}
		w.key = inMark{true, run.Mark}
	}
	w.revived = w.shown
	return w
}

// textOf is the text of an item that is gone.
func (t *takeback) textOf(x item) string {
	run := t.runs[x.run]
	cursor := utf16Cursor{text: run.Text}
	done := uint64(0)
	for _, first := range t.firsts(run.At) {
		if first.Client == x.first.Client && first.Clock <= x.first.Clock && x.first.Clock < first.Clock+first.Len {
			from := done + x.first.Clock - first.Clock
			off := cursor.offAt(int(from))
			return run.Text[off:cursor.offAt(int(from+x.first.Len))]
		}
		done += first.Len
	}
	return ""
}

// removed says whether people removed the character, or its author withdrew it.
func (t *takeback) removed(r IDRun) bool {
	if r.Len == 0 {
		return false // the start or the end of the note
	}
	first := t.firsts(r)[0]
	if _, _, live := t.live.at(first); live {
		return false
	}
	s, _, _ := t.states.at(first)
	o, a := s.shown()
	return !s.undo && (o || a) || s.dead
}

func (t *takeback) away(text, why string) {
	if n := len(t.d.Away) - 1; n >= 0 && t.d.Away[n].Why == why {
		t.d.Away[n].Text += text
		return
	}
	t.d.Away = append(t.d.Away, Away{Text: text, Why: why})
}

// printer writes a note whose items are as wanted. Marks that nothing has changed in
// keep their bytes.
type printer struct {
	*takeback
	wants   []want
	intact  []bool      // by mark of the layout
	comment map[int]int // where those begin and end that belong to no mark

	edits   []diffwrap.Edit
	placed  []Placement
	revived []Revival
	made    map[int]*MadeMark // by item
	sizes   map[int]uint64    // of the decided marks; nil until one is asked for
	at      int               // in the raw text
	pos     int               // in the new one, UTF-16 units
	open    *want             // what the open mark is like, nil for none
	o, a    strings.Builder   // what the views have to show
	raw     strings.Builder
}

// findIntact finds the marks that nothing changes in.
func (p *printer) findIntact() {
	n := len(p.x.marks)
	p.intact = make([]bool, n)
	closed, delimiters := make([]bool, n), make([]int, n)
	for k := range p.intact {
		p.intact[k] = true
	}
	last := -1
	for _, w := range p.wants {
		if w.gone && !w.shown {
			continue
		}
		m := w.mark
		switch {
		case w.kind == furnitureItem || w.revived:
			m = -1
		case w.kind == delimiterItem && m >= 0:
			delimiters[m] += len(w.text)
		case w.changed && m >= 0:
			p.intact[m] = false
		}
		if m != last {
			if last >= 0 {
				closed[last] = true
			}
			if m >= 0 && closed[m] {
				p.intact[m] = false
			}
			last = m
		}
	}
	for k, m := range p.x.marks {
		if delimiters[k] != m.Len()-m.Deleted.Len()-m.Added.Len() {
			p.intact[k] = false
		}
	}
}

func (p *printer) print() {
	p.findIntact()
	p.comment = make(map[int]int)
	for _, c := range diffwrap.Comments(p.cur.raw) {
		p.comment[c.Start] = c.End
	}
	for i := 0; i < len(p.wants); i++ {
		w := &p.wants[i]
		switch {
		case w.kind == delimiterItem:
			if w.mark >= 0 && p.intact[w.mark] {
				p.close()
				p.keep(w)
			}
		case !w.shown:
		case w.kind == furnitureItem && w.run >= 0 && !w.revived:
			if n := p.reopen(i); n > 0 {
				i += n - 1
				continue
			}
			p.close()
			p.keep(w)
		case w.kind == furnitureItem, w.o && w.a, !w.key.decided && p.intact[w.key.n]:
			p.close()
			p.keep(w)
		default:
			if n := p.substitution(i); n > 0 {
				i += n - 1
				continue
			}
			if p.open == nil || p.open.key != w.key || p.open.o != w.o {
				p.close()
				open, _ := p.delimiters(w)
				p.write(open)
				p.open = w
			}
			p.keep(w)
		}
	}
	p.close()
	p.remove(len(p.cur.raw))
}

func (p *printer) close() {
	if p.open != nil {
		_, closer := p.delimiters(p.open)
		p.write(closer)
		p.open = nil
	}
}

// delimiters are those of the mark that w stands in, as they were if they still fit.
func (p *printer) delimiters(w *want) (open, closer string) {
	open, closer = "{++", "++}"
	if w.o {
		open, closer = "{--", "--}"
	}
	was := DecidedMark{}
	if w.key.decided {
		was = p.marks[w.key.n]
	} else {
		was = (&decider{layout: p.x}).describe(0, p.x.marks[w.key.n])
	}
	if strings.HasPrefix(was.Open, open) {
		return was.Open, was.Close
	}
	return open, closer
}

// substitution writes a mark {~~old~>new~~} that comes back whole, and returns how many
// of wants that took, 0 for none.
func (p *printer) substitution(i int) int {
	key := p.wants[i].key
	if !key.decided || p.marks[key.n].Open != "{~~" {
		return 0
	}
	if p.sizes == nil {
		p.sizes = make(map[int]uint64)
		for _, r := range p.runs {
			if r.Role <= rejectedDeletion {
				p.sizes[r.Mark] += r.At.Len
			}
		}
	}
	var units uint64
	n, turn := 0, -1 // turn is where what is added begins
	for ; i+n < len(p.wants); n++ {
		w := &p.wants[i+n]
		if w.gone && !w.shown {
			continue
		}
		if w.kind != contentItem || w.key != key {
			break
		}
		if !w.o && turn < 0 {
			turn = n
		} else if w.o && turn >= 0 {
			return 0
		}
		units += w.id.Len
	}
	if units != p.sizes[key.n] {
		return 0
	}
	p.close()
	p.write("{~~")
	for j := range n {
		if j == turn {
			p.write(arrow)
		}
		if w := &p.wants[i+j]; w.shown {
			p.keep(w)
		}
	}
	if turn < 0 {
		p.write(arrow)
	}
	p.write(p.marks[key.n].Close)
	return n
}

// arrow stands between the halves of a substitution.
const arrow = "~>"

// keep copies an item that is there, or brings it back.
func (p *printer) keep(w *want) {
	size := int(w.id.Len)
	at := placeRun(p.pos, p.pos+size)
	if w.revived {
		p.insert(w.text, w.id)
		p.revived = append(p.revived, Revival{w.id, at})
	} else {
		p.remove(w.off)
		p.at = w.off + len(w.text)
		p.raw.WriteString(w.text)
		p.pos += size
	}
	if w.kind == contentItem {
		if w.o {
			p.o.WriteString(w.text)
		}
		if w.a {
			p.a.WriteString(w.text)
		}
	}
	if w.key.decided {
		p.mark(p.marks[w.key.n].Item).put(at, w.a)
	} else if w.revived && w.kind == furnitureItem && p.runs[w.run].Role == rejectedComment {
		p.mark(p.marks[p.runs[w.run].Mark].Item).put(at, true)
	} else if w.revived && w.kind == furnitureItem && p.runs[w.run].Role == takenAlongOlder {
		m := p.mark(p.marks[p.runs[w.run].Mark].Item)
		m.Older = append(m.Older, at)
	}
}

// mark is what comes back of an item of the decision.
func (p *printer) mark(item int) *MadeMark {
	if p.made[item] == nil {
		was := &p.entry.Decision.Items[item]
		m := was.made(p.entry.Time)
		if before := p.known.byID[was.ID]; before != nil {
			m.Older = slices.Clone(before.older)
		}
		p.made[item] = &m
	}
	return p.made[item]
}

func (p *printer) marksMade() (list []MadeMark) {
	items := make([]int, 0, len(p.made))
	for item := range p.made {
		items = append(items, item)
	}
	slices.Sort(items)
	for _, item := range items {
		list = append(list, *p.made[item])
	}
	return list
}

// write inserts text behind what was written last, insert behind a character that is
// gone.
func (p *printer) write(text string) { p.insert(text, IDRun{}) }

func (p *printer) insert(text string, behind IDRun) {
	if text == "" {
		return
	}
	p.edit(diffwrap.Edit{Off: p.at, New: text})
	p.placed = append(p.placed, Placement{len(text), behind})
	p.raw.WriteString(text)
	p.pos += utf16Len(text)
}

// remove leaves out the raw text up to an offset.
func (p *printer) remove(to int) {
	if to > p.at {
		p.edit(diffwrap.Edit{Off: p.at, Len: to - p.at})
		p.at = to
	}
}

func (p *printer) edit(e diffwrap.Edit) {
	if n := len(p.edits) - 1; n >= 0 && p.edits[n].Off+p.edits[n].Len == e.Off {
		p.edits[n].Len += e.Len
		p.edits[n].New += e.New
		return
	}
	p.edits = append(p.edits, e)
}

// check reads back what was written.
func (p *printer) check() error {
	raw := p.raw.String()
	o, a := diffwrap.Texts(raw)
	if o != p.o.String() || a != p.a.String() {
		return &refusal{errNotReadBack}
	}
	was, _ := diffwrap.FrontMatter(p.cur.raw)
	is, _ := diffwrap.FrontMatter(raw)
	if p.entry.FrontMatter == nil {
		if raw[:is] != p.cur.raw[:was] {
			return &refusal{errNotReadBack}
		}
		return nil
	}
	body, _ := diffwrap.FrontMatter(p.cur.marked)
	bodyO, bodyA := diffwrap.Texts(p.cur.marked[body:])
	if o, a := diffwrap.Texts(raw[is:]); p.entry.Decision == nil && (o != bodyO || a != bodyA) {
		return &refusal{errMatterChanged}
	}
	if err := diffwrap.CheckFrontMatter(raw[:is]); err != nil {
		return &refusal{err}
	}
	return nil
}
