package reviewqueue

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/cli"
	"github.com/relayfs/relayfs/diffwrap"
)

// Selector chooses suggestions. All of its conditions must hold.
type Selector struct {
	Glob    string // of the path or of its last element
	Author  string
	Session string
	Kind    string
}

// Kinds returns the kinds of suggestions and proposals.
func Kinds() []string {
	return []string{diffwrap.Addition.String(), diffwrap.Deletion.String(), diffwrap.Replacement.String(), diffwrap.Comment.String(),
		string(model.ProposedRename), string(model.ProposedDelete), string(model.ProposedFile)}
}

// Empty reports whether there is no condition.
func (s *Selector) Empty() bool { return *s == Selector{} }

// Check refuses conditions that are not valid, or that are combined with ids.
func (s *Selector) Check(ids []string) error {
	switch {
	case s.Kind != "" && !slices.Contains(Kinds(), s.Kind):
		return cli.Usagef("--kind %q is none of %s", s.Kind, strings.Join(Kinds(), ", "))
	case !s.Empty() && len(ids) > 0:
		return cli.Usagef("give ids or conditions, not both")
	}
	return nil
}

// ReadGlob checks the pattern of paths. A pattern that begins with the path or the name of something that exists means that;
// names returns the paths that exist.
func (s *Selector) ReadGlob(names func() ([]string, error)) (err error) {
	given := s.Glob
	var there map[string]bool
	s.Glob = model.LiteralGlob(given, func(p string) bool {
		if there == nil && err == nil {
			var list []string
			list, err = names()
			there = make(map[string]bool, 2*len(list))
			for _, name := range list {
				there[name], there[path.Base(name)] = true, true
			}
		}
		return there[p]
	})
	if err == nil && !doublestar.ValidatePattern(s.Glob) {
		err = cli.Usagef("--path %q is not a valid pattern", given)
	}
	return err
}

// Matches reports whether all conditions hold for x.
func (s *Selector) Matches(x *Suggestion) bool {
	switch {
	case s.Glob != "" && !doublestar.MatchUnvalidated(s.Glob, x.Path) && !doublestar.MatchUnvalidated(s.Glob, path.Base(x.Path)),
		s.Author != "" && x.Author != s.Author,
		s.Session != "" && x.Session != s.Session,
		s.Kind != "" && x.Kind != s.Kind:
		return false
	}
	return true
}

// Choose returns, in the order of the list, the suggestions with the ids or, without ids, those that match.
func (s *Selector) Choose(list []Suggestion, ids []string) ([]Suggestion, error) {
	named := make(map[string]bool, len(ids))
	for _, id := range ids {
		full, err := resolveID(list, id)
		if err != nil {
			return nil, err
		}
		named[full] = true
	}
	kept := []Suggestion{}
	for i := range list {
		if len(ids) > 0 && named[list[i].ID] || len(ids) == 0 && s.Matches(&list[i]) {
			kept = append(kept, list[i])
		}
	}
	return kept, nil
}

// resolveID returns the id that begins with prefix.
func resolveID(list []Suggestion, prefix string) (string, error) {
	var found []string
	for i := range list {
		if list[i].ID == prefix {
			return prefix, nil
		}
		if strings.HasPrefix(list[i].ID, prefix) {
			found = append(found, list[i].ID)
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return "", cli.WithHint(fmt.Errorf("no pending suggestion %s", prefix),
			"'relayfs suggestions list' shows what is pending, 'relayfs suggestions log' what was decided")
	}
	return "", cli.WithHint(fmt.Errorf("several ids begin with %s: %s", prefix, strings.Join(found, ", ")), "type more of it")
}
