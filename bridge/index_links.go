package bridge

import (
	"context"

	"github.com/relayfs/relayfs/bridge/links"
)

// linkIndex is what a follower keeps current for Links.
type linkIndex struct {
	*links.Index
	textOf func(context.Context, Path, *Version) (string, error)
}

// newLinkIndex is an empty index; textOf is the text of a note whose links count.
func newLinkIndex(textOf func(context.Context, Path, *Version) (string, error)) *linkIndex {
	return &linkIndex{links.NewIndex(), textOf}
}

func (x *linkIndex) add(p Path) { x.Index.AddFile(string(p)) }

func (x *linkIndex) remove(p Path) { x.Index.Remove(string(p)) }

func (x *linkIndex) rename(oldPath, newPath Path) { x.Index.Rename(string(oldPath), string(newPath)) }

func (x *linkIndex) set(ctx context.Context, p Path, v *Version) error {
	raw, err := x.textOf(ctx, p, v)
	if err == nil {
		x.Index.Set(string(p), links.Extract(raw))
	}
	return err
}
