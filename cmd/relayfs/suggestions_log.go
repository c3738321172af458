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
		Short: "Take back a decision or a change of front matter",
		Long: `Undo takes back what was accepted or rejected in one go, or one change of front
matter, by its name in 'relayfs suggestions log'; without a name the newest of
both that nobody has taken back. What was written in the notes since stays.
With IDs of suggestions, or their beginnings, it takes back these alone, however
many were decided with them. With --session it takes back all that a session did: what waits is rejected, and
changes of front matter are taken back.`,
		RunE:              func(cmd *cobra.Command, args []string) error { return runUndo(cmd, e, &f, args, session) },
		ValidArgsFunction: f.completeUndone,
	}
	cmd.Flags().StringVar(&session, "session", "", "take back all that this session did, as show and log name it")
	e.addJSONFlag(cmd)
	f.registerClient(e, cmd)
	return cmd
}

func runUndo(cmd *cobra.Command, e *env, f *workspaceFlags, args []string, session string) error {
	ctx := cmd.Context()
	batches, rest := splitArgs(args, isBatch)
	ids, sources := splitArgs(rest, isID)
	if len(batches) > 1 {
		return cli.Usagef("one batch at a time can be taken back")
	}
	if session != "" && len(batches)+len(ids) > 0 {
		return cli.Usagef("give a batch, ids or --session, not several of them")
	}
	refused := f.refuseAgent("taking back what others did")
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
		if len(out.Suggestions) <= reviewqueue.ManyAtOnce { // of more, no context is shown
			if list, err := q.List(ctx, true); err == nil {
				out.Suggestions = reviewqueue.WithContext(out.Suggestions, list)
			}
		}
		return errors.Join(show(e, out, render.Undone), out.Err(), nextUndoHint(&out, vaultArgs(cmd, sources)))
	})
}

// nextUndoHint says what else can be undone if nothing of this batch could be.
func nextUndoHint(o *reviewqueue.Outcome, where []string) error {
	switch {
	case len(o.Failed) == 0 || o.Notes > 0:
		return nil
	case o.Older == "":
		return errors.New("'relayfs suggestions log' shows what was decided")
	}
	return fmt.Errorf("the next older decision: relayfs suggestions undo %s; 'relayfs suggestions log' shows all",
		shellWords(append([]string{o.Older}, where...)))
}

func newLogCommand(e *env) *cobra.Command {
	return logCommand(e, "log", "Decisions and changes of front matter, newest first")
}

// newOutcomesCommand is the log by a name of its own: who may run it may not decide.
func newOutcomesCommand(e *env) *cobra.Command {
	return logCommand(e, "outcomes", "What people decided on suggestions, and why: for agents")
}

func logCommand(e *env, name, short string) *cobra.Command {
	var f workspaceFlags
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
	cmd.Flags().IntVar(&limit, "limit", 50, "at most this many notes' entries")
	e.addJSONFlag(cmd)
	f.registerClient(e, cmd)
	return cmd
}
