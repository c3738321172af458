package planner

import (
	"slices"
	"time"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/note/attribution"
	"github.com/relayfs/relayfs/bridge/textmerge"
	"github.com/relayfs/relayfs/diffwrap"
)

// A link to a renamed document can be rewritten in place, without a mark. The new linkpath belongs to the same text as
// the old linkpath: to plain text, or to a pending suggestion, which keeps its ID, author and session.

// LinkPlaces finds the links of a view in the marked text.
type LinkPlaces struct {
	layout *attribution.Layout
	inView []textmerge.Match // maps the marked text to the view
	rename string
}

// LinkPlace is the place of a link in the marked text.
type LinkPlace struct {
	Off     int  // offset of the linkpath
	Pending bool // the link is, or touches, text of a suggestion or comment
	Added   bool // its linkpath is pending text that a suggestion adds
	// Since is when an agent wrote the linkpath, if it is pending, or when a user accepted it, or when a decision on a rename
	// rewrote it, if that was later. It is zero for other text of users.
	Since    time.Time
	Own      bool   // the linkpath is text of a pending suggestion that rewrites links for the rename
	Kept     bool   // a user has rejected such a suggestion here
	Followed bool   // a suggestion that rewrites links for a rename, maybe another one, added the linkpath
	Relinked string // batch of the last decision on a rename that rewrote the linkpath; "" if there is none
}

// NewLinkPlaces returns the places of links in a view of the layout's text. rename is the ID of the rename, or "" if
// there is none.
func NewLinkPlaces(x *attribution.Layout, v diffwrap.View, rename string) *LinkPlaces {
	return &LinkPlaces{x, textmerge.ViewMatches(x.Known, x.Raw, v), rename}
}

// Find finds a link and its linkpath. It returns false if a mark splits the linkpath.
func (l *LinkPlaces) Find(link, linkpath diffwrap.Span) (p LinkPlace, ok bool) {
	at, ok := textmerge.MapBack(l.inView, linkpath)
	if !ok {
		return p, false
	}
	p.Off, p.Pending = at.Start, true
	marked := false // a write may have removed the marks of pending facts
	i, _ := slices.BinarySearchFunc(l.layout.Text, p.Off+1, func(c diffwrap.Content, at int) int { return c.End - at })
	if i < len(l.layout.Text) {
		c := l.layout.Text[i]
		whole, ok := textmerge.MapBack(l.inView, link)
		marked, p.Added, p.Pending = c.Mark >= 0, c.Added, !ok || c.Mark >= 0 || whole.Start < c.Start || c.End < whole.End
	}
	if l.rename != "" {
		for f := range l.layout.In(diffwrap.Span{Start: p.Off, End: p.Off + 1}) {
			p.Own, p.Kept = f.LinkOf(l.rename)
			p.Own = p.Own && marked
			p.Since, p.Relinked = f.Since(), f.Relinked
			if start := model.BatchStart(f.Relinked); start > 0 {
				if at := time.UnixMicro(int64(start)).Add(time.Millisecond); at.After(p.Since) { // the name has the millisecond
					p.Since = at
				}
			}
			p.Followed = f.Ins.Of != nil && f.Ins.Of.FollowsRename()
		}
	}
	return p, true
}

// LinksWithin returns the IDs of the pending suggestions that an undo of the given items of e would affect: they
// rewrite links for a rename, inside text that the undo makes pending.
func LinksWithin(t *attribution.Table, e model.JournalEntry, items []model.DecidedItem, lay func() (*attribution.Layout, error)) (ids []string, err error) {
	again := make(model.Ranges[bool])
	if e.Decision != nil {
		for _, r := range e.Decision.RunsOf(&model.Decision{Items: items}) {
			if r.Role == model.RoleAdditionAccepted || r.Role == model.RoleDeletionRejected {
				t.Each(r.At, func(part model.IDRange, f *attribution.Fact) {
					if s := f.Pending(true); s != nil && s.FollowsRename() {
						for _, first := range t.OriginalIDs(part) {
							again.Set(first, true)
						}
					}
				})
			}
		}
	}
	if len(again) == 0 {
		return nil, nil
	}
	x, err := lay()
	if err != nil {
		return nil, err
	}
	for _, c := range x.Text {
		if !c.Deleted {
			continue
		}
		for p := range x.In(c.Span) {
			if s := p.Pending(true); s != nil && again.Has(x.OriginalIDs(p.ID)[0]) && !slices.Contains(ids, s.ID) {
				ids = append(ids, s.ID)
			}
		}
	}
	return ids, nil
}

// RewriteLinks plans edits of linkpaths in the marked text of current, whose layout is x. d is the decision on the
// rename, or nil if there is none.
func RewriteLinks(current *model.Version, x *attribution.Layout, edits []diffwrap.Edit, d *model.Decision) Plan {
	plan := Plan{Record: model.Record{Decision: d}, Edits: diffwrap.Compose(len(current.Raw()), current.CanonicalEdits(), edits)}
	typed := inserted(edits)
	for i, e := range edits {
		link := model.LinkRewrite{Typed: typed[i : i+1]}
		for p := range x.In(diffwrap.Span{Start: e.Off, End: e.Off + e.Len}) {
			link.Removed = append(link.Removed, model.DeletedRange{At: p.ID, Text: p.Of(x.Raw)})
		}
		var after model.IDRange // text that was deleted before the link, and that an undo restores, stays before it
		if n := len(link.Removed); n > 0 {
			after = link.Removed[n-1].At
		} else { // a note without a document
			link.Removed = []model.DeletedRange{deleted(x.Raw, e)}
		}
		if len(current.CanonicalEdits()) == 0 {
			plan.Placements = append(plan.Placements, Placement{Len: len(e.New), After: after})
		}
		plan.Links = append(plan.Links, link)
	}
	return plan
}

// undoLinks plans the undo of rewritten links. A link that was changed or deleted since stays as it is.
func undoLinks(current *model.Version, x *attribution.Layout, list []model.LinkRewrite, d *model.Decision) Plan {
	type place struct {
		link  model.LinkRewrite
		at    diffwrap.Span
		size  int // bytes that exist
		units int // UTF-16 units that exist
	}
	places := make([]place, len(list))
	typed := make(model.Ranges[int])
	for i, l := range list {
		places[i].link = l
		for _, r := range l.Typed {
			for _, first := range x.OriginalIDs(r) {
				typed.Set(first, i)
			}
		}
	}
	for piece := range x.In(diffwrap.Span{End: len(x.Raw)}) {
		cursor := textmerge.NewCursor(piece.Of(x.Raw))
		x.EachOriginal(piece.ID, func(now, first model.IDRange, _ uint64) {
			typed.Each(first, func(part model.IDRange, i int, ok bool) {
				if !ok {
					return
				}
				p, pos, size := &places[i], int(now.Clock-piece.ID.Clock+part.Clock-first.Clock), int(part.Len)
				at := diffwrap.Span{Start: cursor.OffAt(pos), End: cursor.OffAt(pos + size)}.Shift(piece.Start)
				if p.size == 0 {
					p.at.Start = at.Start
				}
				p.at.End, p.size, p.units = at.End, p.size+at.Len(), p.units+size
			})
		})
	}
	places = slices.DeleteFunc(places, func(p place) bool {
		return p.at.Len() != p.size || p.units != lengthOf(p.link.Typed)
	})
	slices.SortFunc(places, func(a, b place) int { return a.at.Start - b.at.Start })
	var edits []diffwrap.Edit
	for _, p := range places {
		old := ""
		for _, g := range p.link.Removed {
			old += g.Text
		}
		edits = append(edits, diffwrap.Edit{Off: p.at.Start, Len: p.at.Len(), New: old})
	}
	plan := RewriteLinks(current, x, edits, d)
	for i, l := range plan.Links {
		at := int(l.Typed[0].Clock)
		for _, g := range places[i].link.Removed {
			plan.Remaps = append(plan.Remaps, model.IDRemap{Old: g.At, New: model.OffsetRange(diffwrap.Span{Start: at, End: at + len(g.Text)})})
			at += len(g.Text)
		}
	}
	return plan
}

func lengthOf(runs []model.IDRange) (n int) {
	for _, r := range runs {
		n += int(r.Len)
	}
	return n
}
