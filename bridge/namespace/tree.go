package namespace

import (
	"context"

	"github.com/relayfs/relayfs/bridge/index/links"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/namespace/internal/tree"
	"github.com/relayfs/relayfs/bridge/note"
)

// The tree of names in memory, which other packages read. Only types of this package change it.
type (
	Tree     = tree.Tree     // all names, or the names in a restricted workspace
	TreeRoot = tree.Root     // a source as a top-level folder of a Tree
	Node     = tree.Node     // a note, file, folder or link
	Proposal = tree.Proposal // a pending change of names
	Info     = tree.Info     // a node at one moment
	Rules    = tree.Rules    // the paths that agents cannot reach or cannot change
)

// NewRules returns the rules of two lists of globs, or nil if both are empty.
func NewRules(hide, lock []string) (*Rules, error) { return tree.NewRules(hide, lock) }

func NewTree(notes *note.Set) *Tree { return tree.New(notes) }

func FilterVisible[T any](t *Tree, list []T, at func(T) model.Path) []T {
	return tree.FilterVisible(t, list, at)
}

type LinkIndex interface {
	LinkIndex(ctx context.Context) (*links.Index, error)
}
