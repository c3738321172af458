package attribution

import (
	"slices"
	"strings"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/textmerge"
	"github.com/relayfs/relayfs/bridge/ycrdt"
	"github.com/relayfs/relayfs/diffwrap"
)

// Known finds the marks of raw, whose identities are u, that records tell of: all of the opener is of one.
func Known(raw string, u Units) diffwrap.Known {
	if u.facts == nil {
		return diffwrap.Known{}
	}
	var known []int
	cursor := textmerge.NewCursor(raw)
	for _, at := range diffwrap.MayBeMarks(raw) {
		from, units := cursor.PosAt(at), 0
		u.Facts(from, from+MarkEdge, func(_ int, r model.IDRun, is *Fact) {
			if is.Syntax {
				units += int(r.Len)
			}
		})
		if units == MarkEdge {
			known = append(known, at)
		}
	}
	return diffwrap.KnownAt(known)
}

// AddedBehind says whether an agent put the text from one position to another behind the text before it.
func (x *Layout) AddedBehind(from, to int) bool {
	writerAt := func(pos int) (w *Writer) {
		x.Facts(pos, pos+1, func(_ int, _ model.IDRun, is *Fact) { w = is.By })
		return w
	}
	before := writerAt(from - 1)
	for pos := from; pos < to; pos++ {
		if w := writerAt(pos); w == nil || !w.agent || w == before {
			return false
		}
	}
	return true
}

// writerIn is who made the newest change, of an agent or not, that wrote something of the text from one position to another, nil if
// none is known.
func (x *Layout) writerIn(from, to int, agents bool) (newest *Writer) {
	x.Facts(from, to, func(_ int, _ model.IDRun, is *Fact) {
		if w := is.By; w != nil && w.MakesMarks() == agents && (newest == nil || w.order > newest.order) {
			newest = w
		}
	})
	return newest
}

// owner is what is known of one mark of a text.
type owner struct {
	Is     *Suggestion // nil if no record tells of it
	by     *Writer     // who wrote in it last, if there is no suggestion
	whole  string      // the author of all of it that can be proposed; "" for several, or nobody known
	agents bool        // an agent made it
}

// IsAgents says whether an agent made the mark.
func (o *owner) IsAgents() bool { return o.agents }

// Author is whose the mark is.
func (o *owner) Author() string {
	switch {
	case o.Is != nil:
		return o.Is.author
	case o.by != nil:
		return o.by.author
	}
	return ""
}

// Layout is a raw text by its marks and what the table knows of them.
type Layout struct {
	*Table
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
func (t *Table) LayOut(raw string, known diffwrap.Known, u Units) *Layout {
	x := &Layout{Table: t, Units: u, Raw: raw, Known: known.Read(raw)}
	x.Marks, x.Text, x.Furniture = x.Known.Layout(raw)
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
		if !t.silent() {
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
		x.Facts(x.Places[i].From, x.Places[i].To, func(_ int, _ model.IDRun, is *Fact) {
			if s := is.Pending(x.Text[i].Deleted); s != nil {
				if o.Is == nil {
					o.Is = s
				}
				by(s.author)
			} else if x.Text[i].Added && is.By != nil && is.By.agent {
				by(is.By.author)
			} else if x.Text[i].Added {
				by("")
			}
		})
	}
	theirs := 0 // of delimiters: a saved file may keep one, or a brace, of another mark
	edge := func(from, to int) {
		x.Facts(from, to, func(_ int, r model.IDRun, is *Fact) {
			if is.By.MakesMarks() {
				theirs += int(r.Len)
			}
			if o.Is == nil && is.By != nil {
				by(is.By.author)
			} else if o.Is == nil {
				by("")
			}
		})
	}
	edge(x.edges[k].From, x.edges[k].From+MarkEdge)
	edge(x.edges[k].To-MarkEdge, x.edges[k].To)
	o.agents = theirs == 2*MarkEdge
	if o.Is != nil {
		o.agents = o.Is.author != ""
	} else {
		o.by = x.writerIn(x.edges[k].From, x.edges[k].To, o.agents)
	}
	if turns == 1 {
		o.whole = author
	}
	return o
}

// apart are the edits that take out of agents' marks what people typed there, so that it stands plain at its place, and marks without text.
func (x *Layout) apart() (edits []diffwrap.Edit) {
	cursor, i := textmerge.NewCursor(x.Raw), 0
	for k, m := range x.Marks {
		for i < len(x.Text) && x.Text[i].End <= m.Start {
			i++
		}
		if !x.Owners[k].agents || strings.HasPrefix(x.Raw[m.Start:], "{~~") {
			continue
		}
		if m.Deleted.Empty() && m.Added.Empty() {
			edits = append(edits, diffwrap.Edit{Off: m.Start, Len: m.Len()})
			continue
		}
		c, inside := x.Text[i], true
		open, close := x.Raw[m.Start:c.Start], x.Raw[c.End:m.End]
		x.Facts(x.Places[i].From, x.Places[i].To, func(pos int, _ model.IDRun, is *Fact) {
			waits := is.Pending(c.Deleted) != nil || is.By != nil && is.By.agent && x.Owners[k].Is == nil
			switch off := cursor.OffAt(pos); {
			case waits == inside:
			case off == c.Start:
				edits = append(edits, diffwrap.Edit{Off: m.Start, Len: len(open)})
			case waits:
				edits = append(edits, diffwrap.Edit{Off: off, New: open})
			default:
				edits = append(edits, diffwrap.Edit{Off: off, New: close})
			}
			inside = waits
		})
		if !inside {
			edits = append(edits, diffwrap.Edit{Off: c.End, Len: len(close)})
		}
	}
	return edits
}

// Waiting are the suggestions as they stand, by place.
func (x *Layout) Waiting() (list []model.MadeMark) {
	made := make(map[*Suggestion]int)
	put := func(s *Suggestion, at model.IDRun, added bool) {
		if _, ok := made[s]; !ok {
			made[s] = len(list)
			list = append(list, s.made())
		}
		list[made[s]].Put(at, added)
	}
	for i, c := range x.Text {
		if c.Mark < 0 {
			continue
		}
		x.Facts(x.Places[i].From, x.Places[i].To, func(pos int, r model.IDRun, is *Fact) {
			if s := is.Pending(c.Deleted); s != nil {
				put(s, model.PlaceRun(pos, pos+int(r.Len)), c.Added)
			}
		})
	}
	cursor := textmerge.NewCursor(x.Raw)
	for _, c := range x.Known.Comments(x.Raw) {
		from := cursor.PosAt(c.Start)
		to := cursor.PosAt(c.End)
		if s := x.commentAt(from, to); s != nil {
			put(s, model.PlaceRun(from, to), true)
		}
	}
	return list
}

// MarksIn says whether raw may have suggestions, comments, or what is left of them.
func MarksIn(raw string) bool {
	return slices.ContainsFunc([]string{"{++", "{--", "{~~", "{>>", "<<}}", "++}", "--}", "~~}"}, func(d string) bool { return strings.Contains(raw, d) })
}

// Separated are the edits that take out of agents' marks what people typed there, and delimiters of agents that mark nothing, and the
// layout of the text that they lead to.
func (t *Table) Separated(raw string, known diffwrap.Known, u Units) ([]diffwrap.Edit, *Layout) {
	if t.silent() || !MarksIn(raw) {
		return nil, t.LayOut(raw, known, u)
	}
	var torn []diffwrap.Edit
	for _, s := range t.Torn(raw, u.Runs) {
		torn = append(torn, diffwrap.Edit{Off: s.Start, Len: s.Len()})
	}
	whole, inWhole := diffwrap.Apply(raw, torn), known.Through(raw, torn)
	x := t.LayOut(whole, inWhole, u.Through(raw, torn))
	apart := x.apart()
	if len(apart) == 0 {
		return torn, x
	}
	edits := diffwrap.Compose(len(raw), torn, apart)
	marked := diffwrap.Apply(raw, edits)
	in := u.Through(raw, edits)
	return edits, t.LayOut(marked, Known(marked, in), in)
}

// Waiting are the parts of a run that suggestions are about.
func (t *Table) Waiting(r model.IDRun) (list []model.IDRun) {
	t.Each(r, func(part model.IDRun, is *Fact) {
		if is.Pending(false) != nil || is.Pending(true) != nil {
			list = append(list, part)
		}
	})
	return list
}

// Delimits says whether all of a delimiter was written by agents, or is torn.
func (t *Table) Delimits(r model.IDRun) bool {
	all := true
	t.Each(r, func(_ model.IDRun, is *Fact) { all = all && (is.By.MakesMarks() || is.Torn) })
	return all
}

// Torn are the delimiters of agents in a text that mark nothing.
func (t *Table) Torn(raw string, runs []ycrdt.Run) (list []diffwrap.Span) {
	if !t.torn {
		return nil
	}
	cursor := textmerge.NewCursor(raw)
	pos := 0
	for _, run := range runs {
		t.Each(model.RunOf(run), func(part model.IDRun, is *Fact) {
			if is.Torn {
				off := cursor.OffAt(pos)
				list = append(list, diffwrap.Span{Start: off, End: cursor.OffAt(pos + int(part.Len))})
			}
			pos += int(part.Len)
		})
	}
	return list
}

// MarkAt is the mark that starts at an offset, nil if none does.
func (x *Layout) MarkAt(start int) (k int, ok bool) {
	return slices.BinarySearchFunc(x.Marks, start, func(m diffwrap.Mark, at int) int { return m.Start - at })
}
