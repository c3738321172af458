// Package indexes keeps what is computed from the text of every note current for a tree:
// links, suggestions, and what notes hold. An index is built when it is first asked for,
// which reads every note; from then on it reads those that changed.
package indexes

import (
	"context"
	"log/slog"

	"github.com/relayfs/relayfs/bridge/activity"
	"github.com/relayfs/relayfs/bridge/attribution"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/noteindex"
	"github.com/relayfs/relayfs/bridge/tree"
)

// Indexes are those of a tree, or as much of them as a part of it reaches.
type Indexes struct {
	*whole
	tree *tree.Tree
}

type whole struct {
	links         *noteindex.LinkIndex
	followLinks   *noteindex.Follower
	pending       *noteindex.SuggestionIndex
	followPending *noteindex.Follower
	notes         *noteindex.NoteIndex
	followNotes   *noteindex.Follower
}

// New makes the indexes of t, which follow what act publishes.
func New(t *tree.Tree, act *activity.Activity, log *slog.Logger) *Indexes {
	x := &Indexes{&whole{notes: noteindex.NewNoteIndex()}, t}
	x.links = noteindex.NewLinkIndex(x.withLinksRewritten)
	x.pending = noteindex.NewSuggestionIndex(x.suggestionsOf)
	from := followed{t, act}
	x.followLinks = noteindex.NewFollower(from, log, x.links)
	x.followPending = noteindex.NewFollower(from, log, x.pending)
	x.followNotes = noteindex.NewFollower(from, log, x.notes)
	return x
}

// Within are the indexes as far as a part of the tree reaches.
func (x *Indexes) Within(part *tree.Tree) *Indexes { return &Indexes{x.whole, part} }

// followed is a tree as its indexes follow it.
type followed struct {
	*tree.Tree
	act *activity.Activity
}

func (f followed) Follow(fn func(model.Event)) { f.act.Subscribe(fn) }

func (f followed) EachName(ctx context.Context, fn func(model.Path, model.Kind)) error {
	list, err := f.Below("")
	for _, e := range list {
		fn(e.Path, e.Kind)
	}
	return err
}

func (f followed) Read(ctx context.Context, p model.Path) (*model.Version, error) {
	return f.Open(model.NoWait(ctx), p)
}

// Suggestions lists what waits for a person at or below under, sorted by path
// and place; fs.ErrNotExist.
func (x *Indexes) Suggestions(ctx context.Context, under model.Path) ([]model.Suggestion, error) {
	if _, err := x.tree.Find("list", under); err != nil {
		return nil, err
	}
	if err := x.followPending.Current(ctx); err != nil {
		return nil, err
	}
	return tree.Reached(x.tree, x.pending.Below(under), func(s model.Suggestion) model.Path { return s.Path }), nil
}

// suggestionsOf lists the suggestions of the note at p in the state v.
func (x *Indexes) suggestionsOf(ctx context.Context, p model.Path, v *model.Version) ([]model.Suggestion, error) {
	if v.ReadOnly() || !attribution.MarksIn(v.Marked()) {
		return nil, nil
	}
	n, err := x.tree.FindNote("open", p)
	if err != nil {
		return nil, err
	}
	return n.Suggestions(ctx, p)
}
