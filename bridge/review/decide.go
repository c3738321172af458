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
	"github.com/relayfs/relayfs/bridge/note/planner"
	"github.com/relayfs/relayfs/diffwrap"
)

type Outcome struct {
	Batch      string // name of the batch, for Undo and in the journal
	Decided    []model.Suggestion
	Proposals  []model.Proposal     // the decided proposals, as they were before the decision
	Missing    []string             // ids without a pending suggestion or proposal, or without a thread
	Failed     map[model.Path]error // errors, by path, of the notes and proposals that could not be changed
	Notes      int                  // number of notes and other nodes that changed
	Unrestored []model.Unrestored   // text that an Undo could not restore
	Undone     []model.JournalEntry // entries that an Undo undid
	// Older is the next older batch for an Undo. It is set if nothing of this batch could be undone.
	Older string

	changed map[*namespace.Node]bool
	// notes are the nodes with a rejected suggestion or proposal. folders are the folders that showed a rejected
	// proposal.
	notes, folders []*namespace.Node
}

// change counts a node that has changed. Several decisions of one batch may change the same node.
func (o *Outcome) change(x *namespace.Node) {
	o.changed[x] = true
	o.Notes = len(o.changed)
}

// maxConcurrentDecisions is the maximum number of notes in which decisions are applied concurrently. Each decision
// mostly waits for the disk, above all for the store to sync its log. Waiting decisions share a sync, so more waiting
// notes mean fewer syncs. Each note holds three files open, and a process may have only 1024.
const maxConcurrentDecisions = 128

func newOutcome() Outcome {
	return Outcome{Batch: model.NewBatch(), Failed: make(map[model.Path]error), changed: make(map[*namespace.Node]bool)}
}

// Decide accepts or rejects the suggestions and proposals with the given ids. The suggestions of one note are decided
// in one transaction. If a note has changed in the meantime, Decide uses its present text. It does not accept a stale
// proposal (ErrStale), or a proposal whose name is taken because of another proposal (ErrNameTaken). A decision on a
// rename includes its link rewrites. Without that decision the link rewrites can be rejected, but not accepted.
func (r *Review) Decide(ctx context.Context, ids []string, verdict model.Verdict, author model.Author) (Outcome, error) {
	return r.decide(ctx, ids, verdict, author, false)
}

// DecideStale is Decide for a caller that has shown the user which proposals are stale. It also accepts stale
// proposals.
func (r *Review) DecideStale(ctx context.Context, ids []string, verdict model.Verdict, author model.Author) (Outcome, error) {
	return r.decide(ctx, ids, verdict, author, true)
}

func (r *Review) decide(ctx context.Context, ids []string, verdict model.Verdict, author model.Author, stale bool) (Outcome, error) {
	if verdict != model.Accepted && verdict != model.Rejected {
		return Outcome{}, fmt.Errorf("verdict %q is neither accepted nor rejected", verdict)
	}
	if err := r.begin("decide"); err != nil {
		return Outcome{}, err
	}
	defer r.config.Events.EndOp()
	r.ResumeDecisions(context.WithoutCancel(ctx))
	out := newOutcome()
	d := model.Decision{Batch: out.Batch, Verdict: verdict, By: author.Name, Reason: author.Reason}
	waiting := r.waiting()
	chosen, ids := r.chooseProposals(waiting, ids)
	if err := r.decideSuggestions(ctx, ids, waiting, chosen, d, author, &out); err != nil {
		return Outcome{}, err
	}
	before := out
	before.Failed = maps.Clone(out.Failed)
	if started, err := r.startDecision(chosen, d, stale); err == nil {
		r.decideProposals(context.WithoutCancel(ctx), chosen, make(map[string]bool), d, author, stale, &out)
		r.finish(context.WithoutCancel(ctx), started, before, &out)
	} else {
		for _, list := range chosen {
			for _, p := range list {
				out.Failed[p.Public().Path] = err
			}
		}
	}
	r.names.RemoveRejected(ctx, out.notes, out.folders)
	out.sort()
	return out, ctx.Err()
}

var errFollows = errors.New("the link rewrites depend on the rename: accept the rename, or reject the link rewrites")

// decideSuggestions decides on suggestions, except link rewrites of the chosen proposals.
func (r *Review) decideSuggestions(
	ctx context.Context, ids []string, waiting map[string]*namespace.Proposal, chosen map[*namespace.Root][]*namespace.Proposal,
	d model.Decision, author model.Author, out *Outcome,
) error {
	if len(ids) == 0 {
		return nil
	}
	known := make(map[string]*model.Suggestion, len(ids))
	for _, id := range ids {
		known[id] = nil
	}
	pending, err := r.indexes.SuggestionsWith(ctx, "", func(s *model.Suggestion) bool { _, asked := known[s.ID]; return asked })
	if err != nil {
		return err
	}
	for i := range pending {
		known[pending[i].ID] = &pending[i]
	}
	byNote := make(map[model.Path][]string)
	for _, id := range ids {
		s := known[id]
		if s == nil {
			out.Missing = append(out.Missing, id)
			continue
		}
		switch rename := waiting[s.Proposal]; {
		case rename != nil && slices.Contains(chosen[r.config.Roots[rename.Node.Root]], rename):
		case rename != nil && d.Verdict == model.Accepted:
			out.Failed[rename.Public().Path] = errFollows
		default:
			byNote[s.Path] = append(byNote[s.Path], id)
		}
	}
	r.decideNotes(ctx, byNote, d, author, out)
	return nil
}

func (r *Review) decideNotes(ctx context.Context, byNote map[model.Path][]string, d model.Decision, author model.Author, out *Outcome) {
	nodes := r.nodesAt(byNote)
	for _, x := range nodes {
		if x != nil && d.Verdict == model.Rejected {
			out.notes = append(out.notes, x)
		}
	}
	out.collect(ctx, nodes, func(p model.Path) (noteOutcome, error) { return r.decideNote(ctx, p, byNote[p], "", d, author) })
}

// noteOutcome is the part of an Outcome that concerns one note.
type noteOutcome struct {
	decided []model.Suggestion
	missing []string
	changed bool
}

// nodesAt returns the nodes at the paths, nil for a path without one.
func (r *Review) nodesAt(paths map[model.Path][]string) map[model.Path]*namespace.Node {
	nodes := make(map[model.Path]*namespace.Node)
	for p := range paths {
		nodes[p], _ = r.tree.Find("decide", p)
	}
	return nodes
}

// collect calls each for the paths of the notes, concurrently, and adds the results to o.
func (o *Outcome) collect(ctx context.Context, notes map[model.Path]*namespace.Node, each func(model.Path) (noteOutcome, error)) {
	var mu sync.Mutex // guards o
	var g errgroup.Group
	g.SetLimit(maxConcurrentDecisions)
	for _, p := range slices.Sorted(maps.Keys(notes)) { // sorted, so that notes of one folder share the folder's sync
		g.Go(func() error {
			if ctx.Err() != nil {
				return nil
			}
			done, err := each(p)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				o.Failed[p] = err
				return nil
			}
			o.Decided, o.Missing = append(o.Decided, done.decided...), append(o.Missing, done.missing...)
			if done.changed {
				o.change(notes[p])
			}
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

// decideNote decides on the suggestions of one note with the given ids. If the verdict is Changed, there is only one
// suggestion, and decideNote replaces its proposed text with text.
func (r *Review) decideNote(ctx context.Context, p model.Path, ids []string, text string, d model.Decision, author model.Author) (noteOutcome, error) {
	n, err := r.tree.FindNote("write", p)
	if err != nil {
		return noteOutcome{}, err
	}
	return r.decideIn(ctx, n, p, ids, text, d, author)
}

// decideIn is decideNote for the note n. p is the note's path, or its path before its deletion was proposed.
func (r *Review) decideIn(ctx context.Context, n *note.Note, p model.Path, ids []string, text string, d model.Decision, author model.Author) (done noteOutcome, err error) {
	res, err := n.Change(ctx, note.Change{Path: p, By: author, Plan: func(l *note.Locked, current *model.Version) (planner.Plan, error) {
		all, x, err := l.Suggestions(p, current)
		if err != nil {
			return planner.Plan{}, err
		}
		done.decided = nil
		pending := make(map[string]bool, len(ids))
		for _, id := range ids {
			pending[id] = false
		}
		for i := range all {
			if _, wanted := pending[all[i].ID]; wanted {
				done.decided, pending[all[i].ID] = append(done.decided, all[i]), true
			}
		}
		done.missing = slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return pending[id] })
		if len(done.decided) == 0 {
			return planner.Plan{}, nil
		}
		var instead []diffwrap.Edit
		if d.Verdict == model.Changed {
			like := done.decided[0].New // browsers and some editors return other line breaks than they got
			if !strings.Contains(like, "\n") {
				like = current.Text()
			}
			text = diffwrap.KeepBreaks(text, like)
			if instead, err = planner.Amend(current, done.decided[0], text); err != nil {
				return planner.Plan{}, err
			}
		}
		plan, err := l.PlanDecision(x.Table, current, done.decided, d, instead)
		if err == nil && d.Verdict == model.Changed {
			plan.Decision.Items[0].ReplacedBy = &text
		}
		return plan, err
	}})
	done.changed = res.Changed
	return done, err
}

// Amend accepts the suggestion with the given id, but replaces its proposed text with the user's text. The accepted
// text is attributed to the given author, and the journal has the verdict Changed. Undo restores the suggestion. If
// text equals the proposed text, Amend only accepts. Errors: ErrReadOnly; in the Outcome's Failed, ErrRefused for text
// that would be parsed as CriticMarkup. A suggestion that is no longer pending is Missing.
func (r *Review) Amend(ctx context.Context, id, text string, author model.Author) (Outcome, error) {
	if r.config.ReadOnly {
		return Outcome{}, &model.Error{Op: "decide", Path: "", Err: model.ErrReadOnly}
	}
	pending, err := r.indexes.SuggestionsWith(ctx, "", func(s *model.Suggestion) bool { return s.ID == id })
	if err != nil {
		return Outcome{}, err
	}
	out := newOutcome()
	if len(pending) == 0 {
		out.Missing = []string{id}
		return out, nil
	}
	out.collect(ctx, r.nodesAt(map[model.Path][]string{pending[0].Path: {id}}), func(p model.Path) (noteOutcome, error) {
		return r.decideNote(ctx, p, []string{id}, text, model.Decision{Batch: out.Batch, Verdict: model.Changed, By: author.Name, Reason: author.Reason}, author)
	})
	return out, ctx.Err()
}

func (r *Review) waiting() map[string]*namespace.Proposal {
	byID := make(map[string]*namespace.Proposal)
	for _, f := range r.tree.Roots() {
		for _, p := range f.Pending() {
			byID[p.ID] = p
		}
	}
	return byID
}

func (r *Review) chooseProposals(waiting map[string]*namespace.Proposal, ids []string) (chosen map[*namespace.Root][]*namespace.Proposal, rest []string) {
	chosen = make(map[*namespace.Root][]*namespace.Proposal)
	for _, id := range ids {
		p := waiting[id]
		if p == nil {
			rest = append(rest, id)
			continue
		}
		if f := r.config.Roots[p.Node.Root]; !slices.Contains(chosen[f], p) {
			chosen[f] = append(chosen[f], p)
		}
	}
	return chosen, rest
}

// startDecision stores the intent of a decision on several proposals, or on a rename: half of an exchange of names, or
// the link rewrites of a rename, must not stay pending.
func (r *Review) startDecision(chosen map[*namespace.Root][]*namespace.Proposal, d model.Decision, stale bool) (intent, error) {
	var started intent
	links := false
	for f, list := range chosen {
		if !f.ReadOnly() {
			started.roots = append(started.roots, f.Root)
		}
		for _, p := range list {
			links = links || p.Record().Kind == model.ProposedRename
			d.Items = append(d.Items, model.DecidedItem{ID: p.ID})
		}
	}
	if len(d.Items) < 2 && !links {
		started.roots = nil
	}
	started.records = []model.ProposalRecord{{ID: d.Batch, Kind: model.DecisionStarted, Decision: &d, Stale: stale}}
	return started, r.store(started)
}

func (r *Review) resumeDecision(ctx context.Context, rec model.ProposalRecord, out *Outcome) error {
	d, decided := *rec.Decision, make(map[string]bool)
	journal, err := r.Journal(maxUndoScan)
	if err != nil {
		return err
	}
	for _, e := range journal {
		if e.Decision != nil && e.Decision.Batch == d.Batch && e.Decision.Proposal != nil {
			decided[e.Decision.Proposal.ID] = true
		}
	}
	var ids []string
	for _, item := range d.Items {
		ids = append(ids, item.ID)
	}
	chosen, _ := r.chooseProposals(r.waiting(), ids)
	d.Items = nil
	r.decideProposals(ctx, chosen, decided, d, model.Author{Name: d.By, Reason: d.Reason}, rec.Stale, out)
	return nil
}

// decideProposals decides on the chosen proposals, root by root. Then it decides on the link rewrites of these
// proposals and of the proposals that are already in decided.
func (r *Review) decideProposals(
	ctx context.Context, chosen map[*namespace.Root][]*namespace.Proposal, decided map[string]bool, d model.Decision, author model.Author, stale bool, out *Outcome,
) {
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
		for _, p := range list {
			if slices.ContainsFunc(done.Proposals, func(x model.Proposal) bool { return x.ID == p.ID }) {
				out.change(p.Node)
			}
		}
		maps.Copy(out.Failed, done.Failed)
	}
	// The suggestions of the renames come first. Otherwise a rename would rewrite the link in the rejected suggestion of
	// another one, and an undo would restore the wrong text.
	r.decideLinks(ctx, decided, d, author, out)
	for f := range chosen {
		r.names.FollowDecided(ctx, f)
	}
}

func (r *Review) decideLinks(ctx context.Context, decided map[string]bool, d model.Decision, author model.Author, out *Outcome) {
	if len(decided) == 0 {
		return
	}
	for _, f := range r.config.Roots {
		f.WithLinkLock(func() {}) // waits for a link rewrite in progress
	}
	pending, err := r.indexes.SuggestionsWith(ctx, "", func(s *model.Suggestion) bool { return decided[s.Proposal] })
	if err != nil {
		r.config.Logger.Warn("the link rewrites of a decided rename are still pending", model.LogErr, err)
		return
	}
	byNote := make(map[model.Path][]string)
	for _, s := range pending {
		byNote[s.Path] = append(byNote[s.Path], s.ID)
	}
	r.decideNotes(ctx, byNote, d, author, out)
	r.decideHiddenLinks(ctx, decided, d, author)
}

// decideHiddenLinks is decideLinks for notes whose deletion is proposed. If a user keeps such a note, its links must be
// correct.
func (r *Review) decideHiddenLinks(ctx context.Context, decided map[string]bool, d model.Decision, author model.Author) {
	for _, p := range r.waiting() {
		if p.Node.Kind != model.KindNote || p.Record().Kind != model.ProposedDelete {
			continue
		}
		at := p.Public().Path
		_, list, _, err := p.Node.Note().Threads(ctx, at)
		list = slices.DeleteFunc(slices.Clone(list), func(s model.Suggestion) bool { return !decided[s.Proposal] })
		if err == nil && len(list) > 0 {
			_, err = r.decideIn(ctx, p.Node.Note(), at, suggestionIDs(list), "", d, author)
		}
		if err != nil {
			r.config.Logger.Warn("the link rewrites of a decided rename are still pending", model.LogPath, string(at), model.LogErr, err)
		}
	}
}

func suggestionIDs(list []model.Suggestion) (ids []string) {
	for _, s := range list {
		ids = append(ids, s.ID)
	}
	return ids
}

func (r *Review) rejectLinks(ctx context.Context, proposal string, author model.Author) {
	out := newOutcome()
	r.decideLinks(ctx, map[string]bool{proposal: true}, model.Decision{Batch: out.Batch, Verdict: model.Rejected, By: author.Name, Withdrawn: true}, author, &out)
	for p, err := range out.Failed {
		r.config.Logger.Warn("the link rewrites of a withdrawn rename are still pending", model.LogPath, string(p), model.LogErr, err)
	}
}
