package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/api"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/cli"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/render"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/reviewqueue"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/source"
)

func newSuggestionsCommand(e *env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "suggestions",
		Short: "Changes that wait for a person",
		Long: `The review queue: changes that programs made and that wait for a person.

ID is a suggestion's id as 'list' prints it, or the beginning of one. SOURCE is
a vault; without one the only running relayfs is asked. A running relayfs does
the work for its vaults; else this command opens the vault itself. What looks
like an id (up to ten characters 0-9a-f) is one; a vault of such a name is ./NAME.`,
		Args: usageArgs(cobra.NoArgs),
		RunE: showHelp,
	}
	cmd.AddCommand(
		newListCommand(e, "list", "List pending suggestions", false, render.List),
		newListCommand(e, "show", "Show suggestions in their context", true, render.Diffs),
		newDecideCommand(e, model.Accepted), newDecideCommand(e, model.Rejected),
		newUndoCommand(e), newLogCommand(e), newReviewCommand(e),
		newThreadsCommand(e), newCommentCommand(e), newResolveCommand(e),
	)
	return cmd
}

func newListCommand(e *env, name, short string, detailed bool, print func(io.Writer, []reviewqueue.Suggestion)) *cobra.Command {
	var f workspaceFlags
	var sel reviewqueue.Selector
	cmd := &cobra.Command{
		Use:   name + " [ID...] [SOURCE...]",
		Short: short,
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.withSelected(cmd.Context(), e, &sel, args, detailed, func(q *api.Client, list []reviewqueue.Suggestion) error {
				if err := render.AddGroups(cmd.Context(), q, list, detailed); err != nil {
					return err
				}
				if err := show(e, list, print); err != nil || e.json || detailed {
					return err
				}
				return f.tellThreads(cmd.Context(), e, q)
			})
		},
		ValidArgsFunction: f.completeIDs(true, false),
	}
	registerSelector(cmd, &sel, &f)
	e.addJSONFlag(cmd)
	f.registerClient(e, cmd)
	return cmd
}

// tellThreads says to a person that there are comments in notes, which are no suggestions.
func (f *workspaceFlags) tellThreads(ctx context.Context, e *env, q *api.Client) error {
	if to, ok := e.stderr.(*os.File); !ok || !cli.IsTerminal(to) {
		return nil
	}
	list, err := q.Threads(ctx)
	list = slices.DeleteFunc(list, func(t reviewqueue.Thread) bool { return t.Suggestion != "" })
	if len(list) > 0 {
		fmt.Fprintf(e.stderr, "%s of comments: 'relayfs suggestions threads' lists them\n", cli.Plural(len(list), "thread"))
	}
	return err
}

func registerSelector(cmd *cobra.Command, s *reviewqueue.Selector, f *workspaceFlags) {
	fl := cmd.Flags()
	fl.StringVar(&s.Glob, "path", "", "only notes whose path or name matches, for example 'Notes/Projects/**'")
	fl.StringVar(&s.Author, "author", "", "only suggestions of this author")
	fl.StringVar(&s.Session, "session", "", "only suggestions of this session")
	fl.StringVar(&s.Kind, "kind", "", "only this kind: "+strings.Join(reviewqueue.Kinds(), ", "))
	registerValues(cmd, map[string][]string{"kind": reviewqueue.Kinds()})
	for flag, field := range map[string]func(reviewqueue.Suggestion) string{
		"path": func(s reviewqueue.Suggestion) string { return s.Path }, "author": func(s reviewqueue.Suggestion) string { return s.Author },
		"session": func(s reviewqueue.Suggestion) string { return s.Session },
	} {
		_ = cmd.RegisterFlagCompletionFunc(flag, f.completeSelected(field)) // the flags are there
	}
}

func (f *workspaceFlags) withSelected(ctx context.Context, e *env, sel *reviewqueue.Selector, args []string, detailed bool,
	do func(*api.Client, []reviewqueue.Suggestion) error) error {
	ids, sources := splitArgs(args, isID)
	if err := sel.Check(ids); err != nil {
		return err
	}
	return f.withQueue(ctx, e, sources, func(q *api.Client) error {
		err := q.ReadGlob(ctx, sel)
		if err != nil {
			return err
		}
		list, err := q.List(ctx, detailed)
		if err == nil {
			list, err = sel.Choose(list, ids)
		}
		if err != nil {
			return err
		}
		return do(q, list)
	})
}

func (f *workspaceFlags) withQueue(ctx context.Context, e *env, sources []string, do func(*api.Client) error) error {
	return notAVaultErr(f.ask(ctx, e, sources, do))
}

// notAVaultErr says of an argument that was taken for a vault, since it is not written like a name of a suggestion or a batch,
// that it is none of them.
func notAVaultErr(err error) error {
	missing, ok := errors.AsType[*source.MissingError](err)
	if !ok || filepath.Base(missing.Dir) != missing.Dir {
		return err
	}
	return cli.WithHint(fmt.Errorf("%q is no vault, and no id or batch either", missing.Dir),
		"'relayfs suggestions list' and 'threads' show ids, 'log' shows batches; a vault is the directory that Obsidian opens")
}

var (
	idPattern    = regexp.MustCompile(`^[0-9a-f]{1,10}$`)
	batchPattern = regexp.MustCompile(`^[0-9]{8}T[0-9]{6}\.[0-9]{3}-[0-9a-f]{4}(?:[0-9a-f]{4})?$|^[0-9a-f]{8}-[0-9]+$`)
	isID         = idPattern.MatchString
	isBatch      = batchPattern.MatchString
)

// splitArgs separates the names of suggestions or batches from the sources.
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
