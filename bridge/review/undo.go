package review

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/note"
	"github.com/relayfs/relayfs/bridge/planner"
)

// undoReach is how far back Undo looks for the batch it is given.
const undoReach = 20_000

// ErrNothingToUndo says that the journal has no such batch, or that it has been
// taken back already.
var ErrNothingToUndo = errors.New("nothing to undo")

// Undo takes back a batch of decisions, or one front matter change, by its name
// in the journal; "" means the newest that has not been taken back, other than
// what no person decided (Decision.Lapsed). What was written in the notes since
// stays.
func (r *Review) Undo(ctx context.Context, batch string, by model.Author) (Outcome, error) {
	if err := r.begin("undo"); err != nil {
		return Outcome{}, err
	}
	defer r.c.Activity.Done()
	if _, err := r.indexes.Suggestions(ctx, ""); err != nil { // what a crash interrupted comes into the journal
		return Outcome{}, err
	}
	journal, err := r.Journal(undoReach)
	if err != nil {
		return Outcome{}, err
	}
	entries := undoable(journal, batch)
	switch {
	case len(entries) > 0:
	case batch == "":
		return Outcome{}, ErrNothingToUndo
	default:
		return Outcome{}, fmt.Errorf("%w: batch %s", ErrNothingToUndo, batch)
	}
	out := newOutcome()
	r.takeBack(ctx, journal, entries, by, &out)
	if out.Notes == 0 && len(out.Failed) > 0 {
		out.Older = olderBatch(journal, entries[0].BatchOf())
	}
	return out, ctx.Err()
}

// UndoSession takes back all that a session of an author did and nobody has decided on: it rejects what waits,
// and takes back changes of front matter. The Outcome has what was rejected.
func (r *Review) UndoSession(ctx context.Context, session string, by model.Author) (Outcome, error) {
	if err := r.begin("undo"); err != nil {
		return Outcome{}, err
	}
	defer r.c.Activity.Done()
	pending, err := r.indexes.Suggestions(ctx, "")
	if err != nil {
		return Outcome{}, err
	}
	proposals, err := r.tree.Proposals("")
	if err != nil {
		return Outcome{}, err
	}
	journal, err := r.Journal(undoReach)
	if err != nil {
		return Outcome{}, err
	}
	var entries []model.JournalEntry
	for e := range notUndone(journal) {
		if e.Decision == nil && e.Session == session {
			entries = append(entries, e)
		}
	}
	var ids []string
	for _, s := range pending {
		if s.Session == session {
			ids = append(ids, s.ID)
		}
	}
	for _, p := range slices.Backward(proposals) { // a folder that was made goes after what was moved into it
		if p.Session == session {
			ids = append(ids, p.ID)
		}
	}
	if len(entries)+len(ids) == 0 {
		return Outcome{}, fmt.Errorf("%w: session %s", ErrNothingToUndo, session)
	}
	back := newOutcome()
	r.takeBack(ctx, journal, entries, by, &back)
	out, err := r.decide(ctx, ids, model.Rejected, by, false)
	if err != nil {
		return back, err
	}
	out.Away = back.Away
	maps.Copy(out.Failed, back.Failed)
	changed := make(map[model.Path]bool) // each counts once, whatever was taken back in it
	for _, e := range entries {
		changed[e.Path] = true
	}
	for _, s := range out.Decided {
		changed[s.Path] = true
	}
	for _, p := range out.Proposals {
		changed[cmp.Or(p.NewPath, p.Path)] = true
	}
	maps.DeleteFunc(changed, func(p model.Path, _ bool) bool { return out.Failed[p] != nil })
	out.Notes = len(changed)
	return out, nil
}

// takeBack takes back entries of the journal, the newest of a note first.
func (r *Review) takeBack(ctx context.Context, journal, entries []model.JournalEntry, by model.Author, out *Outcome) {
	byNote := make(map[model.Path][]string)
	entriesOf := make(map[model.Path][]model.JournalEntry) // newest first
	var proposals []model.JournalEntry
	for _, e := range entries {
		if e.Decision != nil && e.Decision.Proposal != nil {
			proposals = append(proposals, e)
			continue
		}
		if e.Path == "" {
			at, err := whyGone(journal, e)
			out.Failed[at] = err
			continue
		}
		byNote[e.Path], entriesOf[e.Path] = nil, append(entriesOf[e.Path], e)
	}
	var mu sync.Mutex // protects out.Away
	out.collect(ctx, byNote, func(p model.Path) (again []model.Suggestion, err error) {
		for _, e := range entriesOf[p] {
			if err := r.names.CreateAgain(ctx, e); err != nil {
				return again, err
			}
			n := r.tree.Folder(e.Folder).Lookup(e.Rel) // where people have it: it may be proposed to be deleted
			if n == nil || n.Note == nil {
				_, err := whyGone(journal, e)
				return again, err
			}
			pending, stays, err := undoNote(ctx, n.Note, p, e, out.Batch, by)
			mu.Lock()
			out.Away = append(out.Away, stays...)
			mu.Unlock()
			if again = append(again, pending...); err != nil {
				return again, err
			}
		}
		return again, nil
	})
	slices.SortStableFunc(out.Away, func(a, b model.Away) int { return strings.Compare(string(a.Path), string(b.Path)) })
	r.undoProposals(ctx, proposals, by, out)
}

// undoProposals takes back decisions on proposals of one batch, those of each Folder together.
func (r *Review) undoProposals(ctx context.Context, entries []model.JournalEntry, by model.Author, out *Outcome) {
	ctx = context.WithoutCancel(ctx)
	byFolder := make(map[string][]model.JournalEntry)
	for _, e := range entries {
		byFolder[e.Folder] = append(byFolder[e.Folder], e)
	}
	for _, list := range byFolder {
		again, failed := r.names.Undo(ctx, list, model.Decision{Batch: out.Batch, Verdict: model.Undone, By: by.Name, Undoes: list[0].Decision.Batch})
		out.Proposals = append(out.Proposals, again...)
		out.Notes += len(again)
		maps.Copy(out.Failed, failed)
	}
}

// undoable are the entries of a batch that has not been taken back, or of the
// newest such batch that a person decided.
func undoable(journal []model.JournalEntry, batch string) []model.JournalEntry {
	var entries []model.JournalEntry
	for e := range notUndone(journal) {
		name := e.BatchOf()
		if batch == "" && !e.Lapsed() {
			batch = name
		}
		if name == batch {
			entries = append(entries, e)
		}
	}
	return entries
}

// olderBatch is the newest batch before the one named that a person decided and
// nobody has taken back, "" if there is none.
func olderBatch(journal []model.JournalEntry, batch string) string {
	passed := false
	for e := range notUndone(journal) {
		name := e.BatchOf()
		if passed && name != batch && !e.Lapsed() {
			return name
		}
		passed = passed || name == batch
	}
	return ""
}

// notUndone yields the entries that have not been taken back and take nothing back.
// Of a batch in several Folders, a client that reaches some of them takes back
// those only.
func notUndone(journal []model.JournalEntry) iter.Seq[model.JournalEntry] {
	type part struct{ folder, batch string }
	return func(yield func(model.JournalEntry) bool) {
		undone := make(map[part]bool)
		for _, e := range journal {
			if e.Decision != nil && e.Decision.Verdict == model.Undone {
				undone[part{e.Folder, e.Decision.Undoes}] = true
			} else if !undone[part{e.Folder, e.BatchOf()}] && !yield(e) {
				return
			}
		}
	}
}

// whyGone says why nothing can be taken back in a note that is not there, and what can
// be done.
func whyGone(journal []model.JournalEntry, e model.JournalEntry) (model.Path, error) {
	at := cmp.Or(e.Path, model.Path(e.ID))
	err := planner.ErrNoteGone
	for other := range notUndone(journal) {
		d := other.Decision
		if d == nil || d.Proposal == nil || d.Verdict != model.Accepted || d.Proposal.Doc != e.ID || other.Folder != e.Folder {
			continue
		}
		at = other.Path
		err = fmt.Errorf("cannot be taken back: the note was deleted since; 'relayfs suggestions undo %s' brings it back first", d.Batch)
	}
	return at, model.WrapError("undo", at, planner.Refuse(err))
}

// undoNote takes back one entry in its note, which is shown or was at p, and returns the
// suggestions that are pending again, and what of it could not come back.
func undoNote(ctx context.Context, n *note.Note, p model.Path, e model.JournalEntry, batch string, by model.Author) ([]model.Suggestion, []model.Away, error) {
	var had []model.Suggestion
	var away []model.Away
	res, err := n.Change(ctx, note.Change{Path: p, By: by, Plan: func(l *note.Locked, cur *model.Version) (plan planner.Plan, err error) {
		if had, _, err = l.Suggestions(p, cur); err != nil {
			return planner.Plan{}, err
		}
		d := &model.Decision{Batch: batch, Verdict: model.Undone, By: by.Name, Undoes: e.BatchOf(), UndoesSeq: e.Seq}
		if e.Decision != nil {
			d.Items = e.Decision.Items
		}
		plan, err = l.TakeBack(ctx, cur, e, d)
		away = slices.Clone(d.Away)
		return plan, err
	}})
	if err != nil || !res.Changed {
		return nil, nil, err
	}
	for i := range away {
		away[i].Path = p
	}
	if e.Decision == nil {
		return nil, away, nil
	}
	pending, err := n.Suggestions(ctx, p)
	before := make(map[string]*model.Suggestion, len(had))
	for i := range had {
		before[had[i].ID] = &had[i]
	}
	return slices.DeleteFunc(pending, func(s model.Suggestion) bool {
		h := before[s.ID]
		return h != nil && h.Old == s.Old && h.New == s.New
	}), away, err
}
