package main

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/spf13/cobra"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/clierr"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/output"
	"github.com/relayfs/relayfs/diffwrap"
)

// selector chooses suggestions by what they are; all of its conditions must hold.
type selector struct {
	glob    string // of the path or of its last element
	author  string
	session string
	kind    string
}

func (s *selector) register(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringVar(&s.glob, "path", "", "only notes whose path or name matches, for example 'Notes/Projects/**'")
	fl.StringVar(&s.author, "author", "", "only suggestions of this author")
	fl.StringVar(&s.session, "session", "", "only suggestions of this session")
	fl.StringVar(&s.kind, "kind", "", "only this kind: "+strings.Join(kinds(), ", "))
	cmd.RegisterFlagCompletionFunc("kind", cobra.FixedCompletions(kinds(), cobra.ShellCompDirectiveNoFileComp))
}

func kinds() []string {
	return []string{diffwrap.Addition.String(), diffwrap.Deletion.String(), diffwrap.Replacement.String(), diffwrap.Comment.String(),
		string(bridge.ProposedRename), string(bridge.ProposedDelete), string(bridge.ProposedFile)}
}

func (s *selector) empty() bool { return *s == selector{} }

func (s *selector) check(ids []string) error {
	switch {
	case s.glob != "" && !doublestar.ValidatePattern(s.glob):
		return clierr.Usagef("--path %q is not a valid pattern", s.glob)
	case s.kind != "" && !slices.Contains(kinds(), s.kind):
		return clierr.Usagef("--kind %q is none of %s", s.kind, strings.Join(kinds(), ", "))
	case !s.empty() && len(ids) > 0:
		return clierr.Usagef("give ids or conditions, not both")
	}
	return nil
}

func (s *selector) matches(x *suggestion) bool {
	switch {
	case s.glob != "" && !doublestar.MatchUnvalidated(s.glob, x.Path) && !doublestar.MatchUnvalidated(s.glob, path.Base(x.Path)),
		s.author != "" && x.Author != s.author,
		s.session != "" && x.Session != s.session,
		s.kind != "" && x.Kind != s.kind:
		return false
	}
	return true
}

// choose keeps what has the given ids, in the order of the list, or, without
// ids, what matches. The result is not nil.
func (s *selector) choose(list []suggestion, ids []string) ([]suggestion, error) {
	named := make(map[string]bool, len(ids))
	for _, id := range ids {
		full, err := resolveID(list, id)
		if err != nil {
			return nil, err
		}
		named[full] = true
	}
	kept := []suggestion{}
	for i := range list {
		if len(ids) > 0 && named[list[i].ID] || len(ids) == 0 && s.matches(&list[i]) {
			kept = append(kept, list[i])
		}
	}
	return kept, nil
}

// resolveID finds the id that starts with prefix.
func resolveID(list []suggestion, prefix string) (string, error) {
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
		return "", clierr.WithHint(fmt.Errorf("no pending suggestion %s", prefix),
			"'relayfs suggestions list' shows what is pending, 'relayfs suggestions log' what was decided")
	}
	return "", clierr.WithHint(fmt.Errorf("several ids begin with %s: %s", prefix, strings.Join(found, ", ")), "type more of it")
}

var (
	idPattern    = regexp.MustCompile(`^[0-9a-f]{1,10}$`)
	batchPattern = regexp.MustCompile(`^[0-9]{8}T[0-9]{6}\.[0-9]{3}-[0-9a-f]{4}(?:[0-9a-f]{4})?$|^[0-9a-f]{8}-[0-9]+$`)
)

func isID(arg string) bool { return idPattern.MatchString(arg) }

func isBatch(arg string) bool { return batchPattern.MatchString(arg) }

// splitArgs parts the names of what is in the queue from the sources.
func splitArgs(args []string, isName func(string) bool) (names, sources []string) {
	for _, arg := range args {
		if isName(arg) {
			names = append(names, arg)
		} else {
			sources = append(sources, arg)
		}
	}
	return names, sources
}

// completeIDs offers the ids that a running owner has pending, and files, since
// a vault may be meant.
func completeIDs(f *queueFlags) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, prefix string) ([]cobra.Completion, cobra.ShellCompDirective) {
		given, sources := splitArgs(args, isID)
		c, err := findOwner(cmd.Context(), &f.workspaceFlags, sources)
		if err != nil || c == nil {
			return nil, cobra.ShellCompDirectiveDefault
		}
		list, err := remoteQueue{c}.list(cmd.Context(), false)
		if err != nil {
			return nil, cobra.ShellCompDirectiveDefault
		}
		var out []cobra.Completion
		for _, s := range list {
			if strings.HasPrefix(s.ID, prefix) && !slices.Contains(given, s.ID) {
				out = append(out, cobra.CompletionWithDesc(s.ID, output.OneLine(s.Path+" "+s.gist())))
			}
		}
		return out, cobra.ShellCompDirectiveDefault
	}
}
