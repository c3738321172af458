package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/relayfs/relayfs/cmd/relayfs/internal/clierr"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/output"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/queue"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/render"
)

func newUndoCommand(e *env) *cobra.Command {
	var f queueFlags
	cmd := &cobra.Command{
		Use:   "undo [BATCH] [SOURCE...]",
		Short: "Take back a decision or a change of front matter",
		Long: `Undo takes back what was accepted or rejected in one go, or one change of front
matter, by its name in 'relayfs suggestions log'; without a name the newest of
both that nobody has taken back. What was written in the notes since stays.`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error { return runUndo(cmd.Context(), e, &f, args) },
		ValidArgsFunction: func(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
			return completeBatches(cmd.Context(), &f, args)
		},
	}
	f.register(cmd)
	return cmd
}

func runUndo(ctx context.Context, e *env, f *queueFlags, args []string) error {
	batches, sources := splitArgs(args, isBatch)
	if len(batches) > 1 {
		return clierr.Usagef("one batch at a time can be taken back")
	}
	r := queue.UndoRequest{By: queue.Reviewer()}
	if len(batches) == 1 {
		r.Batch = batches[0]
	}
	return f.withQueue(ctx, e, sources, func(q queue.Queue) error {
		out, err := q.Undo(ctx, r)
		if err != nil {
			return err
		}
		if len(out.Suggestions) <= queue.ManyAtOnce { // of more, no context is shown
			if list, err := q.List(ctx, true); err == nil {
				out.Suggestions = queue.WithContext(out.Suggestions, list)
			}
		}
		if f.json {
			err = output.JSON(e.stdout, out)
		} else {
			err = render.Undone(e.stdout, out)
		}
		return errors.Join(err, out.Err(), wayOn(&out, sources))
	})
}

// wayOn says what else can be taken back if this cannot.
func wayOn(o *queue.Outcome, sources []string) error {
	switch {
	case len(o.Failed) == 0 || o.Notes > 0:
		return nil
	case o.Older == "":
		return errors.New("'relayfs suggestions log' shows what was decided")
	}
	return fmt.Errorf("the next older decision: relayfs suggestions undo %s; 'relayfs suggestions log' shows all",
		shellWords(append([]string{o.Older}, sources...)))
}

func newLogCommand(e *env) *cobra.Command {
	var f queueFlags
	var limit int
	cmd := &cobra.Command{
		Use:   "log [SOURCE...]",
		Short: "Decisions and changes of front matter, newest first",
		Args:  cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if limit < 1 {
				return clierr.Usagef("--limit %d is not a positive number", limit)
			}
			return f.withQueue(cmd.Context(), e, args, func(q queue.Queue) error {
				list, err := q.Log(cmd.Context(), limit)
				if err != nil {
					return err
				}
				if f.json {
					return output.JSON(e.stdout, list)
				}
				return render.Log(e.stdout, list)
			})
		},
	}
	cmd.Flags().IntVar(&limit, "limit", 50, "at most this many notes' entries")
	f.register(cmd)
	return cmd
}
