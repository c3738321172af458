package planner

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/textmerge"
)

func (t *takeback) plan() (Plan, error) {
	if !t.mattersAreThere() {
		return Plan{}, model.Refuse(errMatterChanged)
	}
	if t.remark > 0 {
		return Plan{}, model.Refuse(errRemarkChanged)
	}
	wants, changed := t.wants()
	p := printer{takeback: t, wants: wants}
	p.print()
	if !changed && !t.waits {
		return Plan{}, t.nothing()
	}
	for _, w := range wants {
		if !w.gone && w.key.decided {
			t.d.Plain = append(t.d.Plain, w.id)
		}
	}
	plan := Plan{Edits: p.edits, Placed: p.placed, Decision: t.d}
	t.d.Revived = p.revived
	return plan, p.check()
}

// nothing returns the refusal of an undo that can restore nothing.
func (t *takeback) nothing() error {
	if len(t.d.Away) == 0 {
		return model.Refuse(errors.New("there is nothing left to undo"))
	}
	return model.Refuse(fmt.Errorf("cannot be undone: %s; its text is in 'relayfs suggestions log'", t.d.Away[0]))
}

// mattersAreThere reports whether the front matter still has everything that the write
// put there.
func (t *takeback) mattersAreThere() bool {
	if t.entry.FrontMatter == nil {
		return true
	}
	there := true
	for _, r := range t.entry.FrontMatter.Typed {
		for _, first := range t.table.Firsts(r) {
			t.live.Each(first, func(_ model.IDRun, _ bool, ok bool) { there = there && ok })
		}
	}
	return there
}

type want struct {
	item
	shown   bool
	revived bool
	changed bool
	key     inMark
}

// inMark names a mark of the current note, or a decided one; n is -1 for none.
type inMark struct {
	decided bool
	n       int
}

var noMark = inMark{n: -1}

// wants decides on every item. changed reports whether the undo has an effect.
func (t *takeback) wants() (list []want, changed bool) {
	run := func(w want) model.Role { return t.runs[w.run].Role } // role of a deleted item
	for i, x := range t.items {
		if !x.gone {
			w := t.wantLive(x)
			changed = changed || w.changed
			list = append(list, w)
			continue
		}
		t.home.Each(x.first, func(part model.IDRun, at int, _ bool) {
			if at != i {
				return // it was restored and deleted again since
			}
			t.live.Each(part, func(part model.IDRun, _ bool, live bool) {
				if live {
					return
				}
				one := x
				one.id, one.first = x.id.Part(part.Clock-x.first.Clock, part.Len), part
				w := t.wantGone(one)
				changed = changed || w.shown && (w.kind == contentItem && run(w) != model.TakenBreak || run(w) == model.RejectedComment || run(w) == model.ResolvedComment)
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
		case w.revived && run(w) == model.RejectedComment:
			back[t.marks[t.runs[w.run].Mark].Item] = true
		}
	}
	for i := range list { // text removed with a suggestion returns with it
		switch w := &list[i]; {
		case !w.revived:
		case run(*w) == model.TakenBreak:
			w.shown, w.revived = len(back) > 0, len(back) > 0
		case w.kind == furnitureItem && run(*w) != model.ResolvedComment && !back[t.marks[t.runs[w.run].Mark].Item]:
			w.shown, w.revived = false, false
		}
	}
	return list, changed
}

// wantLive decides on text that exists: text that the decision accepted or kept is pending again.
func (t *takeback) wantLive(x item) want {
	w := want{item: x, shown: true, key: noMark}
	if x.run >= 0 && t.runs[x.run].Role == model.Remarked {
		w.shown, w.changed = false, true
	}
	if w.kind != contentItem {
		return w
	}
	w.key.n = x.mark
	if x.run < 0 {
		return w
	}
	run := t.runs[x.run]
	again := x.is.Again(run.Role, t.entry.Seq)
	switch run.Role {
	case model.AcceptedAddition:
		w.o = w.o && again.Pending(false) == nil
	case model.RejectedDeletion:
		w.a = w.a && again.Pending(true) == nil
	case model.TypedInstead:
		w.o, w.a = false, false
	}
	w.changed = w.o != x.o || w.a != x.a
	w.shown = w.o || w.a
	switch {
	case !w.changed:
	case !w.shown && run.Role != model.TypedInstead:
		t.away(x.text, t.proposer(x)+" proposes to delete it")
		t.d.Runs = append(t.d.Runs, model.DecidedRun{At: x.id, Role: model.Absorbed})
	case w.key.n < 0:
		w.key = inMark{true, run.Mark}
	}
	return w
}

func (t *takeback) proposer(x item) string {
	if x.mark >= 0 {
		return cmp.Or(t.x.Owners[x.mark].Author(), "another author")
	}
	return "another author"
}

func (t *takeback) wantGone(x item) want {
	w := want{item: t.whole(x), key: noMark}
	if w.text == "" {
		return w
	}
	run := t.runs[x.run]
	if x.since > t.entry.Seq { // a later save or undo restored it, and it was deleted again
		t.away(w.text, deletedByPeople)
		return w
	}
	o, a := x.is.Shown()
	switch run.Role {
	case model.TypedInstead, model.Remarked:
	case model.AcceptedComment:
		t.away(w.text, deletedByPeople)
	case model.AcceptedAddition, model.RejectedDeletion:
		if o || a {
			t.away(w.text, deletedByPeople)
		} else {
			t.away(w.text, laterDecision)
		}
	case model.RemovedPlain:
		w.shown, w.o, w.a = true, true, true
	default:
		if t.removed(run.Left) && t.removed(run.Right) {
			t.away(w.text, aroundDeleted)
			t.d.Runs = append(t.d.Runs, model.DecidedRun{At: x.id, Role: model.Covered})
			return w
		}
		switch run.Role {
		case model.TakenAlong, model.TakenAlongOlder, model.RejectedComment, model.ResolvedComment:
			w.kind, w.shown, w.revived = furnitureItem, true, true
			return w
		case model.TakenBreak:
			w.shown, w.revived, w.o, w.a = true, true, true, true
			return w
		}
		again := x.is.Again(run.Role, t.entry.Seq)
		w.o, w.a = again.Shown()
		if w.shown = w.o || w.a; !w.shown {
			t.away(w.text, laterDecision)
		}
		w.key = inMark{true, run.Mark}
	}
	w.revived = w.shown
	return w
}

// whole returns a deleted item with its text, extended to whole characters. If a user has typed between the two units
// of a character, that character goes with its last unit.
func (t *takeback) whole(x item) item {
	run := t.runs[x.run]
	if run.Text == "" {
		return x
	}
	cursor := textmerge.NewCursor(run.Text)
	done := uint64(0)
	for _, first := range t.table.Firsts(run.At) {
		if first.Client == x.first.Client && first.Clock <= x.first.Clock && x.first.Clock < first.Clock+first.Len {
			from := int(done + x.first.Clock - first.Clock)
			off, start := cursor.WholeAt(from)
			end, to := cursor.WholeAt(from + int(x.first.Len))
			x.text = run.Text[off:end]
			x.id = model.IDRun{Client: x.id.Client, Clock: x.id.Clock - uint64(from-start), Len: uint64(to - start)}
			x.first = model.IDRun{Client: x.first.Client, Clock: x.first.Clock - uint64(from-start), Len: uint64(to - start)}
			return x
		}
		done += first.Len
	}
	return x
}

// removed reports whether users deleted the character, or its author withdrew it.
func (t *takeback) removed(r model.IDRun) bool {
	if r.Len == 0 {
		return false // start or end of the note
	}
	if t.live.Has(t.table.Firsts(r)[0]) {
		return false
	}
	is := t.table.At(r)
	o, a := is.Shown()
	return !is.Undone && (o || a) || is.Dead
}

func (t *takeback) away(text, why string) {
	if n := len(t.d.Away) - 1; n >= 0 && t.d.Away[n].Why == why {
		t.d.Away[n].Text += text
		return
	}
	t.d.Away = append(t.d.Away, model.Away{Text: text, Why: why})
}
