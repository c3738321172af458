package indexes

import (
	"context"
	"slices"

	"github.com/relayfs/relayfs/bridge/links"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/tree"
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
func (x *Indexes) Links(ctx context.Context, p model.Path) (Links, error) {
	v, err := x.tree.Open(ctx, p)
	if err != nil {
		return Links{}, err
	}
	index, err := x.LinkIndex(ctx)
	if err != nil {
		return Links{}, err
	}
	raw, err := x.withLinksRewritten(ctx, p, v)
	if err != nil {
		return Links{}, err
	}
	samePath := func(p model.Path) model.Path { return p }
	_, pending := links.Targets(links.Extract(raw))
	res := Links{Pending: pending}
	forward, unresolved := index.Forward(string(p))
	res.Forward, res.Unresolved = tree.Reached(x.tree, toPaths(forward), samePath), unresolved
	res.Backlinks = tree.Reached(x.tree, toPaths(index.Backlinks(string(p))), samePath)
	slices.Sort(res.Backlinks)
	return res, nil
}

// LinkIndex is the index of the links of all notes. After an error it may lack some.
func (x *Indexes) LinkIndex(ctx context.Context) (*links.Index, error) {
	return x.links.Index, x.followLinks.Current(ctx)
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
func (x *Indexes) withLinksRewritten(ctx context.Context, p model.Path, v *model.Version) (string, error) {
	if !x.tree.HasProposals() {
		return v.Marked(), nil
	}
	list, err := x.suggestionsOf(ctx, p, v)
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
