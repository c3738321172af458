package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/relayfs/relayfs/cmd/relayfs/internal/ownership"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/queue"
)

// queueFlags are what every command on the queue has.
type queueFlags struct {
	workspaceFlags
	json bool
}

func (f *queueFlags) register(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&f.json, "json", false, "print JSON")
	f.registerState(cmd)
	f.log.register(cmd)
}

// withSelected calls do with what the selector and the arguments select.
func (f *queueFlags) withSelected(ctx context.Context, e *env, sel *queue.Selector, args []string, detailed bool,
	do func(queue.Queue, []queue.Suggestion) error) error {
	ids, sources := splitArgs(args, isID)
	if err := sel.Check(ids); err != nil {
		return err
	}
	return f.withQueue(ctx, e, sources, func(q queue.Queue) error {
		list, err := q.List(ctx, detailed)
		if err != nil {
			return err
		}
		list, err = sel.Choose(list, ids)
		if err != nil {
			return err
		}
		return do(q, list)
	})
}

// withQueue calls do with the queue of the owner of the sources, or else of the
// workspace that it opens for the time of the call.
func (f *queueFlags) withQueue(ctx context.Context, e *env, sources []string, do func(queue.Queue) error) error {
	c, err := f.search().Find(ctx, sources)
	if err != nil {
		return err
	}
	if c != nil {
		return do(queue.NewRemote(c))
	}
	return f.withSession(ctx, e, sources, func(s *ownership.Session) error {
		q, cancel := queue.NewLocal(s.Workspace)
		defer cancel()
		return do(q)
	})
}
