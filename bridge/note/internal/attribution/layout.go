package attribution

import (
	"slices"
	"strings"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/textmerge"
	"github.com/relayfs/relayfs/bridge/ycrdt"
	"github.com/relayfs/relayfs/diffwrap"
)

// Known finds the marks of raw, whose identities are u, that records confirm: every character of their opener was
// written as markup.
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

// AddedBehind reports whether agents added the text from from to to after the text before it, in other changes than
// that text.
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

// writerIn returns the writer of the newest change, by an agent or not, that wrote some of the text between two
// positions; nil if none is known.
func (x *Layout) writerIn(from, to int, agents bool) (newest *Writer) {
	x.Facts(from, to, func(_ int, _ model.IDRun, is *Fact) {
		if w := is.By; w != nil && w.MakesMarks() == agents && (newest == nil || w.order > newest.order) {
			newest = w
		}
	})
	return newest
}

type owner struct {
	Is     *Suggestion // nil if no record has it
	by     *Writer     // last writer in the mark, if there is no suggestion
	whole  string      // author of all its text that can be proposed; "" if several or unknown
	agents bool        // an agent made it
}

func (o *owner) IsAgents() bool { return o.agents }

func (o *owner) Author() string {
	switch {
	case o.Is != nil:
		return o.Is.author
	case o.by != nil:
		return o.by.author
	}
	return ""
}

// Layout is a raw text with its marks and their attribution.
type Layout struct {
	*Table
	Units
	Raw       string
	Known     diffwrap.Known // marks of Raw
	Marks     []diffwrap.Mark
	Text      []diffwrap.Content
	Furniture []diffwrap.Span // neither marks nor text
	Owners    []owner         // by mark
	Places    []PlacedText    // by text, in UTF-16 units
	edges     []PlacedText    // by mark, in UTF-16 units
}

type PlacedText struct{ From, To int }

// LayOut parses raw, whose identities are u, and whose known marks are known.
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

// place computes the places of the texts from index next on that end at or before offset end. It returns the index of
// the first text after them.
func (x *Layout) place(cursor *textmerge.Cursor, next, end int) int {
	for ; next < len(x.Text) && x.Text[next].End <= end; next++ {
		x.Places[next].From = cursor.PosAt(x.Text[next].Start)
		x.Places[next].To = cursor.PosAt(x.Text[next].End)
	}
	return next
}

const MarkEdge = len("{++")

// ownerOf attributes mark k, whose contents have the indexes first to last.
func (x *Layout) ownerOf(k, first, last int) (o owner) {
	turns, author := 0, "" // turns counts the changes of author; author is the last one
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
	theirs := 0 // delimiter units by agents: a saved file may keep one delimiter, or a brace, of another mark
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

// apart returns the edits that split agents' marks around text that users typed in them, so that this text is plain,
// and that remove marks without text.
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

// Waiting returns the pending suggestions, by place.
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

// MarksIn reports whether raw may have suggestions, comments, or remains of them.
func MarksIn(raw string) bool {
	return slices.ContainsFunc([]string{"{++", "{--", "{~~", "{>>", "<<}}", "++}", "--}", "~~}"}, func(d string) bool { return strings.Contains(raw, d) })
}

// Separated returns the edits that move users' text out of agents' marks and remove agents' torn delimiters. It also
// returns the layout of the resulting text.
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

// Waiting returns the parts of a run with a pending suggestion.
func (t *Table) Waiting(r model.IDRun) (list []model.IDRun) {
	t.Each(r, func(part model.IDRun, is *Fact) {
		if is.Pending(false) != nil || is.Pending(true) != nil {
			list = append(list, part)
		}
	})
	return list
}

// Delimits reports whether agents wrote all of the delimiter r, or it is torn.
func (t *Table) Delimits(r model.IDRun) bool {
	all := true
	t.Each(r, func(_ model.IDRun, is *Fact) { all = all && (is.By.MakesMarks() || is.Torn) })
	return all
}

// Torn returns the torn delimiters of agents in a text: those that mark nothing.
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

func (x *Layout) MarkAt(start int) (k int, ok bool) {
	return slices.BinarySearchFunc(x.Marks, start, func(m diffwrap.Mark, at int) int { return m.Start - at })
}
