package review

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/namespace"
	"github.com/relayfs/relayfs/bridge/note"
	"github.com/relayfs/relayfs/bridge/note/planner"
)

const (
	firstUndoScan = 4      // number of journal entries that an undo reads first
	maxUndoScan   = 20_000 // number of journal entries in which an undo looks for a batch
)

// ErrNothingToUndo is the error for a batch or an item that is not in the journal or is already undone, and for a
// session without anything to undo.
var ErrNothingToUndo = errors.New("nothing to undo")

// Undo undoes the decisions of a batch that are not yet undone, or one front matter change. batch is the name of the
// batch in the journal. "" means the newest batch that is not undone, except decisions that no user made
// (Decision.Withdrawn). Later changes in the notes stay.
//
// With ids of suggestions and proposals, or prefixes of ids, Undo undoes only the batch's decisions on these items. If
// batch is "", it undoes the newest decision on each. With a proposal it also undoes the links that a rename rewrites,
// and the proposals about the same names, because they depend on each other. The rest of the batch stays decided.
func (r *Review) Undo(ctx context.Context, batch string, author model.Author, ids ...string) (Outcome, error) {
	if err := r.begin("undo"); err != nil {
		return Outcome{}, err
	}
	defer r.config.Events.EndOp()
	r.ResumeDecisions(context.WithoutCancel(ctx))
	j, err := r.journal(ctx, func(j journalView) bool { return j.hasAllOf(batch, ids) })
	if err != nil {
		return Outcome{}, err
	}
	selected, err := j.find(batch, ids)
	if err != nil {
		return Outcome{}, err
	}
	entries, out := j.selected(selected), newOutcome()
	u, err := r.startUndo(entries, selected, out.Batch, author)
	if err != nil {
		return Outcome{}, err
	}
	r.undoEntries(ctx, j, entries, author, &out)
	r.finish(ctx, u, newOutcome(), &out)
	for _, e := range entries {
		if out.Failed[e.Path] != nil {
			continue
		}
		if len(e.items) > 0 {
			d := *e.Decision
			d.Items, e.Decision = e.items, &d
		}
		out.Undone = append(out.Undone, e.JournalEntry)
	}
	if out.Notes == 0 && len(out.Failed) > 0 {
		_, err = r.journal(ctx, func(j journalView) bool {
			out.Older = j.olderBatch(entries[0].BatchOf())
			return out.Older != ""
		})
	}
	return out, cmp.Or(err, ctx.Err())
}

// startUndo stores the intent of an undo of several entries: the links in front matter that were rewritten for a rename
// must be restored together with the rename.
func (r *Review) startUndo(entries []undoableEntry, s selection, undo string, author model.Author) (intent, error) {
	var u intent
	for _, e := range entries {
		if f := r.tree.Root(e.Root); len(entries) > 1 && !slices.Contains(u.roots, f) {
			u.roots = append(u.roots, f)
		}
	}
	for batch, items := range s {
		d := &model.Decision{Batch: undo, Verdict: model.Undone, By: author.Name, Undoes: batch}
		for id := range items {
			d.Items = append(d.Items, model.DecidedItem{ID: id})
		}
		u.records = append(u.records, model.ProposalRecord{ID: undo + "-" + batch, Kind: model.DecisionStarted, Decision: d})
	}
	return u, r.store(u)
}

func (r *Review) resumeUndo(ctx context.Context, d *model.Decision, out *Outcome) error {
	s := selection{d.Undoes: nil}
	for _, item := range d.Items {
		s.add(d.Undoes, item.ID)
	}
	j, err := r.journal(ctx, func(j journalView) bool { return j.reaches(s) })
	if err == nil {
		r.undoEntries(ctx, j, j.selected(s), model.Author{Name: d.By}, out)
	}
	return err
}

// UndoSession undoes everything in an agent's session that no user has decided on: it rejects pending suggestions and
// proposals, and undoes front matter changes. The Outcome lists what it rejected.
func (r *Review) UndoSession(ctx context.Context, session string, author model.Author) (Outcome, error) {
	if err := r.begin("undo"); err != nil {
		return Outcome{}, err
	}
	defer r.config.Events.EndOp()
	pending, err := r.indexes.SuggestionsWith(ctx, "", func(s *model.Suggestion) bool { return s.Session == session })
	if err != nil {
		return Outcome{}, err
	}
	proposals, err := r.tree.Proposals("")
	if err != nil {
		return Outcome{}, err
	}
	j, err := r.journal(ctx, func(journalView) bool { return false })
	if err != nil {
		return Outcome{}, err
	}
	var entries []undoableEntry
	for _, e := range j.undoable {
		if e.Decision == nil && e.Session == session {
			entries = append(entries, e)
		}
	}
	ids := suggestionIDs(pending)
	for _, p := range slices.Backward(proposals) { // moves into a new folder are rejected before the folder
		if p.Session == session {
			ids = append(ids, p.ID)
		}
	}
	if len(entries)+len(ids) == 0 {
		return Outcome{}, fmt.Errorf("%w: session %s has no pending suggestions or changes of front matter", ErrNothingToUndo, session)
	}
	back := newOutcome()
	r.undoEntries(ctx, j, entries, author, &back)
	out, err := r.decide(ctx, ids, model.Rejected, author, false)
	if err != nil {
		return back, err
	}
	out.Unrestored = back.Unrestored
	maps.Copy(out.Failed, back.Failed)
	for x := range back.changed {
		out.change(x)
	}
	return out, nil
}

// undoEntries undoes journal entries. It first undoes those about proposals, because the links of a rename are restored
// only if the rename is undone, and then the entries of each note, newest first. A proposal may need a note that a
// rejection has removed, so these notes are created before.
func (r *Review) undoEntries(ctx context.Context, j journalView, entries []undoableEntry, author model.Author, out *Outcome) {
	var proposals []model.JournalEntry
	var ofNotes []undoableEntry
	var made []*namespace.Node
	for _, e := range entries {
		if e.proposal() != nil {
			proposals = append(proposals, e.JournalEntry)
			continue
		}
		again, err := r.names.Recreate(ctx, e.JournalEntry)
		if err != nil {
			out.Failed[cmp.Or(e.Path, model.Path(e.ID))] = err
			continue
		}
		made, ofNotes = append(made, again...), append(ofNotes, e)
	}
	if len(proposals) > 0 {
		ctx = context.WithoutCancel(ctx) // links rewritten for a rename must be restored together with it
	}
	failed := r.undoProposals(ctx, j, proposals, author, out)
	nodes := make(map[model.Path]*namespace.Node)
	entriesOf := make(map[model.Path][]undoableEntry) // newest first
	for _, e := range ofNotes {
		e, ok := e.filter(func(x model.DecidedItem) bool { return !failed[x.Proposal] })
		if !ok {
			continue
		}
		if err := r.locate(&e.JournalEntry); err != nil {
			out.Failed[cmp.Or(e.Path, model.Path(e.ID))] = err
			continue
		}
		if e.Path == "" {
			at, err := j.explainMissing(e.JournalEntry)
			out.Failed[at] = err
			continue
		}
		nodes[e.Path] = r.tree.Root(e.Root).Lookup(e.Rel)
		entriesOf[e.Path] = append(entriesOf[e.Path], e)
	}
	var mu sync.Mutex // guards out.Unrestored
	out.collect(ctx, nodes, func(p model.Path) (done noteOutcome, err error) {
		for _, e := range entriesOf[p] {
			n := r.tree.Root(e.Root).Lookup(e.Rel) // another note at p may be proposed to be deleted
			if n == nil || n.Note() == nil {
				_, err := j.explainMissing(e.JournalEntry)
				return done, err
			}
			pending, stays, err := undoNote(ctx, n.Note(), p, e, out.Batch, author)
			mu.Lock()
			out.Unrestored = append(out.Unrestored, stays...)
			mu.Unlock()
			if done.decided = append(done.decided, pending...); err != nil {
				return done, err
			}
		}
		done.changed = true
		return done, nil
	})
	slices.SortStableFunc(out.Unrestored, func(a, b model.Unrestored) int { return strings.Compare(string(a.Path), string(b.Path)) })
	if len(out.Failed) > 0 {
		r.names.RemoveRejected(ctx, made, nil)
	}
	r.followAgain(ctx, j, entries)
}

// locate sets the paths of an entry to the present paths of its note, which an undo of a rename has moved.
func (r *Review) locate(e *model.JournalEntry) error {
	f := r.tree.Root(e.Root)
	at, err := f.Store.DocPath(e.ID)
	if err == nil && at != "" {
		e.Rel = string(at)
		e.Path = shownAt(f, model.JournalEntry{Path: at})
	}
	return err
}

// followAgain makes the links that an undo has restored follow the renames on which users have decided since.
func (r *Review) followAgain(ctx context.Context, j journalView, undone []undoableEntry) {
	if len(undone) == 0 {
		return
	}
	moves := j.moves()
	since := slices.IndexFunc(j.undoable, func(e undoableEntry) bool { return e.Decision == undone[len(undone)-1].Decision })
	for _, e := range slices.Backward(j.undoable[:max(since, 0)]) {
		if e.Decision == nil || e.Decision.Proposal == nil || slices.ContainsFunc(undone, func(x undoableEntry) bool { return x.Decision == e.Decision }) {
			continue
		}
		again := j.withCurrentPaths(e.JournalEntry, moves)
		again.Rel = j.currentRel(e.JournalEntry, moves)
		r.names.FollowAgain(ctx, again)
	}
}

// currentRel returns the path at which the moves have left the node of a decided rename.
func (j journalView) currentRel(e model.JournalEntry, moves []move) string {
	i := slices.IndexFunc(j.all, func(x model.JournalEntry) bool { return x.Decision == e.Decision })
	rel := e.Decision.Proposal.Rel
	if e.Decision.Verdict == model.Accepted {
		rel = e.Decision.Proposal.To()
	}
	for _, m := range moves {
		if m.entry < i && m.folder == e.Root {
			rel = model.Rebased(rel, m.from, m.to)
		}
	}
	return rel
}

// batchKey identifies the entries about proposals of one batch in one root.
type batchKey struct{ root, batch string }

func batchKeyOf(e model.JournalEntry) batchKey { return batchKey{e.Root, e.BatchOf()} }

// undoProposals undoes decisions on proposals. It undoes the decisions of one batch in one root together, newest first.
// It returns the IDs of the proposals that it could not undo.
func (r *Review) undoProposals(ctx context.Context, j journalView, entries []model.JournalEntry, author model.Author, out *Outcome) (stay map[string]bool) {
	stay = make(map[string]bool)
	lists := make(map[batchKey][]model.JournalEntry)
	for _, e := range entries {
		lists[batchKeyOf(e)] = append(lists[batchKeyOf(e)], e)
	}
	moves := j.moves()
	for _, e := range entries {
		list := lists[batchKeyOf(e)]
		if delete(lists, batchKeyOf(e)); len(list) == 0 {
			continue
		}
		back := moves
		for i, e := range list {
			now := j.withCurrentPaths(e, moves).Decision.Proposal
			list[i] = j.withCurrentPaths(e, back)
			list[i].Rel = now.Rel
			if e.Decision.Verdict == model.Accepted {
				list[i].Rel = now.To()
				back = append(back, undoMoves(list[i], list[:i])...)
			}
		}
		again, failed := r.names.Undo(ctx, list, model.Decision{Batch: out.Batch, Verdict: model.Undone, By: author.Name, Undoes: e.BatchOf()})
		out.Proposals = append(out.Proposals, again...)
		for _, p := range r.waiting() {
			if slices.ContainsFunc(again, func(x model.Proposal) bool { return x.ID == p.ID }) {
				out.change(p.Node)
			}
		}
		for _, e := range list {
			if err := failed[e.Decision.Proposal.ID]; err != nil {
				stay[e.Decision.Proposal.ID] = true
				out.Failed[e.Path] = model.WrapError("undo", e.Path, err)
				back = slices.DeleteFunc(back, func(m move) bool { return m.id == e.Decision.Proposal.ID && m.entry < 0 })
			}
		}
		moves = back
	}
	return stay
}

type undoableEntry struct {
	model.JournalEntry
	items []model.DecidedItem // the items to undo, without those already undone
}

func (e undoableEntry) proposal() *model.ProposalRecord {
	if e.Decision == nil {
		return nil
	}
	return e.Decision.Proposal
}

// filter returns the entry reduced to items for which keep is true. An entry without items counts as one item of the
// rename that it follows. ok is false if nothing is left.
func (e undoableEntry) filter(keep func(model.DecidedItem) bool) (_ undoableEntry, ok bool) {
	if len(e.items) == 0 {
		whole := model.DecidedItem{}
		if e.Decision != nil {
			whole.Proposal = e.Decision.Follows
		}
		return e, keep(whole)
	}
	e.items = slices.DeleteFunc(slices.Clone(e.items), func(x model.DecidedItem) bool { return !keep(x) })
	return e, len(e.items) > 0
}

// journalView has the newest journal entries, newest first.
type journalView struct {
	all      []model.JournalEntry
	undoable []undoableEntry // entries that can still be undone
}

// journal reads the newest entries until it has enough of them. It reads every note first: this adds interrupted
// decisions to the journal and finds documents by their texts.
func (r *Review) journal(ctx context.Context, enough func(journalView) bool) (journalView, error) {
	if err := r.indexes.ReadNotes(ctx); err != nil {
		return journalView{}, err
	}
	for limit := firstUndoScan; ; limit = min(4*limit, maxUndoScan) {
		all, more, err := r.newest(limit)
		if err != nil {
			return journalView{}, err
		}
		j := journalView{all: all}
		undos := model.UndosOf(all)
		for _, e := range all {
			if items, ok := undos.Undoable(e); ok {
				j.undoable = append(j.undoable, undoableEntry{e, items})
			}
		}
		if enough(j) || !more || limit == maxUndoScan {
			return j, nil
		}
	}
}

// hasAllOf reports whether older entries do not matter for find.
func (j journalView) hasAllOf(batch string, ids []string) bool {
	if batch != "" {
		return j.reaches(selection{batch: nil})
	}
	s, err := j.find("", ids)
	for _, id := range ids { // a part of an ID may match an older item, too
		if !slices.ContainsFunc(slices.Collect(maps.Values(s)), func(items map[string]bool) bool { return items[id] }) {
			return false
		}
	}
	return err == nil && j.reaches(s)
}

// reaches reports whether j has all entries of the selected batches, and all newer ones. For each of these that is about
// a proposal, it must also have the proposal's batch and the undone batch, which show the moves (see moves).
func (j journalView) reaches(s selection) bool {
	from := uint64(math.MaxUint64)
	for batch := range s {
		from = min(from, model.BatchStart(batch))
	}
	for _, e := range j.all {
		if e.Order > from && e.Decision != nil && e.Decision.Proposal != nil {
			from = min(from, model.BatchStart(e.Decision.Batch))
			if e.Decision.Undoes != "" {
				from = min(from, model.BatchStart(e.Decision.Undoes))
			}
		}
	}
	return from > 0 && len(j.all) > 0 && j.all[len(j.all)-1].Order <= from
}

// move is a move or a removal of a folder, or of a file, by a decision on a proposal.
type move struct {
	folder   string // root that has the node
	id       string // ID of the proposal
	dir      bool
	entry    int // index in journalView.all; -1 if the journal does not have it yet
	from, to string
}

// removedRel is the prefix of the path that moves use for a removed node. The ID of the proposal follows the prefix. No
// other node has such a path, so a removed folder cannot be confused with a later folder at the same path.
const removedRel = "\x00"

// undoMoves lists the moves that undo an accepted rename or deletion. If another proposal of the same batch gave a node a
// temporary name to free the new name of a rename, the node gets its name back.
func undoMoves(e model.JournalEntry, batch []model.JournalEntry) (moves []move) {
	switch rec := e.Decision.Proposal; rec.Kind {
	case model.ProposedDelete:
		moves = []move{{e.Root, rec.ID, rec.Dir, -1, removedRel + rec.ID, rec.Rel}}
	case model.ProposedRename:
		moves = []move{{e.Root, rec.ID, rec.Dir, -1, rec.To(), rec.Rel}}
		at := slices.IndexFunc(batch, func(x model.JournalEntry) bool { return x.Decision == e.Decision })
		if at < 0 {
			at = len(batch)
		}
		for i, x := range batch {
			aside := *x.Decision.Proposal
			if aside.DisplacedName == "" {
				continue
			}
			for i != at { // its path when the name was freed
				if y := batch[i].Decision.Proposal; y.ID != aside.ID && y.Kind == model.ProposedRename {
					aside.Rebase(y.To(), y.Rel)
				}
				i += cmp.Compare(at, i)
			}
			if aside.From() == rec.To() {
				moves = append(moves, move{e.Root, rec.ID, aside.Dir, -1, aside.Rel, rec.To()})
			}
		}
	}
	return moves
}

func (j journalView) moves() (moves []move) {
	batches := make(map[batchKey][]model.JournalEntry)
	for _, e := range j.all {
		if e.Decision != nil && e.Decision.Proposal != nil {
			batches[batchKeyOf(e)] = append(batches[batchKeyOf(e)], e)
		}
	}
	accepts := func(e model.JournalEntry) bool { return e.Decision.Verdict == model.Accepted }
	for k, e := range slices.Backward(j.all) {
		if e.Decision == nil || e.Decision.Proposal == nil {
			continue
		}
		back := undoMoves(e, batches[batchKeyOf(e)])
		for i := range back {
			back[i].entry = k
		}
		switch {
		case accepts(e):
			for _, m := range slices.Backward(back) {
				m.from, m.to = m.to, m.from
				moves = append(moves, m)
			}
		case slices.ContainsFunc(batches[batchKey{e.Root, e.Decision.Undoes}], accepts):
			moves = append(moves, back...)
		}
	}
	return moves
}

// withCurrentPaths returns an entry about a proposal with its paths updated by moves. An accepted proposal names a
// moved or removed node by its old path, which another node may have now, so only the folder of that path is updated.
// The path of a changed file is updated completely, because the file's content identifies it.
func (j journalView) withCurrentPaths(e model.JournalEntry, moves []move) model.JournalEntry {
	if len(moves) == 0 {
		return e
	}
	i := slices.IndexFunc(j.all, func(x model.JournalEntry) bool { return x.Decision == e.Decision })
	d, rec := *e.Decision, *e.Decision.Proposal
	changed := d.Verdict == model.Accepted && rec.Kind == model.ProposedFile
	renamed := d.Verdict == model.Accepted && rec.Kind == model.ProposedRename
	if renamed { // paths in the node are below its new path while the moves apply
		rec.RebaseOthers(rec.Rel, rec.To())
	}
	for _, m := range moves {
		if m.entry >= i || m.folder != e.Root || !m.dir && !changed {
			continue
		}
		if d.Verdict != model.Accepted || rec.Rel == "" || changed {
			rec.Rebase(m.from, m.to)
			continue
		}
		rec.Rel = path.Join(model.Rebased(path.Dir(rec.Rel), m.from, m.to), path.Base(rec.Rel))
		rec.ToDir = model.Rebased(rec.ToDir, m.from, m.to)
		rec.RebaseOthers(m.from, m.to)
	}
	if renamed {
		rec.RebaseOthers(rec.To(), rec.Rel)
	}
	for _, m := range slices.Backward(moves) { // a user may have created a removed folder again
		if strings.HasPrefix(m.to, removedRel) {
			rec.Rebase(m.to, m.from)
		}
	}
	d.Proposal, e.Decision = &rec, &d
	return e
}

// selection has the items to undo by batch; nil for all items of a batch.
type selection map[string]map[string]bool

func (s selection) add(batch, item string) {
	if s[batch] == nil {
		s[batch] = make(map[string]bool)
	}
	s[batch][item] = true
}

func (j journalView) selected(s selection) (entries []undoableEntry) {
	for _, e := range j.undoable {
		items, ok := s[e.BatchOf()]
		if ok && items != nil {
			e, ok = e.filter(func(x model.DecidedItem) bool { return items[x.ID] || items[x.Proposal] })
		}
		if ok {
			entries = append(entries, e)
		}
	}
	return entries
}

// find selects the items with the given IDs in the batch of the newest undoable decision on each item, and the
// proposals of that batch that concern the same names. Without ids it selects everything undoable in the batch, or, if
// batch is "", in the newest batch that a user decided.
func (j journalView) find(batch string, ids []string) (selection, error) {
	if len(ids) > 0 {
		return j.ofItems(ids, batch)
	}
	for _, e := range j.undoable {
		if name := e.BatchOf(); name == batch || batch == "" && !e.Withdrawn() {
			return selection{name: nil}, nil
		}
	}
	if batch == "" {
		return nil, ErrNothingToUndo
	}
	if slices.ContainsFunc(j.all, func(e model.JournalEntry) bool { return e.BatchOf() == batch }) {
		return nil, fmt.Errorf("%w: batch %s has already been undone", ErrNothingToUndo, batch)
	}
	return nil, fmt.Errorf("%w: there is no batch %s", ErrNothingToUndo, batch)
}

func (j journalView) ofItems(ids []string, batch string) (selection, error) {
	s := make(selection)
	for _, id := range ids {
		item, in, err := j.item(id, batch)
		if err != nil {
			return nil, err
		}
		s.add(in, item)
	}
	for batch, items := range s {
		j.addConflicting(batch, items)
	}
	return s, nil
}

// addConflicting adds to items the proposals of the batch that concern the same names as one of the items.
func (j journalView) addConflicting(batch string, items map[string]bool) {
	var met, others []undoableEntry
	for _, e := range j.undoable {
		switch {
		case e.BatchOf() != batch || e.Decision == nil || e.Decision.Proposal == nil:
		case items[e.Decision.Proposal.ID]:
			met = append(met, e)
		default:
			others = append(others, e)
		}
	}
	for i := 0; i < len(met); i++ {
		others = slices.DeleteFunc(others, func(e undoableEntry) bool {
			if e.Root != met[i].Root || !e.Decision.Proposal.Overlaps(met[i].Decision.Proposal) {
				return false
			}
			met, items[e.Decision.Proposal.ID] = append(met, e), true
			return true
		})
	}
}

// item returns the item whose ID begins with id, and the batch of the newest undoable decision on it.
func (j journalView) item(id, batch string) (item, in string, err error) {
	for _, e := range j.undoable {
		if batch != "" && e.BatchOf() != batch {
			continue
		}
		for _, x := range e.items {
			switch {
			case !strings.HasPrefix(x.ID, id) || x.ID == item:
			case item != "":
				return "", "", model.RefusedError(fmt.Errorf("%q matches several ids, %s and %s: give more characters", id, item, x.ID))
			default:
				item, in = x.ID, e.BatchOf()
			}
		}
	}
	if item != "" {
		return item, in, nil
	}
	for _, e := range j.all {
		if e.Decision != nil && (batch == "" || e.BatchOf() == batch) && slices.ContainsFunc(e.Decision.Items, func(x model.DecidedItem) bool { return strings.HasPrefix(x.ID, id) }) {
			return "", "", fmt.Errorf("%w: %s has already been undone", ErrNothingToUndo, id)
		}
	}
	return "", "", fmt.Errorf("%w: there is no decision on %s", ErrNothingToUndo, id)
}

// olderBatch returns the newest undoable batch of a user that is older than the given batch, or "" if there is none.
func (j journalView) olderBatch(batch string) string {
	passed := false
	for _, e := range j.undoable {
		name := e.BatchOf()
		if passed && name != batch && !e.Withdrawn() {
			return name
		}
		passed = passed || name == batch
	}
	return ""
}

// explainMissing returns an error that explains why nothing can be undone in a note that does not exist, and what the
// user can do.
func (j journalView) explainMissing(e model.JournalEntry) (model.Path, error) {
	at := cmp.Or(e.Path, model.Path(e.ID))
	err := planner.ErrNoteGone
	for _, other := range j.undoable {
		d := other.Decision
		if d == nil || d.Proposal == nil || d.Verdict != model.Accepted || d.Proposal.Kind != model.ProposedDelete || d.Proposal.Doc != e.ID || other.Root != e.Root {
			continue
		}
		at = other.Path
		err = fmt.Errorf("cannot be undone: the note has since been deleted; restore it first with 'relayfs suggestions undo %s'", d.Proposal.ID)
	}
	return at, model.WrapError("undo", at, model.RefusedError(err))
}

// undoNote undoes items of one entry in the note n. p is the note's path, or its path before its deletion was proposed.
// undoNote returns the suggestions that are pending again, and the text that could not be restored.
func undoNote(ctx context.Context, n *note.Note, p model.Path, e undoableEntry, batch string, author model.Author) ([]model.Suggestion, []model.Unrestored, error) {
	// First reject the link rewrites inside text that becomes pending. Links in pending text are rewritten in place
	// when the rename is accepted.
	_, err := n.Change(ctx, note.Change{Path: p, By: author, Plan: func(l *note.Locked, current *model.Version) (planner.Plan, error) {
		ids, err := l.LinksWithin(current, e.JournalEntry, e.items)
		if err != nil || len(ids) == 0 {
			return planner.Plan{}, err
		}
		list, x, err := l.Suggestions(p, current)
		if err != nil {
			return planner.Plan{}, err
		}
		links := slices.DeleteFunc(slices.Clone(list), func(s model.Suggestion) bool { return !slices.Contains(ids, s.ID) })
		return planner.Decide(current, x, links, model.Decision{Batch: model.NewBatch(), Verdict: model.Rejected, By: author.Name, Withdrawn: true}, nil), nil
	}})
	if err != nil {
		return nil, nil, err
	}
	var away []model.Unrestored
	res, err := n.Change(ctx, note.Change{Path: p, By: author, Plan: func(l *note.Locked, current *model.Version) (plan planner.Plan, err error) {
		d := model.Decision{Batch: batch, Verdict: model.Undone, By: author.Name, Undoes: e.BatchOf(), UndoesSeq: e.Seq, Items: e.items}
		if plan, err = l.PlanUndo(ctx, current, e.JournalEntry, d); err == nil {
			away = slices.Clone(plan.Decision.Unrestored)
		}
		return plan, err
	}})
	if err != nil || !res.Changed {
		return nil, nil, err
	}
	for i := range away {
		away[i].Path = p
	}
	if len(e.items) == 0 {
		return nil, away, nil
	}
	pending, err := n.PendingOf(ctx, p, res, e.items)
	return pending, away, err
}
