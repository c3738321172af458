package namespace

import (
	"context"

	"github.com/relayfs/relayfs/bridge/index/links"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/namespace/internal/tree"
	"github.com/relayfs/relayfs/bridge/note"
)

// The names in memory, which the other packages read. The package's own types change them.
type (
	Tree       = tree.Tree     // all names, or those that one client reaches
	TreeFolder = tree.Folder   // a source as a top-level folder of a Tree
	Node       = tree.Node     // what has a name
	Proposal   = tree.Proposal // a pending change of names
	Info       = tree.Info     // a node as it was at one moment
	Rules      = tree.Rules    // what agents do not reach, or not change
)

// NewRules returns the rules of two lists of globs, nil if both are empty.
func NewRules(hide, lock []string) (*Rules, error) { return tree.NewRules(hide, lock) }

func NewTree(notes *note.Set) *Tree { return tree.New(notes) }

// Reached keeps of list what lies in the Folders of t.
func Reached[T any](t *Tree, list []T, at func(T) model.Path) []T { return tree.Reached(t, list, at) }

// LinkIndex has the links that a rename has to follow.
type LinkIndex interface {
	LinkIndex(ctx context.Context) (*links.Index, error)
}
