package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/relayfs/relayfs/cmd/relayfs/internal/ownership"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/page"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/queue"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/source"
	"github.com/relayfs/relayfs/mcpserver"
)

// pageFlags say where the page is served.
type pageFlags struct {
	queueFlags
	addr string
	open bool
}

func newPageCommand(e *env) *cobra.Command {
	f := &pageFlags{}
	cmd := &cobra.Command{
		Use:   "review [SOURCE...]",
		Short: "Review suggestions in a browser",
		Long: `Review serves a page on this machine on which a person accepts, rejects and
edits what is pending. It prints the page's address, which holds a secret, and
serves until it is interrupted. In a terminal, 'relayfs suggestions review' does
the same.`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd.Context(), e, args) },
	}
	cmd.Flags().StringVar(&f.addr, "listen", "", "loopback address of the page; port 0 takes any that is free (default the port that the vault's page had before)")
	cmd.Flags().BoolVar(&f.open, "open", false, "open the page in the browser")
	f.registerState(cmd)
	f.log.register(cmd)
	return cmd
}

func (f *pageFlags) run(ctx context.Context, e *env, sources []string) error {
	if err := page.CheckAddress(f.addr); err != nil {
		return err
	}
	show := func(ctx context.Context, q queue.Queue, state string) error {
		p, err := page.Listen(f.addr, state)
		if err != nil {
			return err
		}
		defer p.Close()
		fmt.Fprintln(e.stdout, p.URL())
		if f.open {
			if err := page.OpenBrowser(ctx, p.URL()); err != nil {
				fmt.Fprintf(e.stderr, "relayfs: the browser could not be opened: %v\n", err)
			}
		}
		return p.Serve(ctx, q)
	}
	c, err := f.search().Follow(ctx, sources)
	if err != nil {
		return err
	}
	if c != nil {
		base, err := source.StateDir(f.state)
		if err != nil {
			return err
		}
		served, err := f.search().Sources(c, sources)
		if err != nil {
			return err
		}
		return show(ctx, queue.NewRemote(c), served[0].State(base))
	}
	return f.withSession(ctx, e, sources, func(s *ownership.Session) error {
		c := ownership.NewControl(s, mcpserver.Options{Author: defaultAuthor(), Version: version(), Logger: s.Log})
		defer c.MCP.Close()
		return s.Serve(ctx, c, "review", func(ctx context.Context) error {
			q, cancel := queue.NewLocal(s.Workspace)
			defer cancel()
			return show(ctx, q, s.State)
		})
	})
}
