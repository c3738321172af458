package bridge

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
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/note"
	"github.com/relayfs/relayfs/bridge/planner"
)

// Outcome says what a Decide or an Undo did.
type Outcome struct {
	Batch     string // names it for Undo and in the journal
	Decided   []model.Suggestion
	Proposals []model.Proposal     // that were decided on, as they were before
	Missing   []string             // ids that nothing pending has (any more)
	Failed    map[model.Path]error // notes and proposals that could not be changed; they are as they were
	Notes     int                  // notes that changed
	Away      []model.Away         // what an Undo could not bring back
	// Older is the next older batch that an Undo can take back, if it could take back
	// nothing of its own.
	Older string
}

// decideAtOnce is how many notes are decided at the same time. Each one waits for
// the disk most of the time, above all for the store, which commits one
// transaction after another with everything that waits for it: the more wait, the
// fewer transactions. Each holds three files open, of which a process may have 1024.
const decideAtOnce = 128

// Decide accepts or rejects the suggestions and proposals with the given ids, one
// transaction for each note and proposal. A note that changed meanwhile is decided
// as it is now; a proposal that is stale is not accepted (ErrStale), and neither is
// one that another one stands in the way of (ErrInTheWay). The link rewrites that
// belong to a rename follow it.
func (w *Workspace) Decide(ctx context.Context, ids []string, verdict model.Verdict, by model.Author) (Outcome, error) {
	return w.decide(ctx, ids, verdict, by, false)
}

// DecideStale is Decide for somebody who has been told which proposals are stale:
// it accepts them, too.
func (w *Workspace) DecideStale(ctx context.Context, ids []string, verdict model.Verdict, by model.Author) (Outcome, error) {
	return w.decide(ctx, ids, verdict, by, true)
}

func (w *Workspace) decide(ctx context.Context, ids []string, verdict model.Verdict, by model.Author, force bool) (Outcome, error) {
	if verdict != model.Accepted && verdict != model.Rejected {
		return Outcome{}, fmt.Errorf("verdict %q is neither accepted nor rejected", verdict)
	}
	if w.o.ReadOnly {
		return Outcome{}, &model.Error{Op: "decide", Path: "", Err: model.ErrReadOnly}
	}
	if err := w.act.Begin(); err != nil {
		return Outcome{}, model.WrapError("decide", "", err)
	}
	defer w.act.Done()
	out := Outcome{Batch: newBatch(), Failed: make(map[model.Path]error)}
	chosen, ids := w.chooseProposals(ids)
	if err := w.decideSuggestions(ctx, ids, verdict, by, &out); err != nil {
		return Outcome{}, err
	}
	if len(chosen) > 0 {
		w.decideProposals(ctx, chosen, verdict, by, force, &out)
	}
	out.sort()
	return out, ctx.Err()
}

func (w *Workspace) decideSuggestions(ctx context.Context, ids []string, verdict model.Verdict, by model.Author, out *Outcome) error {
	if len(ids) == 0 {
		return nil
	}
	pending, err := w.Suggestions(ctx, "")
	if err != nil {
		return err
	}
	byNote := make(map[model.Path][]string)
	known := make(map[string]model.Path, len(pending))
	for _, s := range pending {
		known[s.ID] = s.Path
	}
	for _, id := range ids {
		if p, ok := known[id]; ok {
			byNote[p] = append(byNote[p], id)
		} else {
			out.Missing = append(out.Missing, id)
		}
	}
	out.collect(ctx, byNote, func(p model.Path) ([]model.Suggestion, error) {
		return w.decideNote(ctx, p, byNote[p], model.Decision{Batch: out.Batch, Verdict: verdict, By: by.Name, Reason: by.Reason}, by)
	})
	return nil
}

// collect runs each for every note and gathers what came of it.
func (o *Outcome) collect(ctx context.Context, notes map[model.Path][]string, each func(model.Path) ([]model.Suggestion, error)) {
	var mu sync.Mutex // protects o
	var g errgroup.Group
	g.SetLimit(decideAtOnce)
	for _, p := range slices.Sorted(maps.Keys(notes)) { // notes of one folder together: they share its sync
		g.Go(func() error {
			if ctx.Err() != nil {
				return nil
			}
			decided, err := each(p)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				o.Failed[p] = err
				return nil
			}
			o.Decided = append(o.Decided, decided...)
			o.Notes++
			return nil
		})
	}
	g.Wait()
	o.sort()
}

// sort puts what was decided in the order of paths and places.
func (o *Outcome) sort() {
	slices.SortFunc(o.Decided, func(a, b model.Suggestion) int {
		if c := strings.Compare(string(a.Path), string(b.Path)); c != 0 {
			return c
		}
		return a.Start - b.Start
	})
}

// newBatch names what is decided in one go; later ones sort later.
func newBatch() string {
	return time.Now().UTC().Format("20060102T150405.000") + "-" + string(note.NewDocID()[:8])
}

// decideNote decides on the suggestions of one note that have the given ids.
func (w *Workspace) decideNote(ctx context.Context, p model.Path, ids []string, d model.Decision, by model.Author) ([]model.Suggestion, error) {
	var chosen []model.Suggestion
	wanted := make(map[string]bool, len(ids))
	for _, id := range ids {
		wanted[id] = true
	}
	res, err := w.change(ctx, note.Change{Path: p, By: by, Plan: func(l *note.Locked, cur *model.Version) (planner.Plan, error) {
		all, err := l.Suggestions(p, cur)
		if err != nil {
			return planner.Plan{}, err
		}
		chosen = slices.DeleteFunc(all, func(s model.Suggestion) bool { return !wanted[s.ID] })
		return l.Decide(cur, chosen, d, nil)
	}})
	if res.Changed && d.Verdict == model.Rejected && res.Version.Raw() == "" {
		w.unmake(ctx, p)
	}
	return chosen, err
}

// Journal lists the newest decisions and front matter changes of the
// workspace, newest first, at most limit.
func (w *Workspace) Journal(limit int) ([]model.JournalEntry, error) {
	var all []model.JournalEntry
	for _, f := range w.folders() {
		list, err := f.store.Journal(limit)
		if err != nil {
			return nil, err
		}
		for _, e := range list {
			e.Path, e.Folder, e.Rel = w.shownAt(f, e), f.node.name, string(e.Path)
			all = append(all, e)
		}
	}
	slices.SortStableFunc(all, func(a, b model.JournalEntry) int { return b.Time.Compare(a.Time) })
	return all[:min(limit, len(all))], nil
}

// shownAt is where the note of a journal entry is shown now, or what a decided
// proposal was about; "" if the document is at no path any more.
func (w *Workspace) shownAt(f *folder, e model.JournalEntry) model.Path {
	w.treeMu.RLock()
	defer w.treeMu.RUnlock()
	rel := string(e.Path)
	if e.Decision != nil && e.Decision.Proposal != nil {
		if rel = e.Decision.Proposal.Rel; rel == "" {
			rel = e.Decision.Proposal.To()
		}
		return f.node.path().Join(rel)
	}
	if rel == "" {
		return ""
	}
	if n := f.lookupSource(rel); n != nil {
		return n.path()
	}
	return f.node.path().Join(rel)
}

// undoReach is how far back Undo looks for the batch it is given.
const undoReach = 20_000

// ErrNothingToUndo says that the journal has no such batch, or that it has been
// taken back already.
var ErrNothingToUndo = errors.New("nothing to undo")

// Undo takes back a batch of decisions, or one front matter change, by its name
// in the journal; "" means the newest that has not been taken back, other than
// what no person decided (Decision.Lapsed). What was written in the notes since
// stays.
func (w *Workspace) Undo(ctx context.Context, batch string, by model.Author) (Outcome, error) {
	if w.o.ReadOnly {
		return Outcome{}, &model.Error{Op: "undo", Path: "", Err: model.ErrReadOnly}
	}
	if err := w.act.Begin(); err != nil {
		return Outcome{}, model.WrapError("undo", "", err)
	}
	defer w.act.Done()
	if err := w.followPending.Current(ctx); err != nil { // what a crash interrupted comes into the journal
		return Outcome{}, err
	}
	journal, err := w.Journal(undoReach)
	if err != nil {
		return Outcome{}, err
	}
	entries := undoable(journal, batch)
	if len(entries) == 0 {
		return Outcome{}, nothingToUndo(batch)
	}
	out := Outcome{Batch: newBatch(), Failed: make(map[model.Path]error)}
	byNote := make(map[model.Path][]string)
	entriesOf := make(map[model.Path][]model.JournalEntry) // newest first
	var proposals []model.JournalEntry
	for _, e := range entries {
		if e.Decision != nil && e.Decision.Proposal != nil {
			proposals = append(proposals, e)
			continue
		}
		if e.Path == "" {
			at, err := w.whyGone(journal, e)
			out.Failed[at] = err
			continue
		}
		byNote[e.Path], entriesOf[e.Path] = nil, append(entriesOf[e.Path], e)
	}
	var away awayList
	out.collect(ctx, byNote, func(p model.Path) (again []model.Suggestion, err error) {
		for _, e := range entriesOf[p] {
			n, err := w.decidedIn(ctx, e)
			if n == nil && err == nil {
				_, err = w.whyGone(journal, e)
			}
			if err != nil {
				return again, err
			}
			pending, stays, err := w.undoNote(ctx, n, p, e, out.Batch, by)
			away.add(stays)
			if again = append(again, pending...); err != nil {
				return again, err
			}
		}
		return again, nil
	})
	out.Away = away.sorted()
	w.undoProposals(ctx, proposals, by, &out)
	if out.Notes == 0 && len(out.Failed) > 0 {
		out.Older = olderBatch(journal, entries[0].BatchOf())
	}
	return out, ctx.Err()
}

func nothingToUndo(batch string) error {
	if batch == "" {
		return ErrNothingToUndo
	}
	return fmt.Errorf("%w: batch %s", ErrNothingToUndo, batch)
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

// decidedIn finds the note of an entry where people have it: it may be proposed to be
// deleted. One that went because all of it was rejected is made again. nil if it is gone.
func (w *Workspace) decidedIn(ctx context.Context, e model.JournalEntry) (*note.Note, error) {
	f, err := w.folderAt("undo", e.Path)
	if err != nil {
		return nil, err
	}
	if err := w.remake(ctx, f, e); err != nil {
		return nil, err
	}
	n := w.source(f, e.Rel)
	if n == nil || n.kind != model.KindNote {
		return nil, nil
	}
	return n.note, nil
}

// whyGone says why nothing can be taken back in a note that is not there, and what can
// be done.
func (w *Workspace) whyGone(journal []model.JournalEntry, e model.JournalEntry) (model.Path, error) {
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
func (w *Workspace) undoNote(ctx context.Context, n *note.Note, p model.Path, e model.JournalEntry, batch string, by model.Author) ([]model.Suggestion, []model.Away, error) {
	var had []model.Suggestion
	var away []model.Away
	res, err := n.Change(ctx, note.Change{Path: p, By: by, Plan: func(l *note.Locked, cur *model.Version) (plan planner.Plan, err error) {
		if had, err = l.Suggestions(p, cur); err != nil {
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
