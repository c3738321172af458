package bridge

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/relayfs/relayfs/bridge/textmerge"
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
	alias idRanges[IDRun] // the first identity of what an undo brought back, as the difference to its later one
}

// stroke is one change, as far as it tells whose its text is.
type stroke struct {
	author, session, proposal string
	time                      time.Time
	agent                     bool // a program's own text, not what a person typed or decided
	printed                   bool // it wrote agents' marks anew
	marks                     bool // its record says which marks it made
}

// makesMarks says whether the marks that it wrote are agents'.
func (s *stroke) makesMarks() bool { return s.agent || s.printed }

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
		byID: make(map[string]*madeMark), alias: make(idRanges[IDRun]),
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
	if rec.Decision != nil {
		l.addRevived(rec.Decision)
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

// strokeIn is the newest change, of an agent or not, that wrote something of the text from
// one position to another, nil if none is known.
func (l *ledger) strokeIn(u units, from, to int, agents bool) (best *stroke) {
	u.each(from, to, func(_ int, r IDRun) {
		l.wrote.each(r, func(_ IDRun, s *stroke, ok bool) {
			if ok && s.makesMarks() == agents && (best == nil || s.time.After(best.time)) {
				best = s
			}
		})
	})
	return best
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
	raw       string
	marks     []diffwrap.Mark
	text      []diffwrap.Content
	furniture []diffwrap.Span // what is neither
	owners    []owner         // of marks
	places    []placedText    // of text, in UTF-16 units
	edges     []placedText    // of marks, in UTF-16 units
}

type placedText struct{ from, to int }

// layOut reads raw, whose identities are u.
func (l *ledger) layOut(raw string, u units) *layout {
	x := &layout{raw: raw}
	x.marks, x.text, x.furniture = diffwrap.Layout(raw)
	x.places = make([]placedText, len(x.text))
	x.edges = make([]placedText, len(x.marks))
	x.owners = make([]owner, len(x.marks))
	cursor := textmerge.NewCursor(raw)
	next := 0
	for k, m := range x.marks {
		next = x.place(&cursor, next, m.Start)
		x.edges[k].from = cursor.PosAt(m.Start)
		first := next
		next = x.place(&cursor, next, m.End)
		x.edges[k].to = cursor.PosAt(m.End)
		if !l.silent() {
			x.owners[k] = l.ownerOf(x, u, k, first, next)
		}
	}
	x.place(&cursor, next, len(raw))
	return x
}

// place finds the places of the texts from the one at next on that end before an offset,
// and returns the first one that does not.
func (x *layout) place(cursor *textmerge.Cursor, next, end int) int {
	for ; next < len(x.text) && x.text[next].End <= end; next++ {
		x.places[next].from = cursor.PosAt(x.text[next].Start)
		x.places[next].to = cursor.PosAt(x.text[next].End)
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
	theirs := 0 // of delimiters: a saved file may keep one, or a brace, of another mark
	edge := func(from, to int) {
		u.each(from, to, func(_ int, r IDRun) {
			l.wrote.each(r, func(part IDRun, s *stroke, ok bool) {
				if !ok {
					s = &stroke{}
				}
				if s.makesMarks() {
					theirs += int(part.Len)
				}
				if o.mark == nil {
					authors[s.author] = true
				}
			})
		})
	}
	edge(x.edges[k].from, x.edges[k].from+markEdge)
	edge(x.edges[k].to-markEdge, x.edges[k].to)
	o.agents = theirs == 2*markEdge
	if o.mark != nil {
		o.agents = o.mark.author != ""
	} else {
		o.stroke = l.strokeIn(u, x.edges[k].from, x.edges[k].to, o.agents)
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
	cursor := textmerge.NewCursor(x.raw)
	empty = make(map[int]bool)
	for k := range x.marks {
		if x.isEmpty(k) && x.owners[k].agents {
			empty[x.marks[k].Start] = true
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
					at := diffwrap.Span{Start: cursor.OffAt(from)}
					at.End = cursor.OffAt(from + int(part.Len))
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

// markAt is the mark that starts at an offset, nil if none does.
func (x *layout) markAt(start int) (k int, ok bool) {
	return slices.BinarySearchFunc(x.marks, start, func(m diffwrap.Mark, at int) int { return m.Start - at })
}
