package bridge

import (
	"cmp"
	"context"
	"slices"

	"github.com/relayfs/relayfs/bridge/model"
)

// Decisions on proposals.

// chooseProposals finds the pending proposals among ids and returns the other ids.
func (w *Workspace) chooseProposals(ids []string) (chosen map[*folder][]*proposal, rest []string) {
	w.treeMu.RLock()
	defer w.treeMu.RUnlock()
	byID := make(map[string]*proposal)
	for _, top := range w.root.children {
		for _, p := range top.folder.proposals {
			byID[p.rec.ID] = p
		}
	}
	chosen = make(map[*folder][]*proposal)
	for _, id := range ids {
		p := byID[id]
		if p == nil {
			rest = append(rest, id)
			continue
		}
		if f := p.node.folder; !slices.Contains(chosen[f], p) {
			chosen[f] = append(chosen[f], p)
		}
	}
	return chosen, rest
}

// decideProposals decides on proposals, Folder by Folder, and on the link rewrites
// that belong to them.
func (w *Workspace) decideProposals(ctx context.Context, chosen map[*folder][]*proposal, verdict model.Verdict, by model.Author, force bool, out *Outcome) {
	d := model.Decision{Batch: out.Batch, Verdict: verdict, By: by.Name, Reason: by.Reason}
	decided := make(map[string]bool)
	for f, list := range chosen {
		if f.readOnly() {
			for _, p := range list {
				w.treeMu.RLock()
				at := p.public().Path
				w.treeMu.RUnlock()
				out.Failed[at] = cmp.Or(f.locked(), model.ErrOffline)
			}
			continue
		}
		for _, p := range w.decideFolder(ctx, f, list, d, force, decided, out) {
			w.acceptFrontMatter(ctx, f, p, d)
		}
	}
	w.decideLinks(ctx, decided, d, by, out)
}

// decideFolder decides on the proposals of one Folder and adds the IDs of those
// that it could to decided. It returns those that were accepted.
func (w *Workspace) decideFolder(ctx context.Context, f *folder, list []*proposal, d model.Decision, force bool, decided map[string]bool, out *Outcome) (accepted []*proposal) {
	f.names.Lock()
	defer f.names.Unlock()
	w.treeMu.RLock()
	public := make(map[*proposal]model.Proposal)
	for _, p := range list {
		if slices.Contains(f.proposals, p) {
			public[p] = p.public()
		} else {
			out.Missing = append(out.Missing, p.rec.ID) // decided on a moment ago
		}
	}
	w.treeMu.RUnlock()
	list = slices.DeleteFunc(list, func(p *proposal) bool { return public[p].ID == "" })
	var events []model.Event
	var failed map[*proposal]error
	if d.Verdict == model.Accepted {
		failed = w.acceptAll(context.WithoutCancel(ctx), f, list, d, force)
	} else {
		events, failed = w.rejectAll(f, list, d)
	}
	f.names.tell(append(events, w.settle(f)...)...)
	for _, p := range list {
		pub := public[p]
		if err := failed[p]; err != nil {
			out.Failed[pub.Path] = err
			continue
		}
		decided[pub.ID] = true
		out.Proposals = append(out.Proposals, pub)
		out.Notes++
		f.names.tell(model.Event{Kind: model.EventPending, Path: pub.Path, Dir: pub.Dir})
		if d.Verdict == model.Accepted {
			accepted = append(accepted, p)
		}
	}
	return accepted
}

// decideLinks decides on the link rewrites that belong to the proposals and wait
// still.
func (w *Workspace) decideLinks(ctx context.Context, decided map[string]bool, d model.Decision, by model.Author, out *Outcome) {
	if len(decided) == 0 {
		return
	}
	pending, err := w.Suggestions(ctx, "")
	if err != nil {
		w.log.Warn("links of a decided rename are left as they are", model.LogErr, err)
		return
	}
	byNote := make(map[model.Path][]string)
	for _, s := range pending {
		if decided[s.Proposal] {
			byNote[s.Path] = append(byNote[s.Path], s.ID)
		}
	}
	out.collect(ctx, byNote, func(p model.Path) ([]model.Suggestion, error) {
		return w.decideNote(ctx, p, byNote[p], d, by)
	})
}

// rejectLinks takes back the link rewrites of proposals that were withdrawn.
func (w *Workspace) rejectLinks(ctx context.Context, ids []string, by model.Author) {
	decided := make(map[string]bool, len(ids))
	for _, id := range ids {
		decided[id] = true
	}
	out := Outcome{Failed: make(map[model.Path]error)}
	w.decideLinks(ctx, decided, model.Decision{Batch: newBatch(), Verdict: model.Rejected, By: by.Name, Lapsed: true}, by, &out)
	for p, err := range out.Failed {
		w.log.Warn("links of a rename that was taken back are left as they are", model.LogPath, string(p), model.LogErr, err)
	}
}
