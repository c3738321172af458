package attribution

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/textmerge"
	"github.com/relayfs/relayfs/bridge/ycrdt"
	"github.com/relayfs/relayfs/diffwrap"
)

// Ledger is what the records of a document tell of its characters: who wrote them,
// and which suggestion adds or deletes them. Suggestions follow it and not the text
// alone: what a person types in an agent's mark is the person's and plain, and of two
// authors' marks that touch each is a suggestion of its own.
type Ledger struct {
	UpTo  uint64 // the last record's number
	first *model.Record
	wrote Ranges[*stroke]
	adds  Ranges[*model.MadeMark] // what the suggestion adds
	dels  Ranges[*model.MadeMark] // what it deletes
	ByID  map[string]*model.MadeMark
	alias Ranges[origin] // of what an undo brought back
	torn  Ranges[bool]   // delimiters that mark nothing
	marks Ranges[bool]   // what a record wrote as marks; false for text that is in them

	rejected Ranges[*rejection] // what stayed where something was rejected, or stands beside that
}

// stroke is one change, as far as it tells whose its text is.
type stroke struct {
	author, session, proposal string
	time                      time.Time
	agent                     bool // a program's own text, not what a person typed or decided
	printed                   bool // it wrote agents' marks anew
}

// MakesMarks says whether the marks that it wrote are agents'.
func (s *stroke) MakesMarks() bool { return s.agent || s.printed }

func NewLedger(records []model.Record) *Ledger {
	l := &Ledger{
		wrote: make(Ranges[*stroke]), adds: make(Ranges[*model.MadeMark]), dels: make(Ranges[*model.MadeMark]),
		ByID: make(map[string]*model.MadeMark), alias: make(Ranges[origin]), marks: make(Ranges[bool]),
		torn: make(Ranges[bool]), rejected: make(Ranges[*rejection]),
	}
	for i := range records {
		l.Add(&records[i])
	}
	return l
}

func (l *Ledger) Add(rec *model.Record) {
	if l.first == nil {
		l.first = &model.Record{
			Author: rec.Author, Proposal: rec.Proposal, Client: rec.Client, Clock: rec.Clock, Len: rec.Len,
		}
	}
	l.UpTo = max(l.UpTo, rec.Seq)
	if rec.Author != "" || rec.Proposal != "" {
		l.addStroke(rec)
	}
	l.addMarks(rec)
	l.addReturned(rec)
	for _, r := range rec.Torn {
		l.torn.Set(r, true)
	}
	if rec.Decision != nil {
		l.addRevived(rec.Decision.Revived, rec.Seq)
		if rec.Decision.Verdict == model.Undone {
			l.addComments(rec.Decision.Revived)
		}
		l.addRejected(rec)
		l.settle(rec.Decision)
	}
	for _, r := range slices.Concat(rec.Restored, rec.Plain) {
		l.adds.clear(r)
		l.dels.clear(r)
	}
	for i, m := range rec.Marks {
		if m.ID == "" {
			m.ID, m.Author, m.Session, m.Proposal, m.Time = markID(rec, i), rec.Author, rec.Session, rec.Proposal, rec.Time
		}
		l.ByID[m.ID] = &m
		for _, r := range m.Add {
			l.adds.Set(r, &m)
		}
		for _, r := range m.Del {
			l.dels.Set(r, &m)
		}
		m.Add, m.Del = nil, nil // the ranges tell
	}
}

// settle ends that text waits which a decision left in the note.
func (l *Ledger) settle(d *model.Decision) {
	if d.Verdict == model.Undone {
		return
	}
	for _, run := range d.Runs {
		switch run.Role {
		case model.AcceptedAddition:
			l.adds.clear(run.At)
		case model.RejectedDeletion:
			l.dels.clear(run.At)
		}
	}
}

// addStroke notes whose the text of a record is.
func (l *Ledger) addStroke(rec *model.Record) {
	s := &stroke{
		author: rec.Author, session: rec.Session, proposal: rec.Proposal, time: rec.Time,
		agent: rec.Decision == nil,
	}
	if d := rec.Decision; d != nil {
		s.printed = len(rec.Marks) == 0 || slices.ContainsFunc(rec.Marks, func(m model.MadeMark) bool { return m.Author != "" })
	}
	l.wrote.Set(model.IDRun{Client: rec.Client, Clock: rec.Clock, Len: rec.Len}, s)
	if d := rec.Decision; d != nil {
		for _, r := range d.ByHand {
			l.wrote.Set(r, &stroke{})
		}
	}
}

// addMarks notes which text of a record is delimiters of marks, or a comment.
func (l *Ledger) addMarks(rec *model.Record) {
	d := rec.Decision
	if d != nil || (rec.Author != "" || rec.Proposal != "") && !rec.Direct { // a decision cuts other marks at what people typed in them
		l.marks.Set(model.IDRun{Client: rec.Client, Clock: rec.Clock, Len: rec.Len}, true)
	}
	if rec.FrontMatter != nil {
		for _, r := range rec.FrontMatter.Typed {
			l.marks.Set(r, false)
		}
	}
	if d != nil {
		for _, run := range d.Runs {
			if run.Role == model.TypedInstead {
				l.marks.Set(run.At, false)
			}
		}
		for _, r := range d.Revived { // it is what it was
			l.marks.Set(r.New, false)
			l.marks.copy(r, nil)
		}
	}
	for _, m := range rec.Marks {
		for _, r := range m.Add {
			if !m.Comment {
				l.marks.Set(r, false)
			}
		}
		for _, r := range m.Del {
			l.marks.Set(r, false)
		}
	}
}

// IsMark reports whether the first character of a run was written as that of a mark.
func (l *Ledger) IsMark(r model.IDRun) bool {
	wrote, _, ok := l.marks.At(r)
	return ok && wrote
}

// Known finds the marks of raw, whose identities are u, that records tell of: all of the opener is of one.
func (l *Ledger) Known(raw string, u Units) diffwrap.Known {
	if l == nil || len(l.marks) == 0 {
		return diffwrap.Known{}
	}
	var known []int
	cursor := textmerge.NewCursor(raw)
	for _, at := range diffwrap.MayBeMarks(raw) {
		from, units := cursor.PosAt(at), 0
		u.Each(from, from+MarkEdge, func(_ int, r model.IDRun) {
			l.marks.Each(r, func(part model.IDRun, wrote, ok bool) {
				if ok && wrote {
					units += int(part.Len)
				}
			})
		})
		if units == MarkEdge {
			known = append(known, at)
		}
	}
	return diffwrap.KnownAt(known)
}

// markID names the mark with that number of those that a record made. It is the same
// for ever, and nobody else's.
func markID(rec *model.Record, i int) string {
	return shortSum("%d:%d:%d:%d", rec.Client, rec.Clock, rec.Time.UnixNano(), i)
}

func shortSum(format string, args ...any) string {
	sum := sha256.Sum256(fmt.Appendf(nil, format, args...))
	return hex.EncodeToString(sum[:5])
}

// silent says that nobody but people are known to have written in the document.
func (l *Ledger) silent() bool {
	return l == nil || len(l.wrote) == 0 && len(l.adds) == 0 && len(l.dels) == 0
}

// StrokeAt is who wrote the unit, nil if that is not known.
func (l *Ledger) StrokeAt(r model.IDRun) *stroke {
	s, _, _ := l.wrote.At(r)
	return s
}

// AddedBehind says whether an agent put the text from one position to another behind the text before it.
func (x *Layout) AddedBehind(from, to int) bool {
	strokeAt := func(pos int) (s *stroke) {
		x.Each(pos, pos+1, func(_ int, r model.IDRun) { s = x.StrokeAt(x.Firsts(r)[0]) })
		return s
	}
	before := strokeAt(from - 1)
	for pos := from; pos < to; pos++ {
		if s := strokeAt(pos); s == nil || !s.agent || s == before {
			return false
		}
	}
	return true
}

// strokeIn is the newest change, of an agent or not, that wrote something of the text from
// one position to another, nil if none is known.
func (x *Layout) strokeIn(from, to int, agents bool) (best *stroke) {
	x.Each(from, to, func(_ int, r model.IDRun) {
		x.wrote.Each(r, func(_ model.IDRun, s *stroke, ok bool) {
			if ok && s.MakesMarks() == agents && (best == nil || s.time.After(best.time)) {
				best = s
			}
		})
	})
	return best
}

// owner is what the ledger knows of one mark of a text.
type owner struct {
	Mark   *model.MadeMark // nil if no record tells of it
	stroke *stroke         // the newest change that wrote in it, if there is no mark
	whole  string          // the author of all of it that can be proposed; "" for several, or nobody known
	agents bool            // an agent made it
}

// IsAgents says whether an agent made the mark.
func (o *owner) IsAgents() bool { return o.agents }

// Author is whose the mark is.
func (o *owner) Author() string {
	switch {
	case o.Mark != nil:
		return o.Mark.Author
	case o.stroke != nil:
		return o.stroke.author
	}
	return ""
}

// Layout is a raw text by its marks and what the ledger knows of them.
type Layout struct {
	*Ledger
	Units
	Raw       string
	Known     diffwrap.Known // marks of Raw
	Marks     []diffwrap.Mark
	Text      []diffwrap.Content
	Furniture []diffwrap.Span // what is neither
	Owners    []owner         // of marks
	Places    []PlacedText    // of text, in UTF-16 units
	edges     []PlacedText    // of marks, in UTF-16 units
}

type PlacedText struct{ From, To int }

// LayOut reads raw, whose identities are u, and whose known marks are known.
func (l *Ledger) LayOut(raw string, known diffwrap.Known, u Units) *Layout {
	x := &Layout{Ledger: l, Units: u, Raw: raw, Known: known}
	x.Marks, x.Text, x.Furniture = known.Layout(raw)
	x.Places = make([]PlacedText, len(x.Text))
	x.edges = make([]PlacedText, len(x.Marks))
	x.Owners = make([]owner, len(x.Marks))
	cursor := textmerge.NewCursor(raw)
	next := 0
	for k, m := range x.Marks {
		next = x.place(&cursor, next, m.Start)
		x.edges[k].From = cursor.PosAt(m.Start)
		first := next
		next = x.place(&cursor, next, m.End)
		x.edges[k].To = cursor.PosAt(m.End)
		if !l.silent() {
			x.Owners[k] = x.ownerOf(k, first, next)
		}
	}
	x.place(&cursor, next, len(raw))
	return x
}

// place finds the places of the texts from the one at next on that end before an offset,
// and returns the first one that does not.
func (x *Layout) place(cursor *textmerge.Cursor, next, end int) int {
	for ; next < len(x.Text) && x.Text[next].End <= end; next++ {
		x.Places[next].From = cursor.PosAt(x.Text[next].Start)
		x.Places[next].To = cursor.PosAt(x.Text[next].End)
	}
	return next
}

// MarkEdge is the length of a mark's delimiters.
const MarkEdge = len("{++")

// role is what the ledger knows of text in one of its two roles.
func (l *Ledger) role(c diffwrap.Content) Ranges[*model.MadeMark] {
	if c.Deleted {
		return l.dels
	}
	return l.adds
}

// ownerOf finds whose mark k is, whose contents are those from first to last.
func (x *Layout) ownerOf(k, first, last int) (o owner) {
	turns, author := 0, "" // how often another one follows, and the last of them
	by := func(name string) {
		if turns == 0 || name != author {
			turns++
			author = name
		}
	}
	for i := first; i < last; i++ {
		x.Each(x.Places[i].From, x.Places[i].To, func(_ int, r model.IDRun) {
			x.role(x.Text[i]).Each(r, func(part model.IDRun, m *model.MadeMark, ok bool) {
				if ok {
					if o.Mark == nil {
						o.Mark = m
					}
					by(m.Author)
				} else if x.Text[i].Added {
					x.wrote.Each(part, func(_ model.IDRun, s *stroke, ok bool) {
						if ok && s.agent {
							by(s.author)
						} else {
							by("")
						}
					})
				}
			})
		})
	}
	theirs := 0 // of delimiters: a saved file may keep one, or a brace, of another mark
	edge := func(from, to int) {
		x.Each(from, to, func(_ int, r model.IDRun) {
			x.wrote.Each(r, func(part model.IDRun, s *stroke, ok bool) {
				if !ok {
					s = &stroke{}
				}
				if s.MakesMarks() {
					theirs += int(part.Len)
				}
				if o.Mark == nil {
					by(s.author)
				}
			})
		})
	}
	edge(x.edges[k].From, x.edges[k].From+MarkEdge)
	edge(x.edges[k].To-MarkEdge, x.edges[k].To)
	o.agents = theirs == 2*MarkEdge
	if o.Mark != nil {
		o.agents = o.Mark.Author != ""
	} else {
		o.stroke = x.strokeIn(x.edges[k].From, x.edges[k].To, o.agents)
	}
	if turns == 1 {
		o.whole = author
	}
	return o
}

func (x *Layout) isEmpty(k int) bool { return x.Marks[k].Deleted.Empty() && x.Marks[k].Added.Empty() }

// typed finds what people typed inside of agents' marks, and says of marks without
// text whether agents made them.
func (x *Layout) typed() (typed []diffwrap.Span, empty map[int]bool) {
	cursor := textmerge.NewCursor(x.Raw)
	empty = make(map[int]bool)
	for k := range x.Marks {
		if x.isEmpty(k) && x.Owners[k].agents {
			empty[x.Marks[k].Start] = true
		}
	}
	for i, c := range x.Text {
		if c.Mark < 0 || !x.Owners[c.Mark].agents {
			continue
		}
		x.Each(x.Places[i].From, x.Places[i].To, func(pos int, r model.IDRun) {
			x.role(c).Each(r, func(part model.IDRun, _ *model.MadeMark, ok bool) {
				if ok {
					return
				}
				x.wrote.Each(part, func(part model.IDRun, s *stroke, ok bool) {
					if ok && s.agent && x.Owners[c.Mark].Mark == nil {
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

// Waiting are the suggestions as they stand, by place.
func (x *Layout) Waiting() (list []model.MadeMark) {
	made := make(map[*model.MadeMark]int)
	put := func(m *model.MadeMark, at model.IDRun, added bool) {
		if _, ok := made[m]; !ok {
			made[m] = len(list)
			list = append(list, model.MadeMark{
				ID: m.ID, Author: m.Author, Session: m.Session, Time: m.Time, Proposal: m.Proposal, Comment: m.Comment, Older: m.Older,
			})
		}
		list[made[m]].Put(at, added)
	}
	for i, c := range x.Text {
		if c.Mark < 0 {
			continue
		}
		x.Each(x.Places[i].From, x.Places[i].To, func(pos int, r model.IDRun) {
			x.role(c).Each(r, func(part model.IDRun, m *model.MadeMark, ok bool) {
				if from := pos + int(part.Clock-r.Clock); ok {
					put(m, model.PlaceRun(from, from+int(part.Len)), c.Added)
				}
			})
		})
	}
	cursor := textmerge.NewCursor(x.Raw)
	for _, c := range x.Known.Comments(x.Raw) {
		from := cursor.PosAt(c.Start)
		to := cursor.PosAt(c.End)
		if m := x.commentAt(from, to); m != nil {
			put(m, model.PlaceRun(from, to), true)
		}
	}
	return list
}

// MarksIn says whether raw may have suggestions, comments, or what is left of them.
func MarksIn(raw string) bool {
	return slices.ContainsFunc([]string{"{++", "{--", "{~~", "{>>", "<<}}", "++}", "--}", "~~}"}, func(d string) bool { return strings.Contains(raw, d) })
}

// Separated are the edits that take out of agents' marks what people typed there, and delimiters of agents that mark nothing.
func (l *Ledger) Separated(raw string, known diffwrap.Known, u Units) []diffwrap.Edit {
	if l.silent() || !MarksIn(raw) {
		return nil
	}
	var torn []diffwrap.Edit
	for _, s := range l.Torn(raw, u.Runs) {
		torn = append(torn, diffwrap.Edit{Off: s.Start, Len: s.Len()})
	}
	whole, known := diffwrap.Apply(raw, torn), known.Through(raw, torn)
	typed, empty := l.LayOut(whole, known, u.Through(raw, torn)).typed()
	if len(typed) == 0 && len(empty) == 0 {
		return torn
	}
	return diffwrap.Compose(len(raw), torn, known.Separate(whole, typed, func(start, _ int) bool { return empty[start] }))
}

// Pending are the parts of a run that suggestions are about.
func (l *Ledger) Pending(r model.IDRun) (list []model.IDRun) {
	for _, of := range []Ranges[*model.MadeMark]{l.adds, l.dels} {
		of.Each(r, func(part model.IDRun, _ *model.MadeMark, ok bool) {
			if ok {
				list = append(list, part)
			}
		})
	}
	return list
}

// Delimits says whether all of a delimiter was written by agents, or is torn.
func (l *Ledger) Delimits(r model.IDRun) bool {
	all := true
	l.wrote.Each(r, func(part model.IDRun, s *stroke, ok bool) {
		_, n, torn := l.torn.At(part)
		all = all && (ok && s.MakesMarks() || torn && n == part.Len)
	})
	return all
}

// Torn are the delimiters of agents in a text that mark nothing.
func (l *Ledger) Torn(raw string, runs []ycrdt.Run) (list []diffwrap.Span) {
	if len(l.torn) == 0 {
		return nil
	}
	cursor := textmerge.NewCursor(raw)
	pos := 0
	for _, run := range runs {
		r := model.RunOf(run)
		l.torn.Each(r, func(part model.IDRun, _ bool, torn bool) {
			if torn {
				from := pos + int(part.Clock-r.Clock)
				off := cursor.OffAt(from)
				list = append(list, diffwrap.Span{Start: off, End: cursor.OffAt(from + int(part.Len))})
			}
		})
		pos += run.Len
	}
	return list
}

// MarkAt is the mark that starts at an offset, nil if none does.
func (x *Layout) MarkAt(start int) (k int, ok bool) {
	return slices.BinarySearchFunc(x.Marks, start, func(m diffwrap.Mark, at int) int { return m.Start - at })
}

// What an undo brings back has new identities in the document. It is the text that it was
// all the same: who read it before it went has read it.

// origin tells of later identities which the first ones are, and since which record.
type origin struct{ client, shift, since uint64 }

// addReturned notes what a person's save brought back: all that is known of it holds of the new
// identities, too.
func (l *Ledger) addReturned(rec *model.Record) {
	l.addRevived(rec.Returned, rec.Seq)
	for _, r := range rec.Returned {
		l.wrote.copy(r, nil)
		l.adds.copy(r, nil)
		l.dels.copy(r, nil)
		l.rejected.copy(r, nil)
		l.torn.copy(r, nil)
		l.marks.copy(r, nil)
	}
}

// addRevived notes which identities a record has given to text that had others.
func (l *Ledger) addRevived(revived []model.Revival, since uint64) {
	for _, r := range revived {
		done := uint64(0)
		for _, first := range l.Firsts(r.Old) {
			l.alias.Set(r.New.Part(done, first.Len), origin{first.Client, first.Clock - (r.New.Clock + done), since})
			done += first.Len
		}
	}
}

// addComments notes which comments of agents an undo has brought back: they wait again, or go
// with their suggestions.
func (l *Ledger) addComments(revived []model.Revival) {
	for _, r := range revived {
		l.adds.copy(r, func(m *model.MadeMark) bool { return m.Comment })
	}
}

// HasRevived says whether an undo has brought text back.
func (l *Ledger) HasRevived() bool { return len(l.alias) > 0 }

// EachFirst calls f for the parts of r, with the first identities that the characters had
// and the number of the record that gave them those of r, 0 for none.
func (l *Ledger) EachFirst(r model.IDRun, f func(part, first model.IDRun, since uint64)) {
	l.alias.Each(r, func(part model.IDRun, from origin, ok bool) {
		first := part
		if ok {
			first.Client, first.Clock = from.client, part.Clock+from.shift
		}
		f(part, first, from.since)
	})
}

// Firsts are the first identities that the characters had.
func (l *Ledger) Firsts(r model.IDRun) (list []model.IDRun) {
	l.EachFirst(r, func(_, first model.IDRun, _ uint64) { list = append(list, first) })
	return list
}

// FirstRuns are the first identities of a text.
func (l *Ledger) FirstRuns(runs []ycrdt.Run) []ycrdt.Run {
	if len(l.alias) == 0 {
		return runs
	}
	out := make([]ycrdt.Run, 0, len(runs))
	for _, run := range runs {
		for _, r := range l.Firsts(model.RunOf(run)) {
			out = append(out, r.Run())
		}
	}
	return out
}

// Size is about how many ranges of identities it knows something of. Those of marks take an eighth of the others.
func (l *Ledger) Size() int {
	if l == nil {
		return 0
	}
	return l.wrote.size() + l.marks.size()/8 + l.adds.size() + l.dels.size() + l.rejected.size()
}
