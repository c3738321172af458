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

func (x *LinkIndex) rename(oldPath, newPath model.Path) []model.Path {
	x.Index.Rename(string(oldPath), string(newPath))
	return nil
}

func (x *LinkIndex) set(ctx context.Context, p model.Path, v *model.Version) error {
	raw, known, err := x.textOf(ctx, p, v)
	if err == nil {
		settled, pending := linksOf(raw, known)
		x.Index.Set(string(p), settled, pending)
	}
	return err
}

// linksOf returns the links of the original view of a note and, as pending, those of its accepted view.
func linksOf(raw string, known diffwrap.Known) (settled, pending []links.Link) {
	original := known.Original(raw)
	if accepted := known.Accepted(raw); accepted != original {
		pending = links.Extract(accepted)
	}
	return links.Extract(original), pending
}
