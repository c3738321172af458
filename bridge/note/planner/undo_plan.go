package planner

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/textmerge"
)

func (t *Undo) plan() (Plan, error) {
	if !t.frontMatterIntact() {
		return Plan{}, model.RefusedError(errFrontMatterChanged)
	}
	if t.commentLen > 0 {
		return Plan{}, model.RefusedError(errCommentChanged)
	}
	wants, changed := t.targets()
	p := printer{Undo: t, targets: wants}
	p.print()
	if !changed && !t.commentPending {
		return Plan{}, t.nothingToUndo()
	}
	for _, w := range wants {
		if w.run < 0 || t.runs[w.run].Role == model.RoleLineBreakRemoved {
			continue
		}
		if w.kind == textItem && w.mark >= 0 && !w.changed && !t.layout.MarkOwners[w.mark].ByAgent {
			continue // a user has put it into a mark since the decision
		}
		if !w.deleted && w.key.decided && w.fact.IsPending() {
			t.decision.Plain = append(t.decision.Plain, w.id)
		}
		t.decision.Again = append(t.decision.Again, model.DecidedRun{At: w.first, Role: t.runs[w.run].Role})
	}
	raw, old, known := p.raw.String(), t.current.Raw(), t.current.RawKnown()
	plan := Plan{Record: model.Record{Decision: &t.decision}, Edits: p.edits, Placements: p.placed}
	want := known.MarksOf(old).Without(t.openedComments...).AfterEdits(old, p.edits).And(p.marked...) // every mark stays one, even in text that becomes code
	plan.keepMarks(known.AfterEdits(old, p.edits).And(p.opened...), want, raw)
	t.decision.Remaps = p.remaps
	plan.Known = plan.Known.Read(raw)
	return plan, p.check(raw, plan.Known)
}

// nothingToUndo returns the refusal of an undo that can restore nothing.
func (t *Undo) nothingToUndo() error {
	if len(t.decision.Unrestored) == 0 {
		return model.RefusedError(errors.New("there is nothing left to undo"))
	}
	return model.RefusedError(fmt.Errorf("cannot be undone: %s; its text is in 'relayfs suggestions log'", t.decision.Unrestored[0]))
}

// frontMatterIntact reports whether the front matter still has everything that the write put there.
func (t *Undo) frontMatterIntact() bool {
	if t.entry.FrontMatter == nil {
		return true
	}
	there := true
	for _, r := range t.entry.FrontMatter.Typed {
		for _, first := range t.table.OriginalIDs(r) {
			t.present.Each(first, func(_ model.IDRange, _ bool, ok bool) { there = there && ok })
		}
	}
	return there
}

type target struct {
	item
	shown    bool
	restored bool
	changed  bool
	key      inMark
}

// inMark identifies a mark of the current note or a decided mark. n is -1 for text without a mark.
type inMark struct {
	decided bool
	n       int
}

var noMark = inMark{n: -1}

// targets plans the new state of every item. changed reports whether the undo has an effect.
func (t *Undo) targets() (list []target, changed bool) {
	run := func(w target) model.Role { return t.runs[w.run].Role } // role of a deleted item
	list = make([]target, 0, len(t.items))
	for i, x := range t.items {
		if !x.deleted {
			w := t.targetOfPresent(x)
			changed = changed || w.changed
			list = append(list, w)
			continue
		}
		t.itemOf.Each(x.first, func(part model.IDRange, at int, _ bool) {
			if at != i {
				return // the text was restored and deleted again since
			}
			t.present.Each(part, func(part model.IDRange, _ bool, live bool) {
				if live {
					return
				}
				one := x
				one.id, one.first = x.id.Part(part.Clock-x.first.Clock, part.Len), part
				w := t.targetOfDeleted(one)
				changed = changed || w.shown && (w.kind == textItem && run(w) != model.RoleLineBreakRemoved || run(w) == model.RoleCommentRejected || run(w) == model.RoleCommentResolved)
				list = append(list, w)
			})
		})
	}
	back := make(map[int]bool) // items that are pending again
	for _, w := range list {
		switch {
		case !w.shown:
		case w.key.decided:
			back[t.marks[w.key.n].Item] = true
		case w.restored && run(w) == model.RoleCommentRejected:
			back[t.marks[t.runs[w.run].Mark].Item] = true
		}
	}
	for i := range list { // text removed with a suggestion returns with it
		switch w := &list[i]; {
		case !w.restored:
		case run(*w) == model.RoleLineBreakRemoved:
			w.shown, w.restored = len(back) > 0, len(back) > 0
		case w.kind == syntaxItem && run(*w) != model.RoleCommentResolved && !back[t.marks[t.runs[w.run].Mark].Item]:
			w.shown, w.restored = false, false
		}
	}
	return list, changed
}

// targetOfPresent plans for text that exists: text that the decision accepted or kept is pending again.
func (t *Undo) targetOfPresent(x item) target {
	w := target{item: x, shown: true, key: noMark}
	if x.run >= 0 && t.runs[x.run].Role == model.RoleCommentAdded {
		w.shown, w.changed = false, true
	}
	if w.kind != textItem {
		return w
	}
	w.key.n = x.mark
	if x.run < 0 {
		return w
	}
	run := t.runs[x.run]
	fact := *x.fact
	if x.mark < 0 { // a user of a server's note has removed the delimiters of the marks that were here
		fact = fact.Settled()
	}
	again := fact.Again(run.Role, t.entry.Seq)
	o, a := again.InViews()
	w.inOriginal, w.inAccepted = x.inOriginal && o, x.inAccepted && a
	w.changed = w.inOriginal != x.inOriginal || w.inAccepted != x.inAccepted
	w.shown = w.inOriginal || w.inAccepted
	switch {
	case !w.changed:
	case !w.shown && run.Role != model.RoleReplacement:
		t.addUnrestored(x.text, t.proposer(x)+" proposes to delete it")
		t.decision.Runs = append(t.decision.Runs, model.DecidedRun{At: x.id, Role: model.RoleAbsorbed})
	case w.key.n < 0:
		w.key = inMark{true, run.Mark}
	}
	return w
}

func (t *Undo) proposer(x item) string {
	if x.mark >= 0 {
		return cmp.Or(t.layout.MarkOwners[x.mark].Author(), "another author")
	}
	return "another author"
}

func (t *Undo) targetOfDeleted(x item) target {
	w := target{item: t.extended(x), key: noMark}
	if w.text == "" {
		return w
	}
	run := t.runs[x.run]
	if x.since > t.order { // a later save or undo restored the text, and it was deleted again
		t.addUnrestored(w.text, deletedByPeople)
		return w
	}
	switch run.Role {
	case model.RoleReplacement, model.RoleCommentAdded:
	case model.RoleCommentAccepted:
		t.addUnrestored(w.text, deletedByPeople)
	case model.RoleAdditionAccepted, model.RoleDeletionRejected:
		if x.fact.IsDecidedAway() {
			t.addUnrestored(w.text, laterDecision)
		} else {
			t.addUnrestored(w.text, deletedByPeople)
		}
	case model.RolePlainRemoved:
		w.shown, w.inOriginal, w.inAccepted = true, true, true
	default:
		if t.removed(run.Left) && t.removed(run.Right) {
			t.addUnrestored(w.text, aroundDeleted)
			t.decision.Runs = append(t.decision.Runs, model.DecidedRun{At: x.id, Role: model.RoleContextDeleted})
			return w
		}
		switch run.Role {
		case model.RoleCommentRemoved, model.RoleCommentRejected, model.RoleCommentResolved:
			w.kind, w.shown, w.restored = syntaxItem, true, true
			return w
		case model.RoleLineBreakRemoved:
			w.shown, w.restored, w.inOriginal, w.inAccepted = true, true, true, true
			return w
		}
		again := x.fact.Again(run.Role, t.entry.Seq)
		w.inOriginal, w.inAccepted = again.InViews()
		if w.shown = w.inOriginal || w.inAccepted; !w.shown {
			t.addUnrestored(w.text, laterDecision)
		}
		w.key = inMark{true, run.Mark}
	}
	w.restored = w.shown
	return w
}

// extended returns a deleted item with its text, extended to whole characters. If a user has typed between the two
// UTF-16 units of a character, the item with its last unit has the whole character.
func (t *Undo) extended(x item) item {
	run := t.runs[x.run]
	if run.Text == "" {
		return x
	}
	cursor := textmerge.NewCursor(run.Text)
	done := uint64(0)
	for _, first := range t.table.OriginalIDs(run.At) {
		if x.first.StartsIn(first) {
			from := int(done + x.first.Clock - first.Clock)
			off, start := cursor.WholeAt(from)
			end, to := cursor.WholeAt(from + int(x.first.Len))
			x.text = run.Text[off:end]
			x.id = model.IDRange{Client: x.id.Client, Clock: x.id.Clock - uint64(from-start), Len: uint64(to - start)}
			x.first = model.IDRange{Client: x.first.Client, Clock: x.first.Clock - uint64(from-start), Len: uint64(to - start)}
			return x
		}
		done += first.Len
	}
	return x
}

// removed reports whether users deleted the character, or the author of the character withdrew it.
func (t *Undo) removed(r model.IDRange) bool {
	if r.Len == 0 {
		return false // start or end of the note
	}
	if t.present.Has(t.table.OriginalIDs(r)[0]) {
		return false
	}
	fact := t.table.At(r)
	return !fact.Undone && !fact.IsDecidedAway() || fact.Displaced
}

func (t *Undo) addUnrestored(text, why string) {
	if n := len(t.decision.Unrestored) - 1; n >= 0 && t.decision.Unrestored[n].Why == why {
		t.decision.Unrestored[n].Text += text
		return
	}
	t.decision.Unrestored = append(t.decision.Unrestored, model.Unrestored{Text: text, Why: why})
}
