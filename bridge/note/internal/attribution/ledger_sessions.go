package attribution

import (
	"slices"
	"strings"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/textmerge"
	"github.com/relayfs/relayfs/diffwrap"
)

// A suggestion is its session's, and goes with it when that is taken back. A later session of
// the same author may amend it: what that leaves of it is the later one's. To amend is to take
// away some of what is proposed, or to write in the middle of it. What is written beside it is
// a suggestion of its own.

// earlier is the suggestion of mark k if another session of the author made it, else nil.
func (x *Layout) earlier(k int, by model.Author) *model.MadeMark {
	if m := x.Owners[k].Mark; m != nil && m.Author == by.Name && m.Session != by.Session {
		return m
	}
	return nil
}

// touched says how many marks of each suggestion are not among same, which unchanged found.
func (x *Layout) touched(same []int) map[*model.MadeMark]int {
	changed := make(map[*model.MadeMark]int)
	for k := range x.Owners {
		changed[x.Owners[k].Mark]++
	}
	for _, k := range same {
		if k >= 0 {
			changed[x.Owners[k].Mark]--
		}
	}
	return changed
}

// ForeignSessions is Foreign for an author who turns the accepted view into text: suggestions of
// the author's other sessions that this does not amend are foreign as well. It is nil if there are none.
func (x *Layout) ForeignSessions(text string, by model.Author) func(start, end int) bool {
	amended := make(map[*model.MadeMark]bool)
	for k := range x.Marks {
		if m := x.earlier(k, by); m != nil {
			amended[m] = false
		}
	}
	if len(amended) == 0 {
		return nil
	}
	view := x.Known.Accepted(x.Raw)
	c := change{view, textmerge.WordEdits(view, text)}
	shown := textmerge.Shown(x.Known, x.Raw)
	for k, m := range x.Marks {
		if is := x.earlier(k, by); is != nil && !amended[is] {
			at := diffwrap.Span{Start: shownAt(shown, m.Added.Start), End: shownAt(shown, m.Added.End)}
			amended[is] = c.cuts(at) || c.restores(m.Deleted.Of(x.Raw), shownAt(shown, m.Deleted.Start))
		}
	}
	foreign := x.Foreign(by.Name)
	return func(start, end int) bool {
		if k, ok := x.MarkAt(start); ok {
			if is := x.earlier(k, by); is != nil && !amended[is] {
				return true
			}
		}
		return foreign(start, end)
	}
}

// shownAt is where the text at an offset is in a view, or would be.
func shownAt(view []textmerge.Span, off int) int {
	i, _ := slices.BinarySearchFunc(view, off, func(s textmerge.Span, off int) int { return s.A - off })
	if i == 0 {
		return 0
	}
	s := view[i-1]
	return s.B + min(s.N, off-s.A)
}

// change is what an author does to a view.
type change struct {
	view  string
	edits []diffwrap.Edit
}

// cuts says whether it takes away something of the text there, or writes in the middle of its words.
func (c change) cuts(at diffwrap.Span) bool {
	return slices.ContainsFunc(c.edits, func(e diffwrap.Edit) bool {
		from, to := max(at.Start, e.Off), min(at.End, e.Off+e.Len)
		return from < to || from == to && !isBlank(c.view[at.Start:from]) && !isBlank(c.view[to:at.End])
	})
}

// restores says whether it puts a text, or a part of it, where the view does not have that: most of what one of the
// two has is in the other. Spaces do not count, unless the text has nothing else.
func (c change) restores(text string, at int) bool {
	size := func(s string) int { return len(strings.Join(strings.Fields(s), "")) }
	if isBlank(text) {
		size = func(s string) int { return len(s) }
	}
	return slices.ContainsFunc(c.edits, func(e diffwrap.Edit) bool {
		if !isBlank(c.view[min(at, e.Off+e.Len):max(at, e.Off)]) {
			return false
		}
		both := 0
		for _, s := range textmerge.Kept(len(text), textmerge.SavedEdits(text, e.New)) {
			both += size(text[s.A : s.A+s.N])
		}
		return 2*both > min(size(text), size(e.New))
	})
}

func isBlank(s string) bool { return strings.TrimSpace(s) == "" }
