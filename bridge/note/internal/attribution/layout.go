package attribution

import (
	"slices"
	"strings"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/textmerge"
	"github.com/relayfs/relayfs/bridge/ycrdt"
	"github.com/relayfs/relayfs/diffwrap"
)

// Known finds the marks of raw that the records confirm: every character of their opener was written as markup. It also
// finds the openers that the records confirm as text. u has the identities of raw.
func Known(raw string, u Units) diffwrap.Known {
	if u.facts == nil {
		return diffwrap.Known{}
	}
	var known, literal []int
	cursor := textmerge.NewCursor(raw)
	for _, at := range diffwrap.MayBeMarks(raw) {
		from, units, text := cursor.PosAt(at), 0, 0
		u.Facts(from, from+MarkEdge, func(_ int, r model.IDRange, fact *Fact) {
			switch {
			case fact.Syntax:
				units += int(r.Len)
			case fact.Literal:
				text += int(r.Len)
			}
		})
		switch MarkEdge {
		case units:
			known = append(known, at)
		case text:
			literal = append(literal, at)
		}
	}
	return diffwrap.KnownAt(known).Except(literal...)
}

// AddedAfter reports whether agents wrote all text in [from, to), and none of it in the change that wrote the character
// before the range.
func (x *Layout) AddedAfter(from, to int) bool {
	writerAt := func(pos int) (w *Writer) {
		x.Facts(pos, pos+1, func(_ int, _ model.IDRange, fact *Fact) { w = fact.By })
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

// writerIn returns the writer of the newest change that wrote text between two positions, or nil.
func (x *Layout) writerIn(from, to int) (newest *Writer) {
	x.Facts(from, to, func(_ int, _ model.IDRange, fact *Fact) {
		if w := fact.By; w != nil && (newest == nil || w.order > newest.order) {
			newest = w
		}
	})
	return newest
}

type markOwner struct {
	Suggestion *Suggestion // nil if no record has it
	lastWriter *Writer     // last writer in the mark, if there is no suggestion
	soleAuthor string      // author of all text of the mark that can be proposed; "" if several or unknown
	ByAgent    bool        // an agent wrote the mark
}

func (o *markOwner) Author() string {
	switch {
	case o.Suggestion != nil:
		return o.Suggestion.author
	case o.lastWriter != nil:
		return o.lastWriter.author
	}
	return ""
}

// Layout is a raw text with its marks and their attribution.
type Layout struct {
	*Table
	Units
	Raw         string
	Known       diffwrap.Known // marks of Raw
	Marks       []diffwrap.Mark
	Text        []diffwrap.Content
	Syntax      []diffwrap.Span // ranges that belong neither to marks nor to text
	MarkOwners  []markOwner     // owner of each mark, by index of Marks
	TextOffsets []OffsetSpan    // range of each text in UTF-16 units, by index of Text
	markOffsets []OffsetSpan    // range of each mark in UTF-16 units, by index of Marks
}

type OffsetSpan struct{ From, To int }

// LayOut finds the marks of raw, their owners, and their offsets. known are the recorded marks of raw, and u has the
// CRDT IDs of its units.
func (t *Table) LayOut(raw string, known diffwrap.Known, u Units) *Layout {
	x := &Layout{Table: t, Units: u, Raw: raw, Known: known.Read(raw)}
	x.Marks, x.Text, x.Syntax = x.Known.Layout(raw)
	x.TextOffsets = make([]OffsetSpan, len(x.Text))
	x.markOffsets = make([]OffsetSpan, len(x.Marks))
	x.MarkOwners = make([]markOwner, len(x.Marks))
	cursor := textmerge.NewCursor(raw)
	next := 0
	for k := range x.Marks {
		m := &x.Marks[k]
		next = x.place(&cursor, next, m.Start)
		x.markOffsets[k].From = cursor.PosAt(m.Start)
		first := next
		next = x.place(&cursor, next, m.End)
		x.markOffsets[k].To = cursor.PosAt(m.End)
		if !t.hasNoAgentText() {
			x.MarkOwners[k] = x.ownerOf(k, first, next)
		}
	}
	x.place(&cursor, next, len(raw))
	return x
}

// place computes the UTF-16 offsets of the texts that end at or before the byte offset end, beginning with index next.
// It returns the index of the first text after them.
func (x *Layout) place(cursor *textmerge.Cursor, next, end int) int {
	for ; next < len(x.Text) && x.Text[next].End <= end; next++ {
		x.TextOffsets[next].From = cursor.PosAt(x.Text[next].Start)
		x.TextOffsets[next].To = cursor.PosAt(x.Text[next].End)
	}
	return next
}

const MarkEdge = len("{++")

// ownerOf attributes mark k, whose texts have the indexes [first, last). A mark whose delimiters a user typed belongs to
// the user, even if an agent's suggestion for its text is pending, too.
func (x *Layout) ownerOf(k, first, last int) (o markOwner) {
	turns, author := 0, "" // turns counts the changes of author in document order; author is the last author
	by := func(name string) {
		if turns == 0 || name != author {
			turns++
			author = name
		}
	}
	at, agentUnits := x.markOffsets[k], 0 // a saved file may keep one delimiter, or one brace, of another mark
	edges := func(f func(model.IDRange, *Fact)) {
		each := func(_ int, r model.IDRange, fact *Fact) { f(r, fact) }
		x.Facts(at.From, at.From+MarkEdge, each)
		x.Facts(at.To-MarkEdge, at.To, each)
	}
	edges(func(r model.IDRange, fact *Fact) {
		if fact.By != nil {
			agentUnits += int(r.Len)
		}
	})
	for i := first; i < last; i++ {
		x.Facts(x.TextOffsets[i].From, x.TextOffsets[i].To, func(_ int, _ model.IDRange, fact *Fact) {
			if s := fact.Pending(x.Text[i].Deleted); s != nil && (agentUnits > 0 || s.author == "") {
				if o.Suggestion == nil {
					o.Suggestion = s
				}
				by(s.author)
			} else if x.Text[i].Added && fact.By != nil && fact.By.agent {
				by(fact.By.author)
			} else if x.Text[i].Added {
				by("")
			}
		})
	}
	o.ByAgent = agentUnits == 2*MarkEdge
	if o.Suggestion != nil {
		o.ByAgent = o.Suggestion.author != ""
	} else {
		if o.ByAgent {
			o.lastWriter = x.writerIn(at.From, at.To)
		}
		edges(func(_ model.IDRange, fact *Fact) {
			if fact.By != nil {
				by(fact.By.author)
			} else {
				by("")
			}
		})
	}
	if turns == 1 {
		o.soleAuthor = author
	}
	return o
}

// separateUserText returns edits that split agents' marks around text that users typed in them, so that this text
// becomes plain. It also returns edits that remove marks without text. It does not change substitutions.
func (x *Layout) separateUserText() (edits []diffwrap.Edit) {
	cursor, i := textmerge.NewCursor(x.Raw), 0
	for k := range x.Marks {
		m := &x.Marks[k]
		for i < len(x.Text) && x.Text[i].End <= m.Start {
			i++
		}
		if !x.MarkOwners[k].ByAgent || strings.HasPrefix(x.Raw[m.Start:], "{~~") {
			continue
		}
		if m.Deleted.Empty() && m.Added.Empty() {
			edits = append(edits, diffwrap.Edit{Off: m.Start, Len: m.Len()})
			continue
		}
		c, inside := x.Text[i], true
		open, close := x.Raw[m.Start:c.Start], x.Raw[c.End:m.End]
		x.Facts(x.TextOffsets[i].From, x.TextOffsets[i].To, func(pos int, _ model.IDRange, fact *Fact) {
			waits := fact.Pending(c.Deleted) != nil || fact.By != nil && fact.By.agent && x.MarkOwners[k].Suggestion == nil
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

// Waiting returns the pending suggestions of the text and then the agents' pending comments, each in document order.
// Their ranges are offsets (model.OffsetRange).
func (x *Layout) Waiting() (list []model.MarkRecord) {
	made := make(map[*Suggestion]int)
	put := func(s *Suggestion, at model.IDRange, added bool) {
		if _, ok := made[s]; !ok {
			made[s] = len(list)
			list = append(list, s.mark())
		}
		list[made[s]].AddRange(at, added)
	}
	for i, c := range x.Text {
		if c.Mark < 0 {
			continue
		}
		x.Facts(x.TextOffsets[i].From, x.TextOffsets[i].To, func(pos int, r model.IDRange, fact *Fact) {
			if s := fact.Pending(c.Deleted); s != nil {
				put(s, model.OffsetRange(pos, pos+int(r.Len)), c.Added)
			}
		})
	}
	cursor := textmerge.NewCursor(x.Raw)
	for _, c := range x.Known.Comments(x.Raw) {
		from := cursor.PosAt(c.Start)
		to := cursor.PosAt(c.End)
		if s := x.commentAt(from, to); s != nil {
			put(s, model.OffsetRange(from, to), true)
		}
	}
	return list
}

// MarksIn reports whether raw may contain marks or remains of marks.
func MarksIn(raw string) bool {
	return slices.ContainsFunc([]string{"{++", "{--", "{~~", "{==", "{>>", "<<}}", "++}", "--}", "~~}"}, func(d string) bool { return strings.Contains(raw, d) })
}

// CanonicalEdits returns the edits that move users' text out of agents' marks and remove agents' broken delimiters. It
// also returns the layout of the resulting text.
func (t *Table) CanonicalEdits(raw string, known diffwrap.Known, u Units) ([]diffwrap.Edit, *Layout) {
	if t.hasNoAgentText() || !MarksIn(raw) {
		return nil, t.LayOut(raw, known, u)
	}
	var torn []diffwrap.Edit
	for _, s := range t.BrokenDelimiters(raw, u.Runs) {
		torn = append(torn, diffwrap.Edit{Off: s.Start, Len: s.Len()})
	}
	whole, inWhole := diffwrap.Apply(raw, torn), known.AfterEdits(raw, torn)
	x := t.LayOut(whole, inWhole, u.AfterEdits(raw, torn))
	apart := x.separateUserText()
	if len(apart) == 0 {
		return torn, x
	}
	edits := diffwrap.Compose(len(raw), torn, apart)
	marked := diffwrap.Apply(raw, edits)
	in := u.AfterEdits(raw, edits)
	return edits, t.LayOut(marked, Known(marked, in), in)
}

// Waiting returns the parts of a run with a pending suggestion.
func (t *Table) Waiting(r model.IDRange) (list []model.IDRange) {
	t.Each(r, func(part model.IDRange, fact *Fact) {
		if fact.Pending(false) != nil || fact.Pending(true) != nil {
			list = append(list, part)
		}
	})
	return list
}

// Delimits reports whether agents wrote every character of the delimiter r. Characters of broken delimiters count as
// written by agents.
func (t *Table) Delimits(r model.IDRange) bool {
	all := true
	t.Each(r, func(_ model.IDRange, fact *Fact) { all = all && (fact.By != nil || fact.Broken) })
	return all
}

// BrokenDelimiters returns the agents' delimiters that mark nothing, and the text that was rejected late (see refuse).
func (t *Table) BrokenDelimiters(raw string, runs []ycrdt.Run) (list []diffwrap.Span) {
	if !t.hasBroken {
		return nil
	}
	cursor := textmerge.NewCursor(raw)
	pos := 0
	for _, run := range runs {
		t.Each(model.RangeOf(run), func(part model.IDRange, fact *Fact) {
			if fact.Broken {
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
