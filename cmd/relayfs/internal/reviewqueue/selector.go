package reviewqueue

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/cli"
	"github.com/relayfs/relayfs/diffwrap"
)

// Selector selects the suggestions that fulfil all of its conditions. Call Check and ReadGlob before Matches.
type Selector struct {
	Glob    string // pattern for the path, or for the last element of the path
	Author  string
	Session string
	Kind    string
	glob    model.Glob
}

func Kinds() []string {
	return []string{diffwrap.Addition.String(), diffwrap.Deletion.String(), diffwrap.Replacement.String(), diffwrap.Comment.String(),
		string(model.ProposedRename), string(model.ProposedDelete), string(model.ProposedFile)}
}

func (s *Selector) Empty() bool {
	return s.Glob == "" && s.Author == "" && s.Session == "" && s.Kind == ""
}

// Check returns an error if the kind is unknown, or if there are both conditions and IDs.
func (s *Selector) Check(ids []string) error {
	switch {
	case s.Kind != "" && !slices.Contains(Kinds(), s.Kind):
		return cli.Usagef("kind %q is not one of %s", s.Kind, strings.Join(Kinds(), ", "))
	case !s.Empty() && len(ids) > 0:
		return cli.Usagef("give IDs or conditions, not both")
	}
	return nil
}

// ReadGlob checks the pattern. If the pattern begins with an existing path or name, that part is taken literally. names
// must return the existing paths.
func (s *Selector) ReadGlob(names func() ([]string, error)) (err error) {
	given := s.Glob
	var existing map[string]bool
	s.Glob = model.LiteralGlob(given, func(p string) bool {
		if existing == nil && err == nil {
			var list []string
			list, err = names()
			existing = make(map[string]bool, 2*len(list))
			for _, name := range list {
				existing[name], existing[path.Base(name)] = true, true
			}
		}
		return existing[p]
	})
	if err != nil {
		return err
	}
	if s.glob, err = model.ParseGlob(s.Glob); err != nil {
		err = cli.Usagef("path %.200q is not a valid pattern: %w", given, err)
	}
	return err
}

func (s *Selector) Matches(x *Suggestion) bool {
	switch {
	case s.Glob != "" && !s.glob.Matches(x.Path) && !s.glob.Matches(path.Base(x.Path)),
		s.Author != "" && x.Author != s.Author,
		s.Session != "" && x.Session != s.Session,
		s.Kind != "" && x.Kind != s.Kind:
		return false
	}
	return true
}

// WithIDs returns the elements of list whose IDs are in prefixes or begin with one of them, in the order of list. Each
// prefix must match exactly one element. Without prefixes it returns list.
func WithIDs[T any](list []T, idOf func(*T) string, prefixes []string) ([]T, error) {
	if len(prefixes) == 0 {
		return list, nil
	}
	ids := make([]string, len(list))
	for i := range list {
		ids[i] = idOf(&list[i])
	}
	var named []string
	for _, prefix := range prefixes {
		found := []string{prefix}
		if !slices.Contains(ids, prefix) {
			found = slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return !strings.HasPrefix(id, prefix) })
		}
		switch len(found) {
		case 1:
			named = append(named, found[0])
		case 0:
			return nil, cli.WithHint(fmt.Errorf("%s is not pending", prefix),
				"'relayfs suggestions list' and 'threads' show what is pending, 'relayfs suggestions log' what was decided")
		default:
			return nil, cli.WithHint(fmt.Errorf("several IDs begin with %s: %s", prefix, strings.Join(found, ", ")), "type more characters of the ID")
		}
	}
	return slices.DeleteFunc(slices.Clone(list), func(x T) bool { return !slices.Contains(named, idOf(&x)) }), nil
}
