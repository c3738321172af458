package bridge

import "context"

// followedTree is the workspace as its indexes follow it.
type followedTree struct{ w *Workspace }

func (t followedTree) Follow(fn func(Event)) { t.w.events.subscribe(fn) }

func (t followedTree) EachName(ctx context.Context, fn func(Path, Kind)) error {
	return t.w.Walk(ctx, "", func(e DirEntry, p Path) error {
		fn(p, e.Kind)
		return nil
	})
}

func (t followedTree) Read(ctx context.Context, p Path) (*Version, error) {
	return t.w.Open(noWait(ctx), p)
}

func (t followedTree) LeadsToFolder(p Path) bool { return t.w.leadsToFolder(p) }
