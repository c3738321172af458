package indexes

import (
	"context"

	"github.com/relayfs/relayfs/bridge/frontmatter"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/noteindex"
	"github.com/relayfs/relayfs/bridge/tree"
)

// Notes describes the notes at or below under, sorted by path. The first call
// reads every note of the workspace; a context with [model.WithProgress] hears of that.
func (x *Indexes) Notes(ctx context.Context, under model.Path) ([]*noteindex.NoteInfo, error) {
	if _, err := x.tree.Find("list", under); err != nil {
		return nil, err
	}
	if err := x.followNotes.Current(ctx); err != nil {
		return nil, err
	}
	return tree.Reached(x.tree, x.notes.Below(under), pathOf), nil
}

// NotesWith describes the notes that have every one of the properties, sorted by
// path. Keys and texts match whatever their case, numbers match their texts; a
// list has a property if one of its items matches, and a wanted list means any of
// its items. "tags" are those in the text, too, and those nested in a wanted tag.
// A wanted null is a property that is there and empty.
func (x *Indexes) NotesWith(ctx context.Context, want frontmatter.Properties) ([]*noteindex.NoteInfo, error) {
	if err := x.followNotes.Current(ctx); err != nil {
		return nil, err
	}
	return tree.Reached(x.tree, x.notes.With(want), pathOf), nil
}

func pathOf(n *noteindex.NoteInfo) model.Path { return n.Path }

// NotesPending is how many notes are yet to be read for Notes, or could not be.
func (x *Indexes) NotesPending() int { return x.followNotes.Pending() }
