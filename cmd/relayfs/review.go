package main

import (
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/relayfs/relayfs/bridge/owner"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/api"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/cli"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/page"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/reviewqueue"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/serving"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/tui"
)

// withReview calls show with a client of the running owner. If there is no owner, this process serves the vaults during
// the review, so that the review sees changes by other commands. state is the state folder of the first vault.
func (f *workspaceFlags) withReview(ctx context.Context, e *env, args []string, show func(ctx context.Context, c *api.Client, state owner.Folder) error) error {
	c, state, err := f.search().Follow(ctx, args)
	if err != nil {
		return err
	}
	if c != nil {
		return show(ctx, api.NewClient(c), state)
	}
	return f.withSession(ctx, e, args, func(s *serving.Session) error {
		control := serving.NewControl(s, mcpDefaults(s))
		defer control.MCP.Close()
		return control.Serve(ctx, "review", func(ctx context.Context) error {
			self := control.Info()
			self.PID = 0 // errors must not name this process as the owner
			return show(ctx, api.NewClient(serving.NewClient(self, nil)), s.State)
		})
	})
}

func newPageCommand(e *env) *cobra.Command {
	var f workspaceFlags
	var open bool
	cmd := &cobra.Command{
		Use:   "review [SOURCE...]",
		Short: "Review suggestions in a browser",
		Long: `Review serves a web page on this machine on which you accept, reject and edit
pending suggestions. It prints the page's address, which contains a secret, and
serves until it is interrupted. 'relayfs suggestions review' does the same in a
terminal.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.refuseAgent("the review page", runReview); err != nil {
				return err
			}
			return f.withReview(cmd.Context(), e, args, func(ctx context.Context, c *api.Client, state owner.Folder) error {
				p, err := page.Listen(state)
				if err != nil {
					return err
				}
				defer p.Close()
				fmt.Fprintln(e.stdout, p.URL())
				if open {
					if err := page.OpenBrowser(ctx, p.URL()); err != nil {
						fmt.Fprintf(e.stderr, "relayfs: cannot open the browser: %v\n", err)
					}
				}
				return p.Serve(ctx, c)
			})
		},
	}
	cmd.Flags().BoolVar(&open, "open", false, "open the page in the browser")
	f.registerClient(e, cmd)
	return cmd
}

func newReviewCommand(e *env) *cobra.Command {
	var f workspaceFlags
	var sel reviewqueue.Selector
	cmd := &cobra.Command{
		Use:   "review [SOURCE...]",
		Short: "Review suggestions one by one in the terminal",
		Long:  "Review shows the pending suggestions one by one.\n\n" + tui.Help,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := sel.Check(nil); err != nil {
				return err
			}
			if err := f.refuseAgent("the review", runReview); err != nil {
				return err
			}
			in, inOK := e.stdin.(*os.File)
			out, outOK := e.stdout.(*os.File)
			if !inOK || !outOK || !cli.IsTerminal(in) || !cli.IsTerminal(out) {
				return cli.Usagef("review needs a terminal: use 'relayfs suggestions list', 'show', 'accept' and 'reject' in scripts")
			}
			return f.withReview(cmd.Context(), e, args, func(ctx context.Context, c *api.Client, _ owner.Folder) error {
				if err := c.ReadGlob(ctx, &sel); err != nil {
					return err
				}
				return tui.Run(ctx, c, sel, in, out)
			})
		},
	}
	f.registerSelector(cmd, &sel)
	f.registerClient(e, cmd)
	return cmd
}
