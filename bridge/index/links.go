package index

import (
	"context"

	"github.com/relayfs/relayfs/bridge/index/links"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/diffwrap"
)

type LinkIndex struct {
	*links.Index
	textOf func(context.Context, model.Path, *model.Version) (string, diffwrap.Known, error)
}

func (x *LinkIndex) add(p model.Path) { x.Index.AddFile(string(p)) }

func (x *LinkIndex) remove(p model.Path) { x.Index.Remove(string(p)) }

func (x *LinkIndex) rename(oldPath, newPath model.Path) {
	x.Index.Rename(string(oldPath), string(newPath))
}

func (x *LinkIndex) set(ctx context.Context, p model.Path, v *model.Version) error {
	raw, known, err := x.textOf(ctx, p, v)
	if err == nil {
		x.Index.Set(string(p), linksOf(raw, known))
	}
	return err
}

// linksOf returns the links of a marked text and, as pending, the links of its accepted view, because a reference
// definition may be at the start of a block only in that view.
func linksOf(raw string, known diffwrap.Known) []links.Link {
	list := links.ExtractMarked(raw, known)
	if accepted := known.Accepted(raw); accepted != raw {
		for _, l := range links.Extract(accepted) {
			l.Pending = links.PendingAddition
			list = append(list, l)
		}
	}
	return list
}
