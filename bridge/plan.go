package bridge

import (
	"slices"

	"github.com/relayfs/relayfs/bridge/textmerge"
	"github.com/relayfs/relayfs/bridge/ycrdt"
	"github.com/relayfs/relayfs/diffwrap"
)

// writePlan is how a new view text changes the raw text.
type writePlan struct {
	edits       []diffwrap.Edit
	frontMatter *FrontMatterChange
	decision    *Decision   // set when a person decides
	marks       []MadeMark  // what an undo makes pending again
	placed      []Placement // where text goes among deleted characters; nil for behind what is before it
	proposal    string      // set when it rewrites links for a rename
	warnings    []string
}

// onlyInserts says whether the plan takes nothing away, so that the text before it can
// be told from the one after it.
func (p *writePlan) onlyInserts() bool {
	return !slices.ContainsFunc(p.edits, func(e diffwrap.Edit) bool { return e.Len > 0 })
}

// describe tells in a record what a plan does, and who does it.
func (p *writePlan) describe(rec *Record, by Author) {
	rec.Author, rec.Session, rec.FrontMatter, rec.Decision = by.Name, by.Session, p.frontMatter, p.decision
	rec.Proposal, rec.Marks = p.proposal, p.marks
}

// carryOut makes the plan's edits of raw in a document and completes the record of
// that: what the plan names by place is named by identity.
func (p *writePlan) carryOut(doc *ycrdt.Doc, text *ycrdt.Text, raw string, by Author, known *ledger, rec *Record) {
	before := unitsOf(text.Runs())
	doc.Transact(by, func(txn *ycrdt.Txn) { applyPlaced(txn, text, raw, p.edits, p.placed) })
	p.describe(rec, by)
	result := text.String()
	if p.decision == nil && p.frontMatter == nil && (by.Name == "" || !marksIn(result)) {
		return
	}
	after := unitsOf(text.Runs())
	if p.decision != nil {
		rec.Decision = resolvedDecision(p.decision, before, after)
		rec.Marks = resolvedMarks(p.marks, after)
	} else if by.Name != "" {
		rec.Marks = known.made(raw, before, p.edits, result, after, by.Name)
	}
	if fm := p.frontMatter; fm != nil {
		named := *fm
		named.Removed = nil
		for _, g := range fm.Removed {
			named.Removed = append(named.Removed, resolvedGone(g, before)...)
		}
		named.Typed = after.resolveAll(fm.Typed)
		rec.FrontMatter = &named
	}
}

// applyPlaced makes a script of byte edits against raw in text, as relayfs's own:
// new text stands right behind what is before it, where a person's goes past deleted
// characters that follow, so that what comes back at its own place does not end up
// inside of it. placed, unless nil, tells where each piece of new text stands instead.
func applyPlaced(txn *ycrdt.Txn, text *ycrdt.Text, raw string, edits []diffwrap.Edit, placed []Placement) {
	cursor := textmerge.NewCursor(raw)
	moved := 0 // by the edits before, in units
	for _, e := range edits {
		pos := cursor.PosAt(e.Off)
		n := cursor.PosAt(e.Off+e.Len) - pos
		pos += moved
		if n > 0 {
			text.Delete(txn, pos, n)
		}
		moved -= n
		for new := e.New; new != ""; {
			piece := Placement{Len: len(new)}
			if len(placed) > 0 {
				piece, placed = placed[0], placed[1:]
			}
			s := new[:min(piece.Len, len(new))]
			if piece.Behind.Len == 0 || !text.InsertAt(txn, piece.Behind.last(), ycrdt.Behind, s) {
				text.InsertAfter(txn, pos, s)
			}
			size := textmerge.UTF16Len(s)
			pos, moved, new = pos+size, moved+size, new[len(s):]
		}
	}
}

// resolvedMarks names by identity what is named by place in the text after.
func resolvedMarks(marks []MadeMark, after units) []MadeMark {
	out := slices.Clone(marks)
	for i := range out {
		out[i].Add, out[i].Del, out[i].Older = after.resolveAll(out[i].Add), after.resolveAll(out[i].Del), after.resolveAll(out[i].Older)
	}
	return out
}

// resolvedDecision names by identity what is named by place, in the text before or in the one
// after the decision was carried out.
func resolvedDecision(d *Decision, before, after units) *Decision {
	named := *d
	named.Runs, named.Revived = nil, nil
	for _, r := range d.Runs {
		u := before
		if r.Role == typedInstead {
			u = after
		}
		named.Runs = append(named.Runs, resolvedRun(r, u)...)
	}
	for _, r := range d.Revived {
		done := uint64(0)
		for _, id := range after.resolve(r.New) {
			named.Revived = append(named.Revived, Revival{r.Old.part(done, id.Len), id})
			done += id.Len
		}
	}
	return &named
}

// resolvedRun names by identity a run that is named by place: in the text of u.
func resolvedRun(r DecidedRun, u units) (runs []DecidedRun) {
	if ids := u.resolve(r.Left); len(ids) == 1 {
		r.Left = ids[0]
	}
	if ids := u.resolve(r.Right); len(ids) == 1 {
		r.Right = ids[0]
	}
	cursor := textmerge.NewCursor(r.Text)
	pos := 0
	for _, id := range u.resolve(r.At) {
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

func resolvedGone(g GoneRun, u units) (runs []GoneRun) {
	for _, r := range resolvedRun(DecidedRun{At: g.At, Text: g.Text}, u) {
		runs = append(runs, GoneRun{r.At, r.Text})
	}
	return runs
}

// refusal is the lens's reason, which is also ErrRefused.
type refusal struct{ reason error }

// refuse makes an error of the reason for which something cannot be done.
func refuse(reason error) error { return &refusal{reason} }

func (r *refusal) Error() string { return r.reason.Error() }

func (r *refusal) Unwrap() []error { return []error{ErrRefused, r.reason} }
