package bridge

import (
	"context"

	"github.com/relayfs/relayfs/bridge/model"
)

// followedTree is the workspace as its indexes follow it.
type followedTree struct{ w *Workspace }

func (t followedTree) Follow(fn func(model.Event)) { t.w.act.Subscribe(fn) }

func (t followedTree) EachName(ctx context.Context, fn func(model.Path, model.Kind)) error {
	return t.w.Walk(ctx, "", func(e DirEntry, p model.Path) error {
		fn(p, e.Kind)
		return nil
	})
}

func (t followedTree) Read(ctx context.Context, p model.Path) (*model.Version, error) {
	return t.w.Open(model.NoWait(ctx), p)
}

func (t followedTree) LeadsToFolder(p model.Path) bool { return t.w.leadsToFolder(p) }
