package history

import (
	"context"
	"errors"
	"io/fs"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/namespace"
)

type Archive struct{ tree *namespace.Tree }

func NewArchive(t *namespace.Tree) *Archive { return &Archive{t} }

// History returns the history of the note at p. If a vault has no note at p now, it returns the history of the last
// note there. Errors: fs.ErrNotExist; UnknownError if the store has none of the note's changes.
func (a *Archive) History(ctx context.Context, p model.Path) (*History, error) {
	name, _ := p.Split()
	f := a.tree.Root(name)
	if f == nil || !a.tree.Contains(p) {
		return nil, &model.Error{Op: "open", Path: p, Err: fs.ErrNotExist}
	}
	id, err := a.document(ctx, f, p)
	if err != nil {
		return nil, err
	}
	past, err := f.Store.Revisions(id)
	if err != nil {
		return nil, model.WrapError("open", p, err)
	}
	if len(past.Revisions) == 0 && past.Begin.Seq == 0 {
		return nil, errNoHistory(p)
	}
	h, err := New(past)
	return h, model.WrapError("open", p, err)
}

func errNoHistory(p model.Path) error {
	return &UnknownError{string(p) + " has no history: the history begins with the first change by an agent, or the first decision"}
}

func (a *Archive) document(ctx context.Context, f *namespace.TreeRoot, p model.Path) (model.DocID, error) {
	rel := a.tree.SourcePath(p)
	if docs, ok := f.Source.(model.Documents); ok {
		d, err := docs.Document(model.WithoutBlocking(ctx), rel)
		if err != nil {
			return "", model.WrapError("open", p, err)
		}
		return d.ID(), nil
	}
	_, _ = a.tree.Open(ctx, p) // the first read of a note finds its document; the history of a note that cannot be read is that of its path
	id, err := f.Store.DocID(model.Path(rel))
	if !errors.Is(err, fs.ErrNotExist) {
		return id, model.WrapError("open", p, err)
	}
	if n, found := a.tree.Find("open", p); found == nil && n.Kind == model.KindNote {
		return "", errNoHistory(p)
	}
	if id, err := f.Store.DocID(model.Path(rel).Ended()); err == nil {
		return id, nil
	}
	return "", &model.Error{Op: "open", Path: p, Err: fs.ErrNotExist}
}
