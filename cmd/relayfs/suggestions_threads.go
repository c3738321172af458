package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/relayfs/relayfs/cmd/relayfs/internal/api"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/cli"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/render"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/reviewqueue"
)

func newThreadsCommand(e *env) *cobra.Command {
	var f workspaceFlags
	var sel reviewqueue.Selector
	cmd := &cobra.Command{
		Use:   "threads [ID...] [SOURCE...]",
		Short: "List the comments in notes",
		Long: `Threads lists the comments that stand in notes, in the text and behind
suggestions, of people and of agents. Comments that touch are one thread.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			ids, sources := splitArgs(args, isID)
			if err := sel.Check(ids); err != nil {
				return err
			}
			return f.withQueue(cmd.Context(), e, sources, func(q *api.Client) error {
				list, err := chooseThreads(cmd.Context(), q, sel, ids)
				if err != nil {
					return err
				}
				return show(e, list, render.Threads)
			})
		},
		ValidArgsFunction: f.completeIDs(false, true),
	}
	cmd.Flags().StringVar(&sel.Glob, "path", "", "only notes whose path or name matches, for example 'Notes/Projects/**'")
	e.addJSONFlag(cmd)
	f.registerClient(e, cmd)
	return cmd
}

// chooseThreads lists the threads with ids that begin so or, without ids, in the notes that sel chooses.
func chooseThreads(ctx context.Context, q *api.Client, sel reviewqueue.Selector, ids []string) ([]reviewqueue.Thread, error) {
	list, err := q.Threads(ctx)
	if err == nil {
		err = q.ReadGlob(ctx, &sel)
	}
	if err != nil {
		return nil, err
	}
	named := make([]reviewqueue.Suggestion, len(list)) // which are chosen by the same rules
	byID := make(map[string]reviewqueue.Thread, len(list))
	for i, t := range list {
		named[i], byID[t.ID] = reviewqueue.Suggestion{ID: t.ID, Path: t.Path}, t
	}
	chosen, err := sel.Choose(named, ids)
	if err != nil {
		return nil, cli.WithHint(err, "'relayfs suggestions threads' lists them")
	}
	out := make([]reviewqueue.Thread, len(chosen))
	for i, s := range chosen {
		out[i] = byID[s.ID]
	}
	return out, nil
}

func newCommentCommand(e *env) *cobra.Command {
	var f workspaceFlags
	var r reviewqueue.CommentRequest
	cmd := &cobra.Command{
		Use:   "comment --text TEXT [ID] [SOURCE...]",
		Short: "Comment on a suggestion or a note, or answer a thread",
		Long: `Comment writes a comment behind the suggestion ID, which stays pending: so you
ask its author for another version. With the ID of a thread it is the answer
there; with --note and --quote it stands behind a passage of a note.`,
		Example: "  relayfs suggestions comment 77d10bf735 --text 'Shorter, please'\n" +
			"  relayfs suggestions comment --note Notes/Pond.md --quote 'two frogs' --text 'Who counted?'",
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			ids, sources := splitArgs(args, isID)
			switch {
			case r.Text == "":
				return cli.Usagef("say what the comment is: --text")
			case len(ids) > 1 || len(ids) == 0 && (r.Path == "" || r.Quote == "") || len(ids) == 1 && r.Path+r.Quote != "":
				return cli.Usagef("give one id of a suggestion or a thread, or --note and --quote")
			}
			return f.withQueue(ctx, e, sources, func(q *api.Client) error {
				if len(ids) == 1 {
					if err := commentTarget(ctx, q, &r, ids[0]); err != nil {
						return err
					}
				}
				out, err := q.Comment(ctx, r)
				if err != nil {
					return err
				}
				return printCommentResult(e, out, "commented", vaultArgs(cmd, sources))
			})
		},
		ValidArgsFunction: f.completeIDs(true, true),
	}
	cmd.Flags().StringVar(&r.Text, "text", "", "the comment, on one line")
	cmd.Flags().StringVar(&r.Path, "note", "", "path of a note, as 'list' shows it")
	cmd.Flags().StringVar(&r.Quote, "quote", "", "the passage, as it stands in the note; it occurs there once")
	e.addJSONFlag(cmd)
	f.registerClient(e, cmd)
	return cmd
}

// commentTarget finds out whether an id is that of a thread or of a suggestion.
func commentTarget(ctx context.Context, q *api.Client, r *reviewqueue.CommentRequest, id string) error {
	var none reviewqueue.Selector
	threads, err := q.Threads(ctx)
	if err != nil {
		return err
	}
	for _, t := range threads {
		if strings.HasPrefix(t.ID, id) {
			r.Thread = t.ID
			return nil
		}
	}
	list, err := q.List(ctx, false)
	if err == nil {
		list, err = none.Choose(list, []string{id})
	}
	if err != nil {
		return err
	}
	if list[0].IsProposal() {
		return cli.Usagef("%s is a proposal, which stands in no text: reject it with --reason", id)
	}
	r.Suggestion = list[0].ID
	return nil
}

func newResolveCommand(e *env) *cobra.Command {
	var f workspaceFlags
	cmd := &cobra.Command{
		Use:   "resolve ID... [SOURCE...]",
		Short: "Take threads of comments out of the text",
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			ids, sources := splitArgs(args, isID)
			if len(ids) == 0 {
				return cli.Usagef("name the threads: 'relayfs suggestions threads' lists them")
			}
			if err := f.refuseAgent("resolving threads"); err != nil {
				return err
			}
			return f.withQueue(ctx, e, sources, func(q *api.Client) error {
				list, err := chooseThreads(ctx, q, reviewqueue.Selector{}, ids)
				if err != nil {
					return err
				}
				var r reviewqueue.ResolveRequest
				for _, t := range list {
					r.Threads = append(r.Threads, t.ID)
				}
				out, err := q.Resolve(ctx, r)
				if err != nil {
					return err
				}
				return errors.Join(printCommentResult(e, out, cli.Plural(len(list)-len(out.Missing), "thread")+" resolved", vaultArgs(cmd, sources)), out.Err())
			})
		},
		ValidArgsFunction: f.completeIDs(false, true),
	}
	e.addJSONFlag(cmd)
	f.registerClient(e, cmd)
	return cmd
}

func printCommentResult(e *env, out reviewqueue.Outcome, done string, where []string) error {
	return show(e, out, func(w io.Writer, out reviewqueue.Outcome) {
		fmt.Fprintf(w, "%s in %s\n", done, cli.Plural(out.Notes, "note"))
		if out.Notes > 0 {
			printUndoHint(e, out.Batch, where)
		}
	})
}
