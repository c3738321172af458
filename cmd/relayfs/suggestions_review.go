package main

import (
	"context"
	"os"

	"github.com/spf13/cobra"

	"github.com/relayfs/relayfs/cmd/relayfs/internal/clierr"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/output"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/ownership"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/queue"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/tui"
	"github.com/relayfs/relayfs/mcpserver"
)

func newReviewCommand(e *env) *cobra.Command {
	var f queueFlags
	var sel queue.Selector
	cmd := &cobra.Command{
		Use:   "review [SOURCE...]",
		Short: "Review suggestions one by one in the terminal",
		Long:  "Review shows the pending suggestions one by one.\n\n" + tui.Help,
		Args:  cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := sel.Check(nil); err != nil {
				return err
			}
			return runReview(cmd.Context(), e, &f, sel, args)
		},
	}
	registerSelector(cmd, &sel)
	f.registerState(cmd)
	f.log.register(cmd)
	return cmd
}

// runReview reviews the queue of the running owner, or owns the workspace while
// the review lasts, so that what others change meanwhile is seen.
func runReview(ctx context.Context, e *env, f *queueFlags, sel queue.Selector, sources []string) error {
	in, inOK := e.stdin.(*os.File)
	out, outOK := e.stdout.(*os.File)
	if !inOK || !outOK || !output.IsTerminal(in) || !output.IsTerminal(out) {
		return clierr.Usagef("review needs a terminal; 'relayfs suggestions list', 'show', 'accept' and 'reject' do not")
	}
	c, err := f.search().Follow(ctx, sources)
	if err != nil {
		return err
	}
	if c != nil {
		return tui.Run(ctx, queue.NewRemote(c), sel, in, out)
	}
	return f.withSession(ctx, e, sources, func(s *ownership.Session) error {
		c := ownership.NewControl(s, mcpserver.Options{Author: defaultAuthor(), Version: version(), Logger: s.Log})
		defer c.MCP.Close()
		return s.Serve(ctx, c, "review", func(ctx context.Context) error {
			q, cancel := queue.NewLocal(s.Workspace)
			defer cancel()
			return tui.Run(ctx, q, sel, in, out)
		})
	})
}
