package main

import (
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/relayfs/relayfs/cmd/relayfs/internal/clierr"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/output"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/ownership"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/page"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/queue"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/tui"
)

// reviewed is a queue with what its page needs.
type reviewed struct {
	queue.Queue
	state string       // the state folder of the first vault
	ready func() error // why changes are not stored, nil if they are
}

// withReview calls show with the queue of the running owner, or owns the vaults meanwhile, so that changes of
// others are seen.
func (f *workspaceFlags) withReview(ctx context.Context, e *env, args []string, show func(ctx context.Context, q reviewed) error) error {
	c, state, err := f.search().Follow(ctx, args)
	if err != nil {
		return err
	}
	if c != nil {
		return show(ctx, reviewed{queue.Remote{Client: c}, state, func() error { return ownership.Ready(ctx, c) }})
	}
	return f.withSession(ctx, e, args, func(s *ownership.Session) error {
		c := ownership.NewControl(s, mcpDefaults(s))
		defer c.MCP.Close()
		return c.Serve(ctx, "review", func(ctx context.Context) error {
			return show(ctx, reviewed{queue.NewLocal(s.Workspace), s.State, s.Workspace.Ready})
		})
	})
}

func newPageCommand(e *env) *cobra.Command {
	var f workspaceFlags
	var addr string
	var open bool
	cmd := &cobra.Command{
		Use:   "review [SOURCE...]",
		Short: "Review suggestions in a browser",
		Long: `Review serves a page on this machine on which a person accepts, rejects and
edits what is pending. It prints the page's address, which holds a secret, and
serves until it is interrupted. In a terminal, 'relayfs suggestions review' does
the same.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := page.CheckAddress(addr); err != nil {
				return err
			}
			return f.withReview(cmd.Context(), e, args, func(ctx context.Context, q reviewed) error {
				p, err := page.Listen(addr, q.state)
				if err != nil {
					return err
				}
				defer p.Close()
				fmt.Fprintln(e.stdout, p.URL())
				if open {
					if err := page.OpenBrowser(ctx, p.URL()); err != nil {
						fmt.Fprintf(e.stderr, "relayfs: the browser could not be opened: %v\n", err)
					}
				}
				return p.Serve(ctx, q.Queue, q.ready)
			})
		},
	}
	cmd.Flags().StringVar(&addr, "listen", "", "loopback address of the page; port 0 takes any that is free (default the port that the vault's page had before)")
	cmd.Flags().BoolVar(&open, "open", false, "open the page in the browser")
	f.registerClient(cmd)
	return cmd
}

func newReviewCommand(e *env) *cobra.Command {
	var f workspaceFlags
	var sel queue.Selector
	cmd := &cobra.Command{
		Use:   "review [SOURCE...]",
		Short: "Review suggestions one by one in the terminal",
		Long:  "Review shows the pending suggestions one by one.\n\n" + tui.Help,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := sel.Check(nil); err != nil {
				return err
			}
			in, inOK := e.stdin.(*os.File)
			out, outOK := e.stdout.(*os.File)
			if !inOK || !outOK || !output.IsTerminal(in) || !output.IsTerminal(out) {
				return clierr.Usagef("review needs a terminal; 'relayfs suggestions list', 'show', 'accept' and 'reject' do not")
			}
			return f.withReview(cmd.Context(), e, args, func(ctx context.Context, q reviewed) error {
				return tui.Run(ctx, q.Queue, sel, in, out)
			})
		},
	}
	registerSelector(cmd, &sel, &f)
	f.registerClient(cmd)
	return cmd
}
