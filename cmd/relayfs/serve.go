package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/relayfs/relayfs/cmd/relayfs/internal/clierr"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/daemon"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/ownership"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/ports"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/source"
)

// serveOptions are the flags of 'relayfs serve'.
type serveOptions struct {
	workspaceFlags
	mcpFlags
	yjs    ports.Yjs
	daemon bool
}

func newServeCommand(e *env) *cobra.Command {
	var o serveOptions
	cmd := &cobra.Command{
		Use:   "serve [SOURCE...]",
		Short: "Serve the notes to Yjs clients and over HTTP, without a mount",
		Long: `Serve owns each SOURCE, a vault directory or NAME=DIR, until interrupted.

With --listen it lets Yjs clients in: through the API of y-sweet and relay-server,
and as y-websocket rooms named after the notes (Folder/Name.md). What they type is
in the vault's files within half a second, and what is saved there comes to them.
With --http it serves MCP. Other relayfs processes attach to it in any case.

Yjs clients need a token. 'relayfs status' prints the connection string, with
which a backend makes tokens for its users.`,
		Example: "  relayfs serve ~/Notes --listen 127.0.0.1:8080\n  relayfs serve ~/Notes --listen 0.0.0.0:8080 --url https://notes.example --daemon",
		Args:    cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			sources := e.config.SourcesOr(args)
			if len(sources) == 0 {
				return clierr.Usagef("no SOURCE given, and %s names none: relayfs serve ~/Notes, or 'relayfs init' once", e.config.File)
			}
			if o.daemon {
				return daemon.Start(cmd.Context(), e.stderr)
			}
			return o.run(cmd.Context(), e, sources)
		},
	}
	o.workspaceFlags.register(cmd)
	o.mcpFlags.register(cmd)
	registerYjs(cmd, &o.yjs)
	cmd.Flags().BoolVar(&o.daemon, "daemon", false, "return once the notes are served and go on in the background")
	return cmd
}

func (o *serveOptions) run(ctx context.Context, e *env, args []string) error {
	log, err := o.log.logger(e.stderr)
	if err != nil {
		return err
	}
	if err := o.mcpFlags.check(); err != nil {
		return err
	}
	if err := o.yjs.Check(); err != nil {
		return err
	}
	sources, err := source.Parse(args, o.folders)
	if err == nil {
		err = o.yjs.CheckSources(sources)
	}
	if err != nil {
		return err
	}
	so, err := o.session(log)
	if err != nil {
		return err
	}
	s, err := ownership.Take(ctx, sources, so)
	if err != nil {
		return err
	}
	defer s.Close()
	c, err := o.mcpFlags.open(s, &o.workspaceFlags, log)
	if err != nil {
		return err
	}
	defer c.MCP.Close()
	if c.Yjs, err = o.yjs.Listen(ctx, s.Workspace, o.state, log); err != nil {
		return err
	}
	return s.Serve(ctx, c, "serve", func(ctx context.Context) error {
		c.Announce(e.stderr)
		daemon.Ready(e.stderr, daemon.Serving+strings.Join(source.Names(sources), ", "), s.LogFile())
		<-ctx.Done()
		return nil
	})
}
