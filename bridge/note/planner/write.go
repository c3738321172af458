package planner

import (
	"slices"
	"strings"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/note/attribution"
	"github.com/relayfs/relayfs/bridge/textmerge"
	"github.com/relayfs/relayfs/diffwrap"
)

// FrontMatterChange lists the changes from one front matter block to another by their offsets. If the old block ended
// without a line break, a new line break after the block belongs to the text that follows.
func FrontMatterChange(before, after string) *model.FrontMatterChange {
	if before != "" && !strings.HasSuffix(before, "\n") {
		after = strings.TrimRight(after, "\r\n")
	}
	fm := &model.FrontMatterChange{Before: before, After: after}
	mark := 0 // a byte order mark belongs to the note and stays
	if strings.HasPrefix(before, diffwrap.ByteOrderMark) && strings.HasPrefix(after, diffwrap.ByteOrderMark) {
		mark = len(diffwrap.ByteOrderMark)
	}
	edits := offsetBy(diffwrap.Diff(before[mark:], after[mark:]), mark)
	typed := inserted(edits)
	for i, e := range edits {
		if e.Len > 0 {
			fm.Removed = append(fm.Removed, deleted(before, e))
		}
		if e.New != "" {
			fm.Typed = append(fm.Typed, typed[i])
		}
	}
	return fm
}

// DirectEdits returns the edits that change the view without marks. Pending suggestions outside the change stay
// pending.
func DirectEdits(current *model.Version, text string) []diffwrap.Edit {
	edits := diffwrap.Diff(current.Text(), text)
	if current.Raw() == current.Text() {
		return edits
	}
	spans := textmerge.SwapSides(current.Side().ViewMatches()) // maps the view to the raw text
	marks, _, _ := current.RawKnown().Layout(current.Raw())
	var out []diffwrap.Edit
	for _, e := range edits {
		at := rawInsertAt(marks, spans, e.Off)
		if e.New != "" {
			out = append(out, diffwrap.Edit{Off: at, New: e.New})
		}
		for _, s := range spans {
			from, to := max(s.A, e.Off), min(s.A+s.Len, e.Off+e.Len)
			if from < to {
				out = append(out, diffwrap.Edit{Off: s.B + from - s.A, Len: to - from})
			}
		}
	}
	return out
}

// rawInsertAt returns the raw offset at which plain text for the view offset off is inserted. The raw offset follows
// the raw character that the view shows before off. It is outside a mark whose added text ends there.
func rawInsertAt(marks []diffwrap.Mark, viewToRaw []textmerge.Match, off int) int {
	at := 0
	for _, s := range viewToRaw {
		if s.A >= off {
			break
		}
		at = s.B + min(s.Len, off-s.A)
	}
	i, _ := slices.BinarySearchFunc(marks, at, func(m diffwrap.Mark, at int) int { return m.End - at })
	if i < len(marks) && !marks[i].Added.Empty() && marks[i].Added.End == at {
		return marks[i].End
	}
	return at
}

// Suggest plans an author's suggestions that make text the view of current. x is current's layout; nil if it has no
// marks. If apart is set, they join no other suggestion.
func Suggest(current *model.Version, x *attribution.Layout, text string, author model.Author, apart bool, lens diffwrap.Options) (Plan, error) {
	text = diffwrap.CommentsAfterConstructs(current.Text(), text)
	lens.Known = current.Known()
	if x != nil {
		lens.Owners = x.OwnersFor(author, apart)
	}
	res, err := lens.Put(current.Canonical(), text)
	if err != nil {
		return Plan{}, model.RefusedError(err)
	}
	plan := Plan{Warnings: res.Warnings}
	if len(res.Edits) > 0 {
		plan.Edits = diffwrap.Compose(len(current.Raw()), current.CanonicalEdits(), res.Edits)
		plan.Known = res.Known
		if author.Name != "" {
			plan.Record = attribution.Written(x, current.Canonical(), res)
		}
	}
	if fm := res.FrontMatter; fm != nil {
		if change := FrontMatterChange(fm.Before, fm.After); change.Before != change.After {
			plan.FrontMatter = change
		}
	}
	return plan, nil
}
