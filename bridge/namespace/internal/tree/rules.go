package tree

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/relayfs/relayfs/bridge/model"
)

// Rules restrict agents' access to parts of a tree. A glob matches a path in the workspace or in its root, and covers
// everything below that path. Matching ignores case and Unicode composition, because some disks treat such names as
// equal.
type Rules struct {
	hide, lock []glob
}

type glob struct {
	written string
	folded  model.Glob
}

// NewRules returns the rules of two lists of globs, or nil if both are empty.
func NewRules(hide, lock []string) (*Rules, error) {
	r := new(Rules)
	for _, list := range []struct {
		name  string
		globs []string
		to    *[]glob
	}{{"hide", hide, &r.hide}, {"lock", lock, &r.lock}} {
		for _, written := range list.globs {
			folded := foldCase(strings.Trim(written, "/"))
			if folded == "" {
				continue
			}
			g, err := model.ParseGlob(folded)
			if err != nil || !fs.ValidPath(folded) || folded == "." {
				return nil, fmt.Errorf("%s: %q is not a valid glob", list.name, written)
			}
			*list.to = append(*list.to, glob{written, g})
		}
	}
	if len(r.hide)+len(r.lock) == 0 {
		return nil, nil
	}
	return r, nil
}

func foldCase(s string) string { return strings.ToLower(model.FoldName(s)) }

// match returns the glob that matches p or a folder above p. No glob matches a root itself.
func match(globs []glob, p model.Path) (written string, ok bool) {
	if len(globs) == 0 {
		return "", false
	}
	for q := model.Path(foldCase(string(p))); ; q = q.Dir() {
		_, rel := q.Split()
		if rel == "" {
			return "", false
		}
		for _, g := range globs {
			if g.folded.Matches(rel) || g.folded.Matches(string(q)) {
				return g.written, true
			}
		}
	}
}

// WithRules returns the part of the tree that agents can reach under r.
func (t *Tree) WithRules(r *Rules) *Tree { return &Tree{t.shared, t.root, r} }

// withoutRules returns t without rules. This is the tree that users reach.
func (t *Tree) withoutRules() *Tree { return t.WithRules(nil) }

// hides reports whether the rules hide n. It checks both the shown path of n and its source path, so that a pending
// rename cannot reveal n. A link is hidden if its target is hidden. The caller must hold t.mu.
func (t *Tree) hides(n *Node) bool {
	if t.rules == nil || n.Root == nil {
		return false
	}
	paths := []model.Path{n.path(), n.sourcePath()}
	if n.Kind == model.KindLink && n.parent != nil {
		paths = append(paths, n.leadsTo())
	}
	return slices.ContainsFunc(paths, func(p model.Path) bool {
		_, hidden := match(t.rules.hide, p)
		return hidden
	})
}

// shown removes the hidden nodes from list.
func (t *Tree) shown(list []*Node) []*Node {
	if t.rules == nil {
		return list
	}
	return slices.DeleteFunc(list, t.hides)
}

// MayChange returns a ReadOnlyError that names the rule by which agents may not change or create p, or nil.
func (t *Tree) MayChange(op string, p model.Path) error {
	if t.rules == nil {
		return nil
	}
	t.mu.RLock()
	defer t.mu.RUnlock()
	folder, _ := p.Split()
	for _, at := range []model.Path{p, model.Path(path.Join(folder, t.withoutRules().sourcePath(p)))} {
		if err := t.rules.refusal(at, "it is"); err != nil {
			return &model.Error{Op: op, Path: p, Err: err}
		}
	}
	return nil
}

// MayMove is MayChange for everything in n, because a move of n would change all these paths.
func (t *Tree) MayMove(op string, n *Node) (err error) {
	if t.rules == nil {
		return nil
	}
	t.mu.RLock()
	defer t.mu.RUnlock()
	n.walk(func(c *Node) {
		for _, at := range []model.Path{c.path(), c.sourcePath()} {
			if why := t.rules.refusal(at, "it contains a file or folder that is"); why != nil && err == nil {
				err = &model.Error{Op: op, Path: n.path(), Err: why}
			}
		}
	})
	return err
}

func (r *Rules) refusal(p model.Path, what string) error {
	if glob, hidden := match(r.hide, p); hidden {
		return &model.ReadOnlyError{Reason: fmt.Sprintf("%s hidden from agents, by hide = %q in relayfs's settings", what, glob)}
	}
	if glob, locked := match(r.lock, p); locked {
		return &model.ReadOnlyError{Reason: fmt.Sprintf("%s locked, by lock = %q in relayfs's settings", what, glob)}
	}
	return nil
}
