package attribution

import (
	"iter"
	"slices"
	"strings"
	"sync"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/diffwrap"
)

// Known finds the marks of a text that the records confirm: every character of their opener was written as markup. It
// also finds the openers that the records confirm as text or as broken.
func Known(u *Units) diffwrap.Known {
	if u.facts == nil {
		return diffwrap.Known{}
	}
	openers := diffwrap.MayBeMarks(u.Raw)
	known, literal := openers[:0], []int(nil)
	for _, at := range openers {
		syntax, text := 0, 0
		first, second := diffwrap.OpenerAt(u.Raw, at)
		for _, part := range []diffwrap.Span{first, second} {
			for p := range u.In(part) {
				switch {
				case p.Syntax && !p.Broken:
					syntax += p.Len()
				case p.Literal, p.Broken:
					text += p.Len()
				}
			}
		}
		switch MarkEdge {
		case syntax:
			known = append(known, at)
		case text:
			literal = append(literal, at)
		}
	}
	return diffwrap.KnownAt(known).Except(literal...)
}

const MarkEdge = len("{++")

func opener(at int) diffwrap.Span { return diffwrap.Span{Start: at, End: at + MarkEdge} }

// AddedAfter reports whether agents wrote all text of s, and none of it in the change that wrote the character before s.
func (x *Layout) AddedAfter(s diffwrap.Span) bool {
	var before *Writer
	for p := range x.In(diffwrap.Span{Start: s.Start - 1, End: s.Start}) {
		before = p.By
	}
	for p := range x.In(s) {
		if p.By == nil || !p.By.agent || p.By == before {
			return false
		}
	}
	return len(x.Runs) > 0
}

type markOwner struct {
	Suggestion *Suggestion // nil if no record has it
	ByAgent    bool        // an agent wrote the mark
}

func (o *markOwner) Author() string {
	if o.Suggestion == nil {
		return ""
	}
	return o.Suggestion.author
}

// Layout is a raw text with its marks and their attribution.
type Layout struct {
	*Table
	*Units
	Known      diffwrap.Known // marks of Raw
	Marks      []diffwrap.Mark
	Text       []diffwrap.Content
	Syntax     []diffwrap.Span // ranges that belong neither to marks nor to text
	MarkOwners []markOwner     // owner of each mark, by index of Marks
}

// LayOut finds the marks of a text and their owners. known are the recorded marks of the text.
func (t *Table) LayOut(known diffwrap.Known, u *Units) *Layout {
	x := &Layout{Table: t, Units: u, Known: known.Read(u.Raw)}
	x.Marks, x.Text, x.Syntax = x.Known.Layout(x.Raw)
	x.MarkOwners = make([]markOwner, len(x.Marks))
	if !t.hasNoAgentText() {
		for k := range x.Marks {
			x.MarkOwners[k] = x.ownerOf(k)
		}
	}
	return x
}

// TextOf returns the texts of mark k.
func (x *Layout) TextOf(k int) iter.Seq[diffwrap.Content] {
	return func(yield func(diffwrap.Content) bool) {
		m := &x.Marks[k]
		if m.Deleted.Empty() || yield(diffwrap.Content{Span: m.Deleted, Mark: k, Deleted: true}) {
			_ = m.Added.Empty() || yield(diffwrap.Content{Span: m.Added, Mark: k, Added: true})
		}
	}
}

// ownerOf attributes mark k. A mark whose delimiters a user typed belongs to the user, even if an agent's suggestion for
// its text is pending, too.
func (x *Layout) ownerOf(k int) markOwner {
	open, close := x.edges(k)
	opens := x.agentUnits(open)
	marked := opens > 0 || x.agentUnits(close) > 0
	for c := range x.TextOf(k) {
		for p := range x.In(c.Span) {
			if s := p.Pending(c.Deleted); s != nil && (s.author == "" || marked) {
				return markOwner{Suggestion: s, ByAgent: s.author != ""}
			}
		}
	}
	return markOwner{ByAgent: opens == MarkEdge && x.agentUnits(close) == MarkEdge}
}

func (x *Layout) edges(k int) (open, close diffwrap.Span) {
	return opener(x.Marks[k].Start), opener(x.Marks[k].End - MarkEdge)
}

// agentUnits returns the length of the text in s that agents wrote. A saved file may keep one delimiter, or one brace,
// of another mark.
func (x *Layout) agentUnits(s diffwrap.Span) (n int) {
	for p := range x.In(s) {
		if p.By != nil {
			n += p.Len()
		}
	}
	return n
}

// soleAuthor returns the author of all text of mark k that can be proposed, or "" if there are several or none.
func (x *Layout) soleAuthor(k int) string {
	author := x.MarkOwners[k].Author()
	open, close := x.edges(k)
	marked := x.agentUnits(open)+x.agentUnits(close) > 0
	for c := range x.TextOf(k) {
		for p := range x.In(c.Span) {
			s := p.Pending(c.Deleted)
			waits := s != nil && (marked || s.author == "")
			if waits && s.author != author || !waits && c.Added {
				return ""
			}
		}
	}
	return author
}

// separateUserText returns edits that split agents' marks around text that users typed in them, so that this text
// becomes plain. It also returns edits that remove marks without text. It does not change substitutions.
func (x *Layout) separateUserText() (edits []diffwrap.Edit) {
	for k, m := range x.Marks {
		if !x.MarkOwners[k].ByAgent || strings.HasPrefix(x.Raw[m.Start:], "{~~") {
			continue
		}
		if m.Deleted.Empty() && m.Added.Empty() {
			edits = append(edits, diffwrap.Edit{Off: m.Start, Len: m.Len()})
			continue
		}
		c, deleted, inside := m.Deleted, true, true
		if c.Empty() {
			c, deleted = m.Added, false
		}
		open, close := x.Raw[m.Start:c.Start], x.Raw[c.End:m.End]
		for p := range x.In(c) {
			waits := p.Pending(deleted) != nil
			switch {
			case waits == inside:
			case p.Start == c.Start:
				edits = append(edits, diffwrap.Edit{Off: m.Start, Len: len(open)})
			case waits:
				edits = append(edits, diffwrap.Edit{Off: p.Start, New: open})
			default:
				edits = append(edits, diffwrap.Edit{Off: p.Start, New: close})
			}
			inside = waits
		}
		if !inside {
			edits = append(edits, diffwrap.Edit{Off: c.End, Len: len(close)})
		}
	}
	return edits
}

// Waiting returns the suggestions that are pending in the text. Their ranges are offsets (model.OffsetRange).
func (u *Units) Waiting() []model.MarkRecord {
	return u.waiting(func(*Suggestion) bool { return true }, func(p Piece) model.IDRange { return model.OffsetRange(p.Span) })
}

// Unmarked returns the pending suggestions whose marks no record has drawn.
func (t *Table) Unmarked(u *Units) []model.MarkRecord {
	return u.waiting(t.unmarkedIn(u), func(p Piece) model.IDRange { return p.ID })
}

// unmarkedIn returns a function that reports whether no record has drawn all marks of a pending suggestion: another mount's
// acceptance has deleted delimiters, or two mounts wrote the suggestion at the same time. In the second case, the text has
// characters of the suggestion that its last record does not have.
func (t *Table) unmarkedIn(u *Units) func(*Suggestion) bool {
	concurrent := sync.OnceValue(func() map[*Suggestion]bool {
		list, written := make(map[*Suggestion]bool), make(map[*Suggestion]model.Ranges[bool])
		var add func(*Suggestion)
		add = func(s *Suggestion) {
			if !list[s] {
				list[s] = true
				for _, next := range s.next {
					add(next)
				}
			}
		}
		for p := range u.all() {
			for _, s := range []*Suggestion{p.Pending(false), p.Pending(true)} {
				if s == nil || list[s] {
					continue
				}
				if written[s] == nil {
					written[s] = t.writtenOf(s)
				}
				for _, original := range t.OriginalIDs(p.ID) {
					written[s].Each(original, func(_ model.IDRange, _, ok bool) {
						if !ok {
							add(s)
						}
					})
				}
			}
		}
		return list
	})
	return func(s *Suggestion) bool { return s.unmarked || concurrent()[s] }
}

// writtenOf returns the characters of s that its last record has. A record that replaced s has none of them.
func (t *Table) writtenOf(s *Suggestion) model.Ranges[bool] {
	written := make(model.Ranges[bool])
	if s.replaced > 0 {
		return written
	}
	for _, r := range slices.Concat(s.add, s.del) {
		for _, original := range t.OriginalIDs(r) {
			written.Set(original, true)
		}
	}
	return written
}

func (u *Units) waiting(chosen func(*Suggestion) bool, at func(Piece) model.IDRange) (list []model.MarkRecord) {
	made := make(map[*Suggestion]int)
	for p := range u.all() {
		for _, deleted := range []bool{false, true} {
			s := p.Pending(deleted)
			if s == nil || !chosen(s) {
				continue
			}
			if _, ok := made[s]; !ok {
				made[s] = len(list)
				list = append(list, s.mark())
			}
			list[made[s]].AddRange(at(p), !deleted)
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
func (t *Table) CanonicalEdits(known diffwrap.Known, u *Units) ([]diffwrap.Edit, *Layout) {
	if t.hasNoAgentText() || !t.hasBroken && !MarksIn(u.Raw) {
		return nil, t.LayOut(known, u)
	}
	var torn []diffwrap.Edit
	for _, s := range t.BrokenDelimiters(u) {
		torn = append(torn, diffwrap.Edit{Off: s.Start, Len: s.Len()})
	}
	x := t.LayOut(known.AfterEdits(u.Raw, torn), u.AfterEdits(torn))
	apart := x.separateUserText()
	if len(apart) == 0 {
		return torn, x
	}
	edits := diffwrap.Compose(len(u.Raw), torn, apart)
	marked := u.AfterEdits(edits)
	return edits, t.LayOut(Known(marked), marked)
}

// Delimits reports whether agents wrote every character of the delimiter at s. Characters of broken delimiters count as
// written by agents.
func (u *Units) Delimits(s diffwrap.Span) bool {
	for p := range u.In(s) {
		if p.By == nil && !p.Broken {
			return false
		}
	}
	return true
}

// BrokenDelimiters returns the agents' delimiters that mark nothing.
func (t *Table) BrokenDelimiters(u *Units) (list []diffwrap.Span) {
	if !t.hasBroken {
		return nil
	}
	for p := range u.all() {
		if p.Broken {
			list = append(list, p.Span)
		}
	}
	return list
}

func (x *Layout) MarkAt(start int) (k int, ok bool) {
	return slices.BinarySearchFunc(x.Marks, start, func(m diffwrap.Mark, at int) int { return m.Start - at })
}
