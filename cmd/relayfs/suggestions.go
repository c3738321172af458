package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"strconv"
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
		Short: "Review changes of programs",
		Long: `The review queue: changes of programs that wait for your decision.

ID is the ID of a suggestion as 'list' prints it, or its beginning. Up to ten hex
digits are always an ID; write ./NAME for a vault with such a name. SOURCE is a
vault; the default is the relayfs that serves the current folder, or the only
running relayfs. If no relayfs serves the vault, the command opens it itself.`,
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
				return show(e, list, print)
			})
		},
		ValidArgsFunction: f.completeIDs(true, false),
	}
	f.registerSelector(cmd, &sel)
	e.addJSONFlag(cmd)
	f.registerClient(e, cmd)
	return cmd
}

func (f *workspaceFlags) registerSelector(cmd *cobra.Command, s *reviewqueue.Selector) {
	fl := cmd.Flags()
	fl.StringVar(&s.Glob, "path", "", "only notes whose path or name matches, for example 'Notes/Projects/**'")
	fl.StringVar(&s.Author, "author", "", "only suggestions of this author")
	fl.StringVar(&s.Session, "session", "", "only suggestions of this session")
	fl.StringVar(&s.Kind, "kind", "", "only this kind: "+strings.Join(reviewqueue.Kinds(), ", "))
	registerValues(cmd, map[string][]string{"kind": reviewqueue.Kinds()})
	for flag, of := range map[string]func(*reviewqueue.Suggestion) string{
		"path":    func(x *reviewqueue.Suggestion) string { return x.Path },
		"author":  func(x *reviewqueue.Suggestion) string { return x.Author },
		"session": func(x *reviewqueue.Suggestion) string { return x.Session },
	} {
		_ = cmd.RegisterFlagCompletionFunc(flag, f.completePending(of))
	}
}

func (f *workspaceFlags) withSelected(ctx context.Context, e *env, sel *reviewqueue.Selector, args []string, detailed bool,
	do func(*api.Client, []reviewqueue.Suggestion) error) error {
	ids, sources := splitArgs(args, isID)
	if err := sel.Check(ids); err != nil {
		return err
	}
	return f.withQueue(ctx, e, sources, func(q *api.Client) error {
		list, err := q.Select(ctx, *sel, detailed)
		if err == nil {
			list, err = reviewqueue.WithIDs(list, suggestionID, ids)
		}
		if err != nil {
			return err
		}
		return do(q, list)
	})
}

func suggestionID(s *reviewqueue.Suggestion) string { return s.ID }

func (f *workspaceFlags) withQueue(ctx context.Context, e *env, sources []string, do func(*api.Client) error) error {
	return notAVaultErr(f.ask(ctx, e, sources, do))
}

// notAVaultErr changes the error about a missing vault if its name could be a misspelt ID or batch, or is that of a note.
func notAVaultErr(err error) error {
	missing, ok := errors.AsType[*source.MissingError](err)
	switch {
	case ok && model.Path(missing.Dir).IsNote():
		return cli.WithHint(fmt.Errorf("%q is a note, not a vault", missing.Dir), "select notes with --path, for example --path "+strconv.Quote(filepath.Base(missing.Dir)))
	case !ok || filepath.Base(missing.Dir) != missing.Dir:
		return err
	}
	return cli.WithHint(fmt.Errorf("%q is not a vault, suggestion ID or batch", missing.Dir),
		"'relayfs suggestions list' and 'threads' show IDs, 'log' shows batches; a vault is the directory that Obsidian opens")
}

// noIDErr returns the error for a command that needs an ID and got none. An argument that is not a vault may be a
// misspelt ID, so its error comes first.
func (f *workspaceFlags) noIDErr(sources []string, err error) error {
	if _, parseErr := source.Parse(sources, f.state); parseErr != nil {
		return notAVaultErr(parseErr)
	}
	return err
}

var (
	idPattern    = regexp.MustCompile(`^[0-9a-f]{1,10}$`)
	batchPattern = regexp.MustCompile(`^[0-9]{8}T[0-9]{6}\.[0-9]{3}-[0-9a-f]{8}$`)
	isID         = idPattern.MatchString
	isBatch      = batchPattern.MatchString
)

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
