package attribution

import (
	"iter"
	"slices"
	"strings"
	"unicode"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/textmerge"
	"github.com/relayfs/relayfs/diffwrap"
)

// This file finds out which suggestions a write made.

// Made are the suggestions that a program's edits made of raw, or changed. u and v are
// the identities of raw and of what the edits led to, whose known marks are marksAfter.
func (l *Ledger) Made(raw string, u Units, edits []diffwrap.Edit, after string, marksAfter diffwrap.Known, v Units, by model.Author) (marks []model.MadeMark) {
	known := l.Known(raw, u)
	separated := l.Separated(raw, known, u)
	before := diffwrap.Apply(raw, separated)
	x := l.LayOut(before, known.With(raw, separated, before), u.Through(raw, separated))
	y := NewLedger(nil).LayOut(after, marksAfter, Units{})
	kept := keptMap{textmerge.Compose(textmerge.Flip(textmerge.Kept(len(raw), separated)), textmerge.Kept(len(raw), edits))}
	same := y.unchanged(x, kept)
	touched := x.touched(same)
	for k, was := range same {
		if was >= 0 && x.earlier(was, by) != nil && touched[x.Owners[was].Mark] > 0 {
			same[k] = -1 // the rest of what is amended
		}
	}
	writer := func(start, _ int) diffwrap.Writer {
		k, ok := y.MarkAt(start)
		if !ok || same[k] < 0 {
			return diffwrap.Writer{Author: by.Name}
		}
		if m := x.earlier(same[k], by); m != nil {
			return diffwrap.Writer{Suggestion: m.ID, Author: m.Author}
		}
		return diffwrap.Writer{Author: x.Owners[same[k]].Author()}
	}
	groups := marksAfter.SuggestionsBy(after, writer)
	comments := x.commentsBefore()
	older, joined := y.olderComments(x, same, groups, kept, v, comments, by.Name)
	contents := y.contentsOfMarks()
	var last *diffwrap.Suggestion // that this write made
	for g := range groups {
		var m model.MadeMark
		changed, was := false, (*model.MadeMark)(nil)
		for _, at := range groups[g].Stretches() {
			k, _ := y.MarkAt(at.Start)
			for ; k < len(y.Marks) && y.Marks[k].Start < at.End; k++ {
				changed = changed || same[k] < 0 && !y.isEmpty(k) // a person emptied that: programs write none
				if same[k] >= 0 {
					was = x.Owners[same[k]].Mark
				}
				for _, i := range contents[k] {
					for _, r := range v.Resolve(model.PlaceRun(y.Places[i].From, y.Places[i].To)) {
						m.Put(r, y.Text[i].Added)
					}
				}
			}
		}
		if !changed && was != nil && joined[groups[g].End] {
			m.ID, m.Author, m.Session, m.Proposal, m.Time = was.ID, was.Author, was.Session, was.Proposal, was.Time
			changed = true
		}
		if !changed {
			continue
		}
		m.Older = older[groups[g].End]
		if last != nil && m.ID == "" && last.End == groups[g].Start && (sharesWord(last.Old, groups[g].New) || sharesWord(groups[g].Old, last.New)) {
			n := len(marks) - 1
			marks[n].Add, marks[n].Del = append(marks[n].Add, m.Add...), append(marks[n].Del, m.Del...)
			marks[n].Older = append(marks[n].Older, m.Older...)
			groups[g].Old, groups[g].New = last.Old+groups[g].Old, last.New+groups[g].New
		} else {
			marks = append(marks, m)
		}
		if last = nil; m.ID == "" {
			last = &groups[g]
		}
	}
	return append(marks, l.madeComments(y, kept, v, comments)...)
}

// sharesWord says whether a word that is deleted is one of those that are added. Marks of one write that touch are
// one suggestion then: decided apart, they would lose the word that the writer kept, or double it.
func sharesWord(deleted, added string) bool {
	words := make(map[string]bool)
	for word := range wordsOf(deleted) {
		words[word] = true
	}
	for word := range wordsOf(added) {
		if words[word] {
			return true
		}
	}
	return false
}

func wordsOf(text string) iter.Seq[string] {
	return strings.FieldsFuncSeq(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) })
}

// contentsOfMarks are the indices of the texts in each mark.
func (x *Layout) contentsOfMarks() [][]int {
	list := make([][]int, len(x.Marks))
	for i, c := range x.Text {
		if c.Mark >= 0 {
			list[c.Mark] = append(list[c.Mark], i)
		}
	}
	return list
}

func (x *Layout) isEmpty(k int) bool { return x.Marks[k].Deleted.Empty() && x.Marks[k].Added.Empty() }

// keptMap finds where text went that stays.
type keptMap struct{ spans []textmerge.Span }

// all says whether all of the text at s was there, in as many pieces as there are.
func (m keptMap) all(s diffwrap.Span) bool {
	i, _ := slices.BinarySearchFunc(m.spans, s.Start, func(x textmerge.Span, at int) int { return x.B + x.N - at - 1 })
	for ; i < len(m.spans) && m.spans[i].B <= s.Start && s.Start < s.End; i++ {
		s.Start = m.spans[i].B + m.spans[i].N
	}
	return s.Start >= s.End
}

// unchanged says of each mark which one it was before, -1 if it was none.
func (x *Layout) unchanged(before *Layout, kept keptMap) []int {
	same := make([]int, len(x.Marks))
	sizes, was := make([]int, len(x.Marks)), make([]int, len(before.Marks))
	for k := range same {
		same[k] = -2 // nothing seen
	}
	for _, c := range before.Text {
		if c.Mark >= 0 {
			was[c.Mark]++
		}
	}
	for _, c := range x.Text {
		if c.Mark < 0 {
			continue
		}
		sizes[c.Mark]++
		k := -1
		if at, ok := textmerge.Back(kept.spans, c.Span); ok {
			i, found := slices.BinarySearchFunc(before.Text, at.Start, func(b diffwrap.Content, off int) int { return b.Start - off })
			if found && before.Text[i].Span == at && before.Text[i].Added == c.Added && before.Text[i].Deleted == c.Deleted {
				k = before.Text[i].Mark
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

// olderComments are the comments directly behind suggestions that were there before, by
// where the suggestions end, but for remarks on what the author proposes anew. joined says
// which of the suggestions had not been before them.
func (x *Layout) olderComments(
	before *Layout, same []int, groups []diffwrap.Suggestion, kept keptMap, v Units, comments map[int]standing, by string,
) (older map[int][]model.IDRun, joined map[int]bool) {
	if !strings.Contains(x.Raw, ">>") {
		return nil, nil
	}
	older, joined = make(map[int][]model.IDRun), make(map[int]bool)
	cursor := textmerge.NewCursor(x.Raw)
	x.Known.Decide(x.Raw, false, func(c diffwrap.Attached) diffwrap.Fate {
		was, ok := textmerge.Back(kept.spans, diffwrap.Span{Start: c.Start, End: c.Start + 1})
		is, began := comments[was.Start]
		k, _ := x.MarkAt(c.Mark.Start)
		moved := is.mark != same[k]
		if !ok || !began || is.remark && (!moved || before.Owners[is.mark].Author() == by) {
			return diffwrap.Stays
		}
		from := cursor.PosAt(c.Start)
		older[c.Mark.End] = append(older[c.Mark.End], v.Resolve(model.PlaceRun(from, cursor.PosAt(c.End)))...)
		joined[c.Mark.End] = joined[c.Mark.End] || moved
		return diffwrap.Stays
	}, groups...)
	return older, joined
}
