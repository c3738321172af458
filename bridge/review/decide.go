package review

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/namespace"
	"github.com/relayfs/relayfs/bridge/note"
	"github.com/relayfs/relayfs/diffwrap"
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

	// notes are those of which something was rejected, and folders those in which something
	// was to be that was rejected.
	notes, folders []*namespace.Node
}

// decideAtOnce is how many notes are decided at the same time. Each one waits for
// the disk most of the time, above all for the store, which commits one
// transaction after another with everything that waits for it: the more wait, the
// fewer transactions. Each holds three files open, of which a process may have 1024.
const decideAtOnce = 128

func newOutcome() Outcome {
	return Outcome{Batch: namespace.NewBatch(), Failed: make(map[model.Path]error)}
}

// Decide accepts or rejects the suggestions and proposals with the given ids, one
// transaction for each note and proposal. A note that changed meanwhile is decided
// as it is now; a proposal that is stale is not accepted (ErrStale), and neither is
// one that another one stands in the way of (ErrNameTaken). The link rewrites that
// belong to a rename follow it; they can be rejected, but not accepted without it.
func (r *Review) Decide(ctx context.Context, ids []string, verdict model.Verdict, by model.Author) (Outcome, error) {
	return r.decide(ctx, ids, verdict, by, false)
}

// DecideStale is Decide for somebody who has been told which proposals are stale:
// it accepts them, too.
func (r *Review) DecideStale(ctx context.Context, ids []string, verdict model.Verdict, by model.Author) (Outcome, error) {
	return r.decide(ctx, ids, verdict, by, true)
}

func (r *Review) decide(ctx context.Context, ids []string, verdict model.Verdict, by model.Author, stale bool) (Outcome, error) {
	if verdict != model.Accepted && verdict != model.Rejected {
		return Outcome{}, fmt.Errorf("verdict %q is neither accepted nor rejected", verdict)
	}
	if err := r.begin("decide"); err != nil {
		return Outcome{}, err
	}
	defer r.c.Activity.EndOp()
	out := newOutcome()
	d := model.Decision{Batch: out.Batch, Verdict: verdict, By: by.Name, Reason: by.Reason}
	waiting := r.waiting()
	chosen, ids := r.chooseProposals(waiting, ids)
	if err := r.decideSuggestions(ctx, ids, waiting, chosen, d, by, &out); err != nil {
		return Outcome{}, err
	}
	if len(chosen) > 0 {
		r.decideProposals(ctx, chosen, d, by, stale, &out)
	}
	r.names.RemoveRejected(ctx, out.notes, out.folders)
	out.sort()
	return out, ctx.Err()
}

// errFollows is why the links that a rename rewrites are not accepted without it.
var errFollows = errors.New("links to it wait for its rename: accept that, or reject them")

// decideSuggestions decides on suggestions, but for link rewrites of the chosen proposals, which follow those.
func (r *Review) decideSuggestions(
	ctx context.Context, ids []string, waiting map[string]*namespace.Proposal, chosen map[*namespace.Folder][]*namespace.Proposal,
	d model.Decision, by model.Author, out *Outcome,
) error {
	if len(ids) == 0 {
		return nil
	}
	pending, err := r.indexes.Suggestions(ctx, "")
	if err != nil {
		return err
	}
	known := make(map[string]*model.Suggestion, len(ids))
	for _, id := range ids {
		known[id] = nil
	}
	for i := range pending {
		if _, asked := known[pending[i].ID]; asked {
			known[pending[i].ID] = &pending[i]
		}
	}
	byNote := make(map[model.Path][]string)
	for _, id := range ids {
		s := known[id]
		if s == nil {
			out.Missing = append(out.Missing, id)
			continue
		}
		switch rename := waiting[s.Proposal]; {
		case rename != nil && slices.Contains(chosen[r.c.Folders[rename.Node.Folder]], rename):
		case rename != nil && d.Verdict == model.Accepted:
			out.Failed[rename.Public().Path] = errFollows
		default:
			byNote[s.Path] = append(byNote[s.Path], id)
		}
	}
	r.decideNotes(ctx, byNote, d, by, out)
	return nil
}

func (r *Review) decideNotes(ctx context.Context, byNote map[model.Path][]string, d model.Decision, by model.Author, out *Outcome) {
	if d.Verdict == model.Rejected {
		for p := range byNote {
			if x, err := r.tree.Find("decide", p); err == nil {
				out.notes = append(out.notes, x)
			}
		}
	}
	out.collect(ctx, byNote, func(p model.Path) ([]model.Suggestion, error) { return r.decideNote(ctx, p, byNote[p], "", d, by) })
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

func (o *Outcome) sort() {
	slices.SortFunc(o.Decided, func(a, b model.Suggestion) int {
		if c := strings.Compare(string(a.Path), string(b.Path)); c != 0 {
			return c
		}
		return a.Start - b.Start
	})
}

// decideNote decides on the suggestions of one note that have the given ids; if they are
// Changed, by putting text in the place of the only one.
func (r *Review) decideNote(ctx context.Context, p model.Path, ids []string, text string, d model.Decision, by model.Author) ([]model.Suggestion, error) {
	n, err := r.tree.FindNote("write", p)
	if err != nil {
		return nil, err
	}
	return r.decideIn(ctx, n, p, ids, text, d, by)
}

// decideIn is decideNote for the note n, which is shown or was at p.
func (r *Review) decideIn(ctx context.Context, n *note.Note, p model.Path, ids []string, text string, d model.Decision, by model.Author) ([]model.Suggestion, error) {
	wanted := make(map[string]bool, len(ids))
	for _, id := range ids {
		wanted[id] = true
	}
	var chosen []model.Suggestion
	_, err := n.Change(ctx, note.Change{Path: p, By: by, Plan: func(l *note.Locked, cur *model.Version) (note.Plan, error) {
		all, x, err := l.Suggestions(p, cur)
		if err != nil {
			return note.Plan{}, err
		}
		chosen = nil
		for i := range all {
			if wanted[all[i].ID] {
				chosen = append(chosen, all[i])
			}
		}
		if len(chosen) == 0 {
			return note.Plan{}, nil
		}
		var instead []diffwrap.Edit
		if d.Verdict == model.Changed {
			if instead, err = note.Amend(cur, chosen[0], text); err != nil {
				return note.Plan{}, err
			}
		}
		plan := note.Decide(cur, x, chosen, d, instead)
		if d.Verdict == model.Changed {
			plan.Decision.Items[0].Instead = &text
		}
		return plan, nil
	}})
	return chosen, err
}

// Amend decides on the suggestion with the given id by putting text, a person's
// own, in the place of what it proposed. The text stands in the note as accepted
// text, attributed to by; the journal calls the verdict Changed and Undo brings
// the suggestion back. With the proposed text itself Amend is an acceptance.
// Errors: ErrReadOnly; ErrRefused, in the Outcome's Failed, for text that would
// be read as CriticMarkup. A suggestion that is not pending any more is Missing.
func (r *Review) Amend(ctx context.Context, id, text string, by model.Author) (Outcome, error) {
	if r.c.ReadOnly {
		return Outcome{}, &model.Error{Op: "decide", Path: "", Err: model.ErrReadOnly}
	}
	pending, err := r.indexes.Suggestions(ctx, "")
	if err != nil {
		return Outcome{}, err
	}
	out := newOutcome()
	i := slices.IndexFunc(pending, func(s model.Suggestion) bool { return s.ID == id })
	if i < 0 {
		out.Missing = []string{id}
		return out, nil
	}
	var gone bool
	out.collect(ctx, map[model.Path][]string{pending[i].Path: {id}}, func(p model.Path) (chosen []model.Suggestion, err error) {
		chosen, err = r.decideNote(ctx, p, []string{id}, text, model.Decision{Batch: out.Batch, Verdict: model.Changed, By: by.Name, Reason: by.Reason}, by)
		gone = err == nil && len(chosen) == 0
		return chosen, err
	})
	if gone {
		out.Missing, out.Notes = []string{id}, 0
	}
	return out, ctx.Err()
}

func (r *Review) waiting() map[string]*namespace.Proposal {
	byID := make(map[string]*namespace.Proposal)
	for _, f := range r.tree.Folders() {
		for _, p := range f.Pending() {
			byID[p.ID] = p
		}
	}
	return byID
}

func (r *Review) chooseProposals(waiting map[string]*namespace.Proposal, ids []string) (chosen map[*namespace.Folder][]*namespace.Proposal, rest []string) {
	chosen = make(map[*namespace.Folder][]*namespace.Proposal)
	for _, id := range ids {
		p := waiting[id]
		if p == nil {
			rest = append(rest, id)
			continue
		}
		if f := r.c.Folders[p.Node.Folder]; !slices.Contains(chosen[f], p) {
			chosen[f] = append(chosen[f], p)
		}
	}
	return chosen, rest
}

// decideProposals decides on proposals, Folder by Folder, and on the link rewrites
// that belong to them.
func (r *Review) decideProposals(ctx context.Context, chosen map[*namespace.Folder][]*namespace.Proposal, d model.Decision, by model.Author, stale bool, out *Outcome) {
	decided := make(map[string]bool)
	for f, list := range chosen {
		if f.ReadOnly() {
			for _, p := range list {
				out.Failed[p.Public().Path] = cmp.Or(f.ReadOnlyErr(), model.ErrOffline)
			}
			continue
		}
		for _, p := range list {
			if d.Verdict != model.Rejected {
				continue
			}
			out.notes = append(out.notes, p.Node)
			if st := p.Node.State(); st.Dir != nil {
				out.folders = append(out.folders, st.Dir)
			}
		}
		if d.Verdict == model.Accepted {
			r.names.FinishProposed(ctx, f, list)
		}
		done := f.Decide(ctx, list, d, stale)
		for _, p := range done.Proposals {
			decided[p.ID] = true
		}
		out.Missing = append(out.Missing, done.Missing...)
		out.Proposals = append(out.Proposals, done.Proposals...)
		out.Notes += len(done.Proposals)
		maps.Copy(out.Failed, done.Failed)
		r.names.FollowAccepted(ctx, f)
	}
	r.decideLinks(ctx, decided, d, by, out)
}

// decideLinks decides on the link rewrites that belong to the proposals and wait
// still.
func (r *Review) decideLinks(ctx context.Context, decided map[string]bool, d model.Decision, by model.Author, out *Outcome) {
	if len(decided) == 0 {
		return
	}
	for _, f := range r.c.Folders {
		f.LinkOne(func() {}) // the last link that is being rewritten for it is there then
	}
	pending, err := r.indexes.Suggestions(ctx, "")
	if err != nil {
		r.c.Logger.Warn("links of a decided rename are left as they are", model.LogErr, err)
		return
	}
	byNote := make(map[model.Path][]string)
	for _, s := range pending {
		if decided[s.Proposal] {
			byNote[s.Path] = append(byNote[s.Path], s.ID)
		}
	}
	r.decideNotes(ctx, byNote, d, by, out)
	r.decideHiddenLinks(ctx, decided, d, by)
}

// decideHiddenLinks is decideLinks for notes that are proposed to be deleted: if they are not, their links are to lead where
// they should.
func (r *Review) decideHiddenLinks(ctx context.Context, decided map[string]bool, d model.Decision, by model.Author) {
	for _, p := range r.waiting() {
		if p.Node.Kind != model.KindNote || p.Record().Kind != model.ProposedDelete {
			continue
		}
		at := p.Public().Path
		list, err := p.Node.Note.Suggestions(ctx, at)
		list = slices.DeleteFunc(list, func(s model.Suggestion) bool { return !decided[s.Proposal] })
		if err == nil && len(list) > 0 {
			_, err = r.decideIn(ctx, p.Node.Note, at, suggestionIDs(list), "", d, by)
		}
		if err != nil {
			r.c.Logger.Warn("links of a decided rename are left as they are", model.LogPath, string(at), model.LogErr, err)
		}
	}
}

func suggestionIDs(list []model.Suggestion) (ids []string) {
	for _, s := range list {
		ids = append(ids, s.ID)
	}
	return ids
}

// rejectLinks takes back the link rewrites of a proposal that was withdrawn.
func (r *Review) rejectLinks(ctx context.Context, proposal string, by model.Author) {
	out := newOutcome()
	r.decideLinks(ctx, map[string]bool{proposal: true}, model.Decision{Batch: out.Batch, Verdict: model.Rejected, By: by.Name, Lapsed: true}, by, &out)
	for p, err := range out.Failed {
		r.c.Logger.Warn("links of a rename that was taken back are left as they are", model.LogPath, string(p), model.LogErr, err)
	}
}
