package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/relayfs/relayfs/cmd/relayfs/internal/api"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/cli"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/render"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/reviewqueue"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/serving"
)

func newThreadsCommand(e *env) *cobra.Command {
	var f workspaceFlags
	var sel reviewqueue.Selector
	cmd := &cobra.Command{
		Use:   "threads [ID...] [SOURCE...]",
		Short: "List the comments in notes",
		Long: `Threads lists the comments in notes: comments in the text and on suggestions, by
users and by agents. Adjacent comments are one thread.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			ids, sources := splitArgs(args, isID)
			if err := sel.Check(ids); err != nil {
				return err
			}
			return f.withQueue(cmd.Context(), e, sources, func(q *api.Client) error {
				list, err := chooseThreads(cmd.Context(), q, sel.Glob, ids)
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

func chooseThreads(ctx context.Context, q *api.Client, glob string, ids []string) ([]reviewqueue.Thread, error) {
	list, err := q.Threads(ctx, glob)
	if err != nil {
		return nil, err
	}
	return reviewqueue.WithIDs(list, func(t *reviewqueue.Thread) string { return t.ID }, ids)
}

func newCommentCommand(e *env) *cobra.Command {
	var f workspaceFlags
	var r reviewqueue.CommentRequest
	cmd := &cobra.Command{
		Use:   "comment --text TEXT [ID] [SOURCE...]",
		Short: "Comment on a suggestion or a note, or answer a thread",
		Long: `Comment attaches a comment to suggestion ID, asking its author for another version.
The suggestion stays pending. With the ID of a thread it answers the thread. With
--note and --quote it comments on a passage of a note.`,
		Example: "  relayfs suggestions comment 77d10bf735 --text 'Shorter, please'\n" +
			"  relayfs suggestions comment --note Notes/Pond.md --quote 'two frogs' --text 'Who counted?'",
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			ids, sources := splitArgs(args, isID)
			switch {
			case r.Text == "":
				return cli.Usagef("the comment is missing: add --text")
			case !utf8.ValidString(r.Text): // encoding/json would replace the user's characters
				return cli.Usagef("the comment is not valid UTF-8: convert it first, for example with iconv")
			case len(ids) > 1 || len(ids) == 0 && (r.Path == "" || r.Quote == "") || len(ids) == 1 && r.Path+r.Quote != "":
				return f.noIDErr(sources, cli.Usagef("give the ID of one suggestion or thread, or --note and --quote"))
			}
			if err := f.refuseAgent("commenting on notes", runReview); err != nil {
				return err
			}
			return f.withQueue(ctx, e, sources, func(q *api.Client) error {
				if len(ids) == 1 {
					if err := commentTarget(ctx, q, &r, ids[0]); err != nil {
						return err
					}
				}
				r.Path = serving.PathIn(q.Owner(), r.Path)
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
	cmd.Flags().StringVar(&r.Quote, "quote", "", "the passage, which must occur once in the note")
	e.addJSONFlag(cmd)
	f.registerClient(e, cmd)
	return cmd
}

func commentTarget(ctx context.Context, q *api.Client, r *reviewqueue.CommentRequest, id string) error {
	threads, err := q.Threads(ctx, "")
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
		list, err = reviewqueue.WithIDs(list, suggestionID, []string{id})
	}
	if err != nil {
		return err
	}
	if list[0].IsProposal() {
		return cli.Usagef("%s is a proposal and takes no comments: reject it with --reason", id)
	}
	r.Suggestion = list[0].ID
	return nil
}

func newResolveCommand(e *env) *cobra.Command {
	var f workspaceFlags
	cmd := &cobra.Command{
		Use:   "resolve ID... [SOURCE...]",
		Short: "Remove threads of comments from the text",
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			ids, sources := splitArgs(args, isID)
			if len(ids) == 0 {
				return f.noIDErr(sources, cli.Usagef("no thread is named: 'relayfs suggestions threads' lists them"))
			}
			if err := f.refuseAgent("resolving threads", runReview); err != nil {
				return err
			}
			return f.withQueue(ctx, e, sources, func(q *api.Client) error {
				list, err := chooseThreads(ctx, q, "", ids)
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
		if out.Batch != "" {
			printUndoHint(e, out.Batch, where)
		}
	})
}
