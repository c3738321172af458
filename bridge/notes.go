package bridge

import (
	"context"

	"github.com/relayfs/relayfs/bridge/frontmatter"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/noteindex"
)

// Notes describes the notes at or below under, sorted by path. The first call
// reads every note of the workspace; a context with [WithProgress] hears of that.
func (w *Workspace) Notes(ctx context.Context, under model.Path) ([]*noteindex.NoteInfo, error) {
	if _, err := w.find("list", under); err != nil {
		return nil, err
	}
	if err := w.followNotes.Current(ctx); err != nil {
		return nil, err
	}
	return within(w, w.outlines.Below(under), pathOf), nil
}

// NoteInfo describes the note at p, and reads no other. Errors: fs.ErrNotExist,
// ErrNotNote, ErrIsDir; ErrOffline and the like if the note could not be read.
func (w *Workspace) NoteInfo(ctx context.Context, p model.Path) (*noteindex.NoteInfo, error) {
	v, err := w.Open(ctx, p)
	if err != nil {
		return nil, err
	}
	return noteindex.NewNoteInfo(p, v), nil
}

// NotesWith describes the notes that have every one of the properties, sorted by
// path. Keys and texts match whatever their case, numbers match their texts; a
// list has a property if one of its items matches, and a wanted list means any of
// its items. "tags" are those in the text, too, and those nested in a wanted tag.
// A wanted null is a property that is there and empty.
func (w *Workspace) NotesWith(ctx context.Context, want frontmatter.Properties) ([]*noteindex.NoteInfo, error) {
	if err := w.followNotes.Current(ctx); err != nil {
		return nil, err
	}
	return within(w, w.outlines.With(want), pathOf), nil
}

func pathOf(n *noteindex.NoteInfo) model.Path { return n.Path }

// NotesPending is how many notes are yet to be read for Notes, or could not be.
func (w *Workspace) NotesPending() int { return w.followNotes.Pending() }
