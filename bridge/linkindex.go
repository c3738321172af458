package bridge

import (
	"context"
	"slices"

	"github.com/relayfs/relayfs/bridge/links"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/diffwrap"
)

// Links are the notes that link to one, and what it links to. Links that
// nobody has accepted yet do not count.
type Links struct {
	Backlinks  []model.Path // sorted
	Forward    []model.Path // in the order of the text, each once
	Unresolved []string
	Pending    []string // linkpaths that only pending additions of the note hold
}

// Links says how the note at p is linked. The first call reads every note of
// the workspace.
func (w *Workspace) Links(ctx context.Context, p model.Path) (Links, error) {
	v, err := w.Open(ctx, p)
	if err != nil {
		return Links{}, err
	}
	if err := w.followLinks.Current(ctx); err != nil {
		return Links{}, err
	}
	raw, err := w.withLinksRewritten(ctx, p, v)
	if err != nil {
		return Links{}, err
	}
	res := Links{Pending: pendingTargets(raw)}
	forward, unresolved := w.links.Index.Forward(string(p))
	res.Forward, res.Unresolved = within(w, toPaths(forward), samePath), unresolved
	res.Backlinks = within(w, toPaths(w.links.Index.Backlinks(string(p))), samePath)
	slices.Sort(res.Backlinks)
	return res, nil
}

// pendingTargets are the linkpaths that a note gets once its suggestions are
// accepted, in the order of the text, each once.
func pendingTargets(raw string) []string {
	found := links.Extract(raw)
	seen := make(map[string]bool)
	for _, l := range found {
		if l.Pending != links.PendingAddition {
			seen[l.Target] = true
		}
	}
	var targets []string
	for _, l := range found {
		if !seen[l.Target] {
			seen[l.Target] = true
			targets = append(targets, l.Target)
		}
	}
	return targets
}

func toPaths(list []string) []model.Path {
	paths := make([]model.Path, len(list))
	for i, s := range list {
		paths[i] = model.Path(s)
	}
	return paths
}

// withLinksRewritten is the raw text of v with the links accepted that pending
// renames have rewritten: the renames are shown as done, and so are these.
func (w *Workspace) withLinksRewritten(ctx context.Context, p model.Path, v *model.Version) (string, error) {
	if !w.anyProposals() {
		return v.Marked(), nil
	}
	list, err := w.suggestionsOf(ctx, p, v)
	if err != nil {
		return "", err
	}
	var rewritten []diffwrap.Suggestion
	for _, s := range list {
		if s.Proposal != "" {
			rewritten = append(rewritten, s.Suggestion)
		}
	}
	return diffwrap.Apply(v.Marked(), diffwrap.Accept(v.Marked(), rewritten...)), nil
}

func (w *Workspace) anyProposals() bool {
	w.treeMu.RLock()
	defer w.treeMu.RUnlock()
	for _, top := range w.root.children {
		if len(top.folder.proposals) > 0 {
			return true
		}
	}
	return false
}
