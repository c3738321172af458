package planner

import (
	"slices"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/note/internal/attribution"
	"github.com/relayfs/relayfs/bridge/textmerge"
	"github.com/relayfs/relayfs/bridge/ycrdt"
	"github.com/relayfs/relayfs/diffwrap"
)

// Plan is a planned change of the raw text: its edits and the metadata of its record.
type Plan struct {
	Edits          []diffwrap.Edit
	Known          diffwrap.Known // the marks of the text after the change, if the plan adds marks
	FrontMatter    *model.FrontMatterChange
	Decision       *model.Decision    // set for a user's decision
	Marks          []model.MarkRecord // new pending suggestions
	Remaps         []model.IDRemap    // text that the change moves or restores
	Older          []model.IDRange    // comments that are older than the suggestions next to them
	KeptOpeners    []model.IDRange    // openers of users' marks that stay marks
	LiteralOpeners []model.IDRange    // openers in users' text that stay text
	Placements     []model.Placement  // places of new text among deleted characters; nil: directly after the text before it
	Proposal       string             // ID of the rename for which the plan rewrites links, or ""
	Links          []model.LinkRewrite
	Direct         bool // the text is written unchanged, without marks
	Warnings       []string
}

// keepMarks makes sure that the text of the plan, raw, has exactly the marks of want. known are its recorded marks.
func (p *Plan) keepMarks(known, want diffwrap.Known, raw string) {
	ranges := func(openers []int) (list []model.IDRange) {
		slices.Sort(openers)
		cursor := textmerge.NewCursor(raw)
		for _, at := range openers {
			from := cursor.PosAt(at)
			list = append(list, model.OffsetRange(from, from+attribution.MarkEdge))
		}
		return list
	}
	marks, literal := known.ToHave(want, raw)
	p.KeptOpeners, p.LiteralOpeners, p.Known = ranges(marks), ranges(literal), known.And(want.Offsets()...).Except(literal...)
}

// Apply applies the plan to a document whose text is raw, and completes the record: it converts the plan's offsets to
// CRDT IDs.
func (p *Plan) Apply(doc *ycrdt.Doc, text *ycrdt.Text, raw string, author model.Author, rec *model.Record) {
	d := p.Decision
	places := len(p.Links) > 0 || p.FrontMatter != nil || d != nil && slices.ContainsFunc(d.Runs, hasOffsets)
	var before, after attribution.Units
	if places {
		before = attribution.UnitsOf(text.Runs())
	}
	doc.Transact(func(txn *ycrdt.Txn) { applyAtPlacements(txn, text, raw, p.Edits, p.Placements) })
	rec.Author, rec.Session, rec.Batch, rec.FrontMatter, rec.Decision = author.Name, author.Session, author.Batch, p.FrontMatter, p.Decision
	rec.Proposal, rec.Direct = p.Proposal, p.Direct
	if places || len(p.Marks)+len(p.Remaps)+len(p.Older)+len(p.KeptOpeners)+len(p.LiteralOpeners) > 0 || d != nil && len(d.Remaps)+len(d.ByHand) > 0 {
		after = attribution.UnitsOf(text.Runs())
	}
	if d != nil {
		rec.Decision = resolvedDecision(d, before, after)
	}
	rec.Marks, rec.Remaps, rec.KeptOpeners = resolvedMarks(p.Marks, after), resolvedRemaps(p.Remaps, after), after.ResolveAll(p.KeptOpeners)
	rec.Older, rec.LiteralOpeners = after.ResolveAll(p.Older), after.ResolveAll(p.LiteralOpeners)
	for _, l := range p.Links {
		rec.Links = append(rec.Links, model.LinkRewrite{Removed: resolvedDeleted(l.Removed, before), Typed: after.ResolveAll(l.Typed)})
	}
	if fm := p.FrontMatter; fm != nil {
		named := *fm
		named.Removed, named.Typed = resolvedDeleted(fm.Removed, before), after.ResolveAll(fm.Typed)
		rec.FrontMatter = &named
	}
}

// hasOffsets reports whether r, or a text next to it, is given by offsets. The plan of a note without a document has no
// CRDT IDs.
func hasOffsets(r model.DecidedRun) bool {
	return slices.ContainsFunc([]model.IDRange{r.At, r.Left, r.Right}, func(r model.IDRange) bool { return r.Client == 0 && r.Len > 0 })
}

// applyAtPlacements applies byte edits of raw to text. It puts new text directly after the text before it, unless
// placed gives another position for the piece. By contrast, a user's typing goes after the deleted characters at its
// position, so text that is restored at its own position does not end up inside new text.
func applyAtPlacements(txn *ycrdt.Txn, text *ycrdt.Text, raw string, edits []diffwrap.Edit, placed []model.Placement) {
	for e := range textmerge.PositionedEdits(raw, edits) {
		pos := e.After
		if e.Deleted > 0 {
			text.Delete(txn, pos, e.Deleted)
		}
		for new := e.New; new != ""; {
			piece := model.Placement{Len: len(new)}
			if len(placed) > 0 {
				piece, placed = placed[0], placed[1:]
			}
			s := new[:min(piece.Len, len(new))]
			switch {
			case piece.Before.Len > 0 && text.InsertAt(txn, piece.Before.Run().ID, ycrdt.Before, s):
			case piece.After.Len > 0 && text.InsertAt(txn, piece.After.Last(), ycrdt.After, s):
			default:
				text.InsertAfter(txn, pos, s)
			}
			pos, new = pos+textmerge.UTF16Len(s), new[len(s):]
		}
	}
}

// resolvedMarks converts offsets in the text after the change to CRDT IDs.
func resolvedMarks(marks []model.MarkRecord, after attribution.Units) []model.MarkRecord {
	out := slices.Clone(marks)
	for i := range out {
		out[i].Add, out[i].Del = after.ResolveAll(out[i].Add), after.ResolveAll(out[i].Del)
	}
	return out
}

// resolvedDecision converts offsets in the text before the decision, or after it for new text, to CRDT IDs.
func resolvedDecision(d *model.Decision, before, after attribution.Units) *model.Decision {
	named := *d
	named.Runs, named.ByHand = nil, after.ResolveAll(d.ByHand)
	for _, r := range d.Runs {
		u := before
		if r.Role == model.RoleReplacement || r.Role == model.RoleCommentAdded {
			u = after
		}
		named.Runs = append(named.Runs, resolvedRun(r, u)...)
	}
	named.Remaps = resolvedRemaps(d.Remaps, after)
	return &named
}

// resolvedRemaps converts offsets in the text after the change to CRDT IDs.
func resolvedRemaps(list []model.IDRemap, after attribution.Units) (named []model.IDRemap) {
	for _, r := range list {
		done := uint64(0)
		for _, id := range after.Resolve(r.New) {
			named = append(named, model.IDRemap{Old: r.Old.Part(done, id.Len), New: id})
			done += id.Len
		}
	}
	return named
}

// resolvedRun converts a run with offsets in the text of u to runs with CRDT IDs.
func resolvedRun(r model.DecidedRun, u attribution.Units) (runs []model.DecidedRun) {
	if ids := u.Resolve(r.Left); len(ids) == 1 {
		r.Left = ids[0]
	}
	if ids := u.Resolve(r.Right); len(ids) == 1 {
		r.Right = ids[0]
	}
	cursor := textmerge.NewCursor(r.Text)
	pos := 0
	for _, id := range u.Resolve(r.At) {
		one := r
		one.At = id
		if r.Text != "" {
			from := cursor.OffAt(pos)
			pos += int(id.Len)
			one.Text = r.Text[from:cursor.OffAt(pos)]
		}
		runs = append(runs, one)
	}
	return runs
}

func resolvedDeleted(list []model.DeletedRange, u attribution.Units) (runs []model.DeletedRange) {
	for _, g := range list {
		for _, r := range resolvedRun(model.DecidedRun{At: g.At, Text: g.Text}, u) {
			runs = append(runs, model.DeletedRange{At: r.At, Text: r.Text})
		}
	}
	return runs
}
