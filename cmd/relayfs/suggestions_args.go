package main

import (
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/relayfs/relayfs/cmd/relayfs/internal/queue"
)

// registerSelector lets flags choose suggestions.
func registerSelector(cmd *cobra.Command, s *queue.Selector) {
	fl := cmd.Flags()
	fl.StringVar(&s.Glob, "path", "", "only notes whose path or name matches, for example 'Notes/Projects/**'")
	fl.StringVar(&s.Author, "author", "", "only suggestions of this author")
	fl.StringVar(&s.Session, "session", "", "only suggestions of this session")
	fl.StringVar(&s.Kind, "kind", "", "only this kind: "+strings.Join(queue.Kinds(), ", "))
	cmd.RegisterFlagCompletionFunc("kind", cobra.FixedCompletions(queue.Kinds(), cobra.ShellCompDirectiveNoFileComp))
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
