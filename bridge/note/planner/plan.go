package planner

import (
	"cmp"
	"slices"
	"strings"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/note/attribution"
	"github.com/relayfs/relayfs/bridge/textmerge"
	"github.com/relayfs/relayfs/bridge/ycrdt"
	"github.com/relayfs/relayfs/diffwrap"
)

// Plan is a planned change of the raw text. Its Record has only the effects of the change. Ranges without a client are
// offsets (model.OffsetRange) in the text after the change; those of deleted text, and of decided text, are offsets in
// the text before it.
type Plan struct {
	model.Record
	Edits      []diffwrap.Edit
	Known      diffwrap.Known // the marks of the text after the change, if the plan adds marks
	Placements []Placement    // places of new text among deleted characters; nil: directly after the text before it
	Typed      bool           // a user typed the new text
	Warnings   []string
	Runs       []ycrdt.Run // set by Apply, unless no range of the plan needs them: the CRDT IDs of the text after the change
	Part       *Part       // if set, the offsets and marks are those of the part's text, except in Edits
}

// Part is a range of a note's text that can be changed alone: its marks do not depend on the text outside, and the marks
// outside do not depend on it.
type Part struct {
	diffwrap.Span
	From, To int // the Span in UTF-16 positions
	Version  *model.Version
	Layout   *attribution.Layout
}

// Within makes p, a plan for the version of part, a plan for the note. It returns false if the change could have an effect
// outside of the part.
func (p *Plan) Within(part *Part) bool {
	raw := part.Version.Raw()
	size := len(raw)
	for _, e := range p.Edits {
		if e.Off == 0 || e.Off+e.Len == size && part.endsLine() {
			return false
		}
	}
	after := model.NewVersion(diffwrap.Apply(raw, p.Edits), diffwrap.RawView, part.Version.ModTime())
	after.Attribute(p.Known, nil, p.Known)
	if len(p.KeptOpeners)+len(p.LiteralOpeners)+len(p.Links) > 0 || p.FrontMatter != nil || !after.IsApart() {
		return false
	}
	p.Edits, p.Part = offsetBy(p.Edits, part.Start), part
	p.Decision.Emptied = false
	return true
}

func (p *Part) endsLine() bool { return strings.HasSuffix(p.Version.Raw(), "\n") }

// Placement is the position of a piece of the text that a change inserts. The piece has Len bytes and goes before the
// character Before or after the character After, or after the previous piece if both are zero.
type Placement struct {
	Len           int
	Before, After model.IDRange
}

// keepMarks makes sure that the text of the plan, raw, has exactly the marks of want. known are its recorded marks.
func (p *Plan) keepMarks(known, want diffwrap.Known, raw string) {
	ranges := func(openers []int) (list []model.IDRange) {
		for _, at := range openers {
			first, second := diffwrap.OpenerAt(raw, at)
			if list = append(list, model.OffsetRange(first)); !second.Empty() {
				list = append(list, model.OffsetRange(second))
			}
		}
		return list
	}
	marks, literal := known.ToHave(want, raw)
	p.KeptOpeners, p.LiteralOpeners, p.Known = ranges(marks), ranges(literal), known.And(marks...).Except(literal...)
}

// Apply applies the plan to a document whose text is raw, and completes rec, a copy of the plan's record: it converts
// offsets to CRDT IDs.
func (p *Plan) Apply(doc *ycrdt.Doc, text *ycrdt.Text, raw string, author model.Author, rec *model.Record) {
	var before, after *attribution.Units // nil if the plan has no offsets in that text
	at := diffwrap.Span{End: len(raw)}
	if p.Part != nil {
		at = p.Part.Span
	}
	units := func(part string) *attribution.Units {
		if p.Part == nil {
			return attribution.UnitsOf(part, text.Runs())
		}
		return attribution.UnitsOf(part, text.RunsIn(p.Part.From, p.Part.From+textmerge.UTF16Len(part)))
	}
	d, fm := p.Decision, p.FrontMatter
	if len(p.Links) > 0 || fm != nil || d != nil && slices.ContainsFunc(d.Runs, hasOffsets) {
		before = units(at.Of(raw))
	}
	doc.Transact(func(txn *ycrdt.Txn) {
		if p.Typed {
			textmerge.ApplyEdits(txn, text, raw, p.Edits)
		} else {
			applyAtPlacements(txn, text, raw, p.Edits, p.Placements)
		}
	})
	if p.Part != nil || before != nil || d != nil && len(d.Remaps)+len(d.ByHand) > 0 || len(p.Marks)+len(p.Remaps)+len(p.Restored)+len(p.BrokenDelimiters)+len(p.Older)+len(p.KeptOpeners)+len(p.LiteralOpeners) > 0 {
		now := diffwrap.Apply(raw, p.Edits)
		after = units(now[at.Start : len(now)-(len(raw)-at.End)])
		p.Runs = after.Runs
	}
	rec.Author, rec.Session, rec.Batch = author.Name, author.Session, author.Batch
	rec.Marks, rec.Remaps = resolvedMarks(p.Marks, after), resolvedRemaps(p.Remaps, after)
	rec.Links = nil
	for _, l := range p.Links {
		rec.Links = append(rec.Links, model.LinkRewrite{Removed: resolvedDeleted(l.Removed, before), Typed: after.ResolveAll(l.Typed)})
	}
	for _, list := range []*[]model.IDRange{&rec.Restored, &rec.BrokenDelimiters, &rec.Older, &rec.KeptOpeners, &rec.LiteralOpeners} {
		*list = after.ResolveAll(*list)
	}
	if d != nil {
		rec.Decision = resolvedDecision(d, before, after)
	}
	if fm != nil {
		named := *fm
		named.Removed, named.Typed = resolvedDeleted(fm.Removed, before), after.ResolveAll(fm.Typed)
		rec.FrontMatter, rec.Batch = &named, cmp.Or(rec.Batch, model.NewBatch())
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
func applyAtPlacements(txn *ycrdt.Txn, text *ycrdt.Text, raw string, edits []diffwrap.Edit, placed []Placement) {
	for e := range textmerge.PositionedEdits(raw, edits) {
		pos := e.After
		if e.Deleted > 0 {
			text.Delete(txn, pos, e.Deleted)
		}
		for new := e.New; new != ""; {
			piece := Placement{Len: len(new)}
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
func resolvedMarks(marks []model.MarkRecord, after *attribution.Units) []model.MarkRecord {
	out := slices.Clone(marks)
	for i := range out {
		out[i].Add, out[i].Del = after.ResolveAll(out[i].Add), after.ResolveAll(out[i].Del)
	}
	return out
}

// resolvedDecision converts offsets in the text before the decision, or after it for new text, to CRDT IDs.
func resolvedDecision(d *model.Decision, before, after *attribution.Units) *model.Decision {
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
func resolvedRemaps(list []model.IDRemap, after *attribution.Units) (named []model.IDRemap) {
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
func resolvedRun(r model.DecidedRun, u *attribution.Units) (runs []model.DecidedRun) {
	for _, side := range []*model.IDRange{&r.Left, &r.Right} {
		if ids := u.Resolve(*side); len(ids) == 1 {
			*side = ids[0]
		}
	}
	if r.At.Client != 0 {
		return []model.DecidedRun{r}
	}
	for p := range u.In(r.At.Span()) {
		one := r
		if one.At = p.ID; r.Text != "" {
			one.Text = p.Of(u.Raw)
		}
		runs = append(runs, one)
	}
	return runs
}

func resolvedDeleted(list []model.DeletedRange, u *attribution.Units) (runs []model.DeletedRange) {
	for _, g := range list {
		for _, r := range resolvedRun(model.DecidedRun{At: g.At, Text: g.Text}, u) {
			runs = append(runs, model.DeletedRange{At: r.At, Text: r.Text})
		}
	}
	return runs
}

// inserted returns the ranges of the new text of edits, one for each edit, at offsets in the text after the edits.
func inserted(edits []diffwrap.Edit) (list []model.IDRange) {
	moved := 0
	for _, e := range edits {
		list = append(list, model.OffsetRange(diffwrap.Span{Start: e.Off, End: e.Off + len(e.New)}.Shift(moved)))
		moved += len(e.New) - e.Len
	}
	return list
}

// deleted returns the text that an edit deletes, at its offset.
func deleted(raw string, e diffwrap.Edit) model.DeletedRange {
	at := diffwrap.Span{Start: e.Off, End: e.Off + e.Len}
	return model.DeletedRange{At: model.OffsetRange(at), Text: at.Of(raw)}
}
