package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/relayfs/relayfs/cmd/relayfs/internal/api"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/cli"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/render"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/reviewqueue"
)

func newUndoCommand(e *env) *cobra.Command {
	var f workspaceFlags
	var session string
	cmd := &cobra.Command{
		Use:   "undo [BATCH | ID...] [SOURCE...]",
		Short: "Undo a decision or a change of front matter",
		Long: `Undo reverts one batch: suggestions that were decided together, or one change of
front matter. BATCH is its name in 'relayfs suggestions log'; the default is the
newest batch that is not undone. Later changes in the notes stay.
With IDs of suggestions, or their beginnings, it undoes only their decisions.
With --session it undoes everything that a session did: it rejects the pending
suggestions and reverts the changes of front matter.`,
		RunE:              func(cmd *cobra.Command, args []string) error { return runUndo(cmd, e, &f, args, session) },
		ValidArgsFunction: f.completeUndone,
	}
	cmd.Flags().StringVar(&session, "session", "", "undo everything that this session did; 'show' and 'log' print sessions")
	e.addJSONFlag(cmd)
	f.registerClient(e, cmd)
	return cmd
}

func runUndo(cmd *cobra.Command, e *env, f *workspaceFlags, args []string, session string) error {
	ctx := cmd.Context()
	batches, rest := splitArgs(args, isBatch)
	ids, sources := splitArgs(rest, isID)
	if len(batches) > 1 {
		return cli.Usagef("%d batches given: undo one at a time", len(batches))
	}
	if session != "" && len(batches)+len(ids) > 0 {
		return cli.Usagef("a batch, IDs and --session exclude each other: choose one")
	}
	refused := f.refuseAgent("undoing the changes of others", runReview)
	if refused != nil && session == "" {
		return refused
	}
	r := reviewqueue.UndoRequest{Session: session, IDs: ids, Newest: len(batches)+len(ids) == 0 && session == ""}
	if len(batches) == 1 {
		r.Batch = batches[0]
	}
	return f.withQueue(ctx, e, sources, func(q *api.Client) error {
		if refused != nil && session != f.ownSession(ctx, q) {
			return refused
		}
		out, err := q.Undo(ctx, r)
		if err != nil {
			return err
		}
		if len(out.Suggestions) <= reviewqueue.ManyAtOnce { // Scope prints more suggestions without context
			if list, err := q.List(ctx, true); err == nil {
				out.Suggestions = reviewqueue.WithContext(out.Suggestions, list)
			}
		}
		return errors.Join(show(e, out, render.Undone), out.Err(), nextUndoHint(&out, vaultArgs(cmd, sources)))
	})
}

// nextUndoHint returns an error with the next command to try after an undo that failed in every note. Otherwise it
// returns nil.
func nextUndoHint(o *reviewqueue.Outcome, where []string) error {
	switch {
	case len(o.Failed) == 0 || o.Notes > 0:
		return nil
	case o.Older == "":
		return errors.New("'relayfs suggestions log' shows all decisions")
	}
	return fmt.Errorf("undo the next older decision: relayfs suggestions undo %s; 'relayfs suggestions log' shows all decisions",
		shellWords(append([]string{o.Older}, where...)))
}

func newLogCommand(e *env) *cobra.Command {
	return logCommand(e, &workspaceFlags{}, "log", "List decisions and changes of front matter, newest first")
}

func logCommand(e *env, f *workspaceFlags, name, short string) *cobra.Command {
	var limit int
	cmd := &cobra.Command{
		Use:   name + " [SOURCE...]",
		Short: short,
		RunE: func(cmd *cobra.Command, args []string) error {
			if limit < 1 {
				return cli.Usagef("--limit %d is not a positive number", limit)
			}
			return f.withQueue(cmd.Context(), e, args, func(q *api.Client) error {
				list, err := q.Log(cmd.Context(), limit)
				if err != nil {
					return err
				}
				return show(e, list, render.Log)
			})
		},
	}
	cmd.Flags().IntVar(&limit, "limit", 50, "maximum number of batches")
	e.addJSONFlag(cmd)
	f.registerClient(e, cmd)
	return cmd
}
