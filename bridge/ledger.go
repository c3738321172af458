package bridge

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/relayfs/relayfs/bridge/ycrdt"
	"github.com/relayfs/relayfs/diffwrap"
)

// ledger is what the records of a document tell of its characters: who wrote them,
// and which suggestion adds or deletes them. Suggestions follow it and not the text
// alone: what a person types in an agent's mark is the person's and plain, and of two
// authors' marks that touch each is a suggestion of its own.
type ledger struct {
	upTo  uint64 // the last record's number
	first *Record
	wrote idRanges[*stroke]
	adds  idRanges[*madeMark] // what the suggestion adds
	dels  idRanges[*madeMark] // what it deletes
	byID  map[string]*madeMark
}

// stroke is one change, as far as it tells whose its text is.
type stroke struct {
	author, session, proposal string
	time                      time.Time
	agent                     bool // a program's own text, not what a person typed or decided
	printed                   bool // it wrote agents' marks anew
	marks                     bool // its record says which marks it made
}

// madeMark is a suggestion that a record tells of.
type madeMark struct {
	id, author, session, proposal string
	time                          time.Time
	older                         []IDRun // comments that were there before it
	comment                       bool    // an agent's comment, and no mark
}

func newLedger(records []Record) *ledger {
	l := &ledger{
		wrote: make(idRanges[*stroke]), adds: make(idRanges[*madeMark]), dels: make(idRanges[*madeMark]),
		byID: make(map[string]*madeMark),
	}
	for i := range records {
		l.add(&records[i])
	}
	return l
}

func (l *ledger) add(rec *Record) {
	if l.first == nil {
		l.first = &Record{
			Author: rec.Author, Proposal: rec.Proposal, Ahead: rec.Ahead, Client: rec.Client, Clock: rec.Clock, Len: rec.Len,
		}
	}
	l.upTo = max(l.upTo, rec.Seq)
	if rec.Author != "" || rec.Proposal != "" {
		l.addStroke(rec)
	}
	for i, m := range rec.Marks {
		made := &madeMark{m.ID, m.Author, m.Session, m.Proposal, m.Time, m.Older, m.Comment}
		if m.ID == "" {
			made = &madeMark{markID(rec, i), rec.Author, rec.Session, rec.Proposal, rec.Time, m.Older, m.Comment}
		}
		l.byID[made.id] = made
		for _, r := range m.Add {
			l.adds.set(r, made)
		}
		for _, r := range m.Del {
			l.dels.set(r, made)
		}
	}
}

// addStroke notes whose the text of a record is. What one person types in one go is one.
func (l *ledger) addStroke(rec *Record) {
	s := &stroke{
		author: rec.Author, session: rec.Session, proposal: rec.Proposal, time: rec.Time,
		agent: !rec.Ahead && rec.Decision == nil, marks: len(rec.Marks) > 0,
	}
	if d := rec.Decision; d != nil {
		s.marks = d.Before == d.After // else an older version's
		s.printed = len(rec.Marks) == 0 || slices.ContainsFunc(rec.Marks, func(m MadeMark) bool { return m.Author != "" })
	}
	list := l.wrote[rec.Client]
	if n := len(list) - 1; n >= 0 && rec.Ahead && list[n].to == rec.Clock {
		if before := list[n].value; before.author == s.author && before.session == s.session && !before.agent {
			before.time = s.time
			list[n].to += rec.Len
			return
		}
	}
	l.wrote.set(IDRun{rec.Client, rec.Clock, rec.Len}, s)
}

// markID names the mark with that number of those that a record made. It is the same
// for ever, and nobody else's.
func markID(rec *Record, i int) string {
	return shortSum("%d:%d:%d:%d", rec.Client, rec.Clock, rec.Time.UnixNano(), i)
}

func shortSum(format string, args ...any) string {
	sum := sha256.Sum256(fmt.Appendf(nil, format, args...))
	return hex.EncodeToString(sum[:5])
}

// silent says that nobody but people are known to have written in the document.
func (l *ledger) silent() bool {
	return l == nil || len(l.wrote) == 0 && len(l.adds) == 0 && len(l.dels) == 0
}

// strokeAt is who wrote the unit, nil if that is not known.
func (l *ledger) strokeAt(r IDRun) *stroke {
	s, _, _ := l.wrote.at(r)
	return s
}

// strokeIn is the newest change that wrote something of the text from one position to
// another, nil if none is known.
func (l *ledger) strokeIn(u units, from, to int) (best *stroke) {
	u.each(from, to, func(_ int, r IDRun) {
		l.wrote.each(r, func(_ IDRun, s *stroke, ok bool) {
			if ok && (best == nil || s.time.After(best.time)) {
				best = s
			}
		})
	})
	return best
}

// allBy says whether one author wrote all of the text up to a position.
func (l *ledger) allBy(u units, size int, author string) bool {
	all, at := true, 0
	u.each(0, size, func(pos int, r IDRun) {
		at = pos + int(r.Len)
		l.wrote.each(r, func(_ IDRun, s *stroke, ok bool) { all = all && ok && s.author == author })
	})
	return all && at == size
}

// owner is what the ledger knows of one mark of a text.
type owner struct {
	mark   *madeMark // nil if no record tells of it
	stroke *stroke   // the newest change that wrote in it, if there is no mark
	whole  string    // the author of all of it that can be proposed; "" for several, or nobody known
	agents bool      // an agent made it
}

// author is whose the mark is.
func (o *owner) author() string {
	switch {
	case o.mark != nil:
		return o.mark.author
	case o.stroke != nil:
		return o.stroke.author
	}
	return ""
}

// layout is a raw text by its marks and what the ledger knows of them.
type layout struct {
	raw    string
	marks  []diffwrap.Mark
	text   []diffwrap.Content
	owners []owner      // of marks
	places []placedText // of text, in UTF-16 units
	edges  []placedText // of marks, in UTF-16 units
}

type placedText struct{ from, to int }

// layOut reads raw, whose identities are u.
func (l *ledger) layOut(raw string, u units) *layout {
	x := &layout{raw: raw}
	x.marks, x.text = diffwrap.Layout(raw)
	x.places = make([]placedText, len(x.text))
	x.edges = make([]placedText, len(x.marks))
	x.owners = make([]owner, len(x.marks))
	cursor := utf16Cursor{text: raw}
	next := 0
	for k, m := range x.marks {
		next = x.place(&cursor, next, m.Start)
		x.edges[k].from = cursor.posAt(m.Start)
		first := next
		next = x.place(&cursor, next, m.End)
		x.edges[k].to = cursor.posAt(m.End)
		if !l.silent() {
			x.owners[k] = l.ownerOf(x, u, k, first, next)
		}
	}
	x.place(&cursor, next, len(raw))
	return x
}

// place finds the places of the texts from the one at next on that end before an offset,
// and returns the first one that does not.
func (x *layout) place(cursor *utf16Cursor, next, end int) int {
	for ; next < len(x.text) && x.text[next].End <= end; next++ {
		x.places[next].from = cursor.posAt(x.text[next].Start)
		x.places[next].to = cursor.posAt(x.text[next].End)
	}
	return next
}

// markEdge is the length of a mark's delimiters.
const markEdge = len("{++")

// role is what the ledger knows of text in one of its two roles.
func (l *ledger) role(c diffwrap.Content) idRanges[*madeMark] {
	if c.Deleted {
		return l.dels
	}
	return l.adds
}

// ownerOf finds whose mark k is, whose contents are those from first to last.
func (l *ledger) ownerOf(x *layout, u units, k, first, last int) (o owner) {
	authors := make(map[string]bool)
	for i := first; i < last; i++ {
		u.each(x.places[i].from, x.places[i].to, func(_ int, r IDRun) {
			l.role(x.text[i]).each(r, func(part IDRun, m *madeMark, ok bool) {
				if ok {
					if o.mark == nil {
						o.mark = m
					}
					authors[m.author] = true
				} else if x.text[i].Added {
					l.wrote.each(part, func(_ IDRun, s *stroke, ok bool) {
						if ok && s.agent {
							authors[s.author] = true
						} else {
							authors[""] = true
						}
					})
				}
			})
		})
	}
	edge := func(from, to int) {
		u.each(from, to, func(_ int, r IDRun) {
			l.wrote.each(r, func(_ IDRun, s *stroke, ok bool) {
				if !ok {
					s = &stroke{}
				}
				o.agents = o.agents || s.agent || s.printed
				if o.mark == nil {
					authors[s.author] = true
				}
			})
		})
	}
	edge(x.edges[k].from, x.edges[k].from+markEdge)
	edge(x.edges[k].to-markEdge, x.edges[k].to)
	if o.mark != nil {
		o.agents = o.mark.author != ""
	} else {
		o.stroke = l.strokeIn(u, x.edges[k].from, x.edges[k].to)
	}
	if len(authors) == 1 {
		for a := range authors {
			o.whole = a
		}
	}
	return o
}

// typed finds what people typed inside of agents' marks, and says of marks without
// text whether agents made them.
func (l *ledger) typed(x *layout, u units) (typed []diffwrap.Span, empty map[int]bool) {
	cursor := utf16Cursor{text: x.raw}
	empty = make(map[int]bool)
	for k := range x.marks {
		if m := &x.marks[k]; m.Deleted.Empty() && m.Added.Empty() && x.owners[k].agents {
			empty[m.Start] = true
		}
	}
	for i, c := range x.text {
		if c.Mark < 0 || !x.owners[c.Mark].agents {
			continue
		}
		if c.Deleted && !l.tellsWraps(x, u, c.Mark) {
			continue
		}
		u.each(x.places[i].from, x.places[i].to, func(pos int, r IDRun) {
			l.role(c).each(r, func(part IDRun, _ *madeMark, ok bool) {
				if ok {
					return
				}
				l.wrote.each(part, func(part IDRun, s *stroke, ok bool) {
					if ok && s.agent {
						return
					}
					from := pos + int(part.Clock-r.Clock)
					at := diffwrap.Span{Start: cursor.offAt(from)}
					at.End = cursor.offAt(from + int(part.Len))
					if n := len(typed) - 1; n >= 0 && typed[n].End == at.Start {
						typed[n].End = at.End
					} else {
						typed = append(typed, at)
					}
				})
			})
		})
	}
	return typed, empty
}

// tellsWraps says whether it is known what the deletion k was put around: not of one
// that an older relayfs made.
func (l *ledger) tellsWraps(x *layout, u units, k int) bool {
	if x.owners[k].mark != nil {
		return true
	}
	tells := false
	u.each(x.edges[k].from, x.edges[k].from+markEdge, func(_ int, r IDRun) {
		s := l.strokeAt(r)
		tells = tells || s != nil && s.marks
	})
	return tells
}

// marksIn says whether raw may have suggestions, or comments.
func marksIn(raw string) bool {
	return strings.Contains(raw, "{++") || strings.Contains(raw, "{--") || strings.Contains(raw, "{~~") || strings.Contains(raw, "{>>")
}

// separated are the edits that take out of agents' marks what people typed there.
func (l *ledger) separated(raw string, runs []ycrdt.Run) []diffwrap.Edit {
	if l.silent() || !marksIn(raw) {
		return nil
	}
	u := unitsOf(runs)
	typed, empty := l.typed(l.layOut(raw, u), u)
	if len(typed) == 0 && len(empty) == 0 {
		return nil
	}
	return diffwrap.Separate(raw, typed, func(start, _ int) bool { return empty[start] })
}

// made are the suggestions that a program's edits made of raw, or changed. u and v are
// the identities of raw and of what the edits led to.
func (l *ledger) made(raw string, u units, edits []diffwrap.Edit, after string, v units, by string) (marks []MadeMark) {
	separated := l.separated(raw, u.runs)
	before := diffwrap.Apply(raw, separated)
	x := l.layOut(before, u.through(raw, separated))
	y := newLedger(nil).layOut(after, units{})
	kept := keptMap{compose(flip(keptSpans(len(raw), separated)), keptSpans(len(raw), edits))}
	same := y.unchanged(x, kept)
	writer := func(start, _ int) diffwrap.Writer {
		if k, ok := y.markAt(start); ok && same[k] >= 0 {
			return diffwrap.Writer{Author: x.owners[same[k]].author()}
		}
		return diffwrap.Writer{Author: by}
	}
	groups := diffwrap.SuggestionsBy(after, writer)
	older := olderComments(after, groups, kept, v)
	k, i := 0, 0
	for g := range groups {
		var m MadeMark
		changed := false
		for ; k < len(y.marks) && y.marks[k].Start < groups[g].End; k++ {
			changed = changed || same[k] < 0
			for ; i < len(y.text) && y.text[i].Start < y.marks[k].End; i++ {
				if y.text[i].Mark != k {
					continue
				}
				r := placeRun(y.places[i].from, y.places[i].to)
				if y.text[i].Added {
					m.Add = append(m.Add, v.resolve(r)...)
				} else {
					m.Del = append(m.Del, v.resolve(r)...)
				}
			}
		}
		if changed {
			m.Older = older[groups[g].End]
			marks = append(marks, m)
		}
	}
	return append(marks, madeComments(after, kept, v)...)
}

// keptMap finds where text went that stays.
type keptMap struct{ spans []span }

// back is where the text at s was, if all of it was there in one piece.
func (m keptMap) back(s diffwrap.Span) (was diffwrap.Span, ok bool) {
	i, found := slices.BinarySearchFunc(m.spans, s.Start, func(x span, at int) int { return x.b - at })
	if !found {
		i--
	}
	if i < 0 || s.End > m.spans[i].b+m.spans[i].n {
		return was, false
	}
	off := m.spans[i].a - m.spans[i].b
	return diffwrap.Span{Start: s.Start + off, End: s.End + off}, true
}

// unchanged says of each mark which one it was before, -1 if it was none.
func (x *layout) unchanged(before *layout, kept keptMap) []int {
	same := make([]int, len(x.marks))
	sizes, was := make([]int, len(x.marks)), make([]int, len(before.marks))
	for k := range same {
		same[k] = -2 // nothing seen
	}
	for _, c := range before.text {
		if c.Mark >= 0 {
			was[c.Mark]++
		}
	}
	for _, c := range x.text {
		if c.Mark < 0 {
			continue
		}
		sizes[c.Mark]++
		k := -1
		if at, ok := kept.back(c.Span); ok {
			i, found := slices.BinarySearchFunc(before.text, at.Start, func(b diffwrap.Content, off int) int { return b.Start - off })
			if found && before.text[i].Span == at && before.text[i].Added == c.Added && before.text[i].Deleted == c.Deleted {
				k = before.text[i].Mark
			}
		}
		if same[c.Mark] == -2 || same[c.Mark] == k {
			same[c.Mark] = k
		} else {
			same[c.Mark] = -1
		}
	}
	for k := range same {
		if same[k] < 0 || sizes[k] != was[same[k]] {
			same[k] = -1
		}
	}
	return same
}

// olderComments are the comments directly behind suggestions that were there before,
// by where the suggestions end.
func olderComments(after string, groups []diffwrap.Suggestion, kept keptMap, v units) map[int][]IDRun {
	if !strings.Contains(after, ">>") {
		return nil
	}
	older := make(map[int][]IDRun)
	cursor := utf16Cursor{text: after}
	diffwrap.Decide(after, false, func(c diffwrap.Attached) diffwrap.Fate {
		if _, ok := kept.back(diffwrap.Span{Start: c.Start, End: c.Start + 1}); ok {
			from := cursor.posAt(c.Start)
			older[c.Mark.End] = append(older[c.Mark.End], v.resolve(placeRun(from, cursor.posAt(c.End)))...)
		}
		return diffwrap.Stays
	}, groups...)
	return older
}

// size is how much it knows.
func (l *ledger) size() (n int) {
	if l == nil {
		return 0
	}
	for _, list := range l.wrote {
		n += len(list)
	}
	for _, x := range []idRanges[*madeMark]{l.adds, l.dels} {
		for _, list := range x {
			n += len(list)
		}
	}
	return n
}

// prune forgets what is known of text that is gone for good: a note that is written for
// weeks takes no more memory than it has text.
func (l *ledger) prune(runs []ycrdt.Run) {
	left := newLedger(nil)
	left.upTo, left.first = l.upTo, l.first
	for _, run := range runs {
		r := IDRun{uint64(run.ID.Client), run.ID.Clock, uint64(run.Len)}
		l.wrote.each(r, func(part IDRun, s *stroke, ok bool) {
			if ok {
				left.wrote.set(part, s)
			}
		})
		l.adds.each(r, func(part IDRun, m *madeMark, ok bool) {
			if ok {
				left.adds.set(part, m)
				left.byID[m.id] = m
			}
		})
		l.dels.each(r, func(part IDRun, m *madeMark, ok bool) {
			if ok {
				left.dels.set(part, m)
				left.byID[m.id] = m
			}
		})
	}
	*l = *left
}

// ledgerNow is what the store tells of the note's document. The write lock is held.
func (n *note) ledgerNow() (*ledger, error) {
	if n.id == "" || n.doc != nil && n.kept == 0 && n.held == nil {
		return newLedger(nil), nil // the store has nothing of it
	}
	if n.ledger != nil && n.held == nil && (n.live != nil || n.ledger.upTo == n.kept) {
		return n.ledger, nil
	}
	h, err := n.where().store.Load(n.id)
	if err != nil {
		return nil, err
	}
	l := newLedger(append(h.Records, n.held...))
	if n.held == nil && (n.live != nil || n.doc != nil) {
		n.ledger = l
	}
	return l, nil
}

// minLedger is how much a ledger may know before it is worth a look at what of it is of
// no use any more.
const minLedger = 1024

// extendLedger adds records that are kept now, the last of them as seq.
func (n *note) extendLedger(seq uint64, records []Record) {
	if n.ledger == nil || n.ledger.upTo != n.kept {
		n.ledger = nil
		return
	}
	had := n.ledger.size()
	for i := range records {
		n.ledger.add(&records[i])
	}
	n.ledger.upTo = seq
	if n.ledger.grownFrom(had) {
		n.ledger.prune(n.text.Runs())
	}
}

// grownFrom says whether it is time to look at what of it is of no use any more.
func (l *ledger) grownFrom(had int) bool { return l.size()/minLedger > had/minLedger }

// separate takes what people typed inside of agents' marks out of them, in a version
// that the document is at. The write lock is held.
func (n *note) separate(v *Version) {
	if v.readOnly || !marksIn(v.raw) {
		return
	}
	runs := v.runs
	if n.live == nil {
		if n.doc == nil || n.text.String() != v.raw {
			return // a program's write that waits, which leaves nothing of that kind
		}
		runs = n.text.Runs()
	}
	l, err := n.ledgerNow()
	if err != nil {
		n.ws.log.Warn("whose the marks are is not known", LogPath, string(n.where().path), LogErr, err)
		return
	}
	v.separate(l.separated(v.raw, runs), n.ws.o.View)
}

// separateStored is separate for a note that was just read, whose document is in the
// store, unless the two have yet to be compared. The write lock is held.
func (n *note) separateStored(at place, v *Version) error {
	if v.readOnly || !marksIn(v.raw) {
		return nil
	}
	if n.doc != nil && n.text.String() == v.raw {
		n.separate(v)
		return nil
	}
	id, err := at.lookupID()
	if err != nil || id == "" {
		return err
	}
	h, err := at.store.Load(id)
	if err != nil || !h.mayHaveTyped() || !h.inStep(SumOf(v.raw)) {
		return wrapError("open", at.path, err)
	}
	doc, err := replay(h.Records)
	if err != nil {
		return nil // who needs the document gets the error
	}
	v.separate(newLedger(h.Records).separated(v.raw, runsAs(doc, v.raw)), n.ws.o.View)
	return nil
}

// runsAs are the identities of raw's characters, of which those that doc does not have
// are nobody's.
func runsAs(doc *ycrdt.Doc, raw string) []ycrdt.Run {
	text := doc.Text(contentsName)
	if have := text.String(); have != raw {
		doc.Transact(nil, func(txn *ycrdt.Txn) { applyEdits(txn, text, have, diffwrap.Diff(have, raw)) })
	}
	return text.Runs()
}

// mayHaveTyped says whether somebody may have typed in the note since the first agent
// wrote in it.
func (h History) mayHaveTyped() bool {
	agents := false
	for i := range h.Records {
		r := &h.Records[i]
		theirs := r.Author != "" && !r.Ahead || r.Decision != nil
		if agents && (!theirs || r.Seq != h.Records[i-1].Seq+1) {
			return true
		}
		agents = agents || theirs
	}
	return false
}

// identities are who wrote what of the current version, and the identities of its raw
// text: nothing if the note was never written through relayfs. The write lock is held.
func (n *note) identities(cur *Version) (*ledger, []ycrdt.Run, error) {
	if n.owing {
		_ = n.prepare(n.where(), cur.raw) // what is held is known all the same
	}
	switch {
	case n.id == "":
		return newLedger(nil), nil, nil
	case n.live != nil:
		l, err := n.ledgerNow()
		return l, cur.runs, err
	case n.doc != nil:
		l, err := n.ledgerNow()
		return l, n.text.Runs(), err
	}
	h, err := n.where().store.Load(n.id)
	if err != nil || len(h.Records) == 0 {
		return newLedger(nil), nil, err
	}
	doc, err := replay(h.Records)
	if err != nil {
		return nil, nil, err
	}
	return newLedger(h.Records), runsAs(doc, cur.raw), nil
}

// layout reads the current version's suggestions. The write lock is held.
func (n *note) layout(cur *Version) (*layout, *ledger, units, error) {
	l, runs, err := n.identities(cur)
	if err != nil {
		return nil, nil, units{}, err
	}
	u := unitsOf(runs).through(cur.raw, cur.separated)
	return l.layOut(cur.marked, u), l, u, nil
}

// markAt is the mark that starts at an offset, nil if none does.
func (x *layout) markAt(start int) (k int, ok bool) {
	return slices.BinarySearchFunc(x.marks, start, func(m diffwrap.Mark, at int) int { return m.Start - at })
}
