package main

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/account"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/clierr"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/daemon"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/listen"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/metrics"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/ownership"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/ports"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/source"
)

// serveOptions are the flags of the commands that own vaults until they are interrupted.
type serveOptions struct {
	workspaceFlags
	mcpFlags
	yjs     ports.Yjs        // not of mcp
	metrics string           // an address, "" for none
	numbers *metrics.Numbers // nil for none; set by prepare
	daemon  bool
}

// register adds the flags of mount and serve.
func (o *serveOptions) register(cmd *cobra.Command) {
	o.workspaceFlags.register(cmd)
	o.mcpFlags.register(cmd)
	o.registerMetrics(cmd)
	registerYjs(cmd, &o.yjs)
}

func (o *serveOptions) registerMetrics(cmd *cobra.Command) {
	cmd.Flags().StringVar(&o.metrics, "metrics", "", "serve numbers for Prometheus, and the health, on this address, for example 127.0.0.1:9464; no token is asked for")
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
		RunE: func(cmd *cobra.Command, args []string) error {
			args, err := e.sources(args, "serve")
			if err != nil {
				return err
			}
			if o.daemon {
				return daemon.Start(cmd.Context(), e.stderr)
			}
			sources, so, errs := o.prepare(cmd.Context(), e, args)
			if len(errs) > 0 {
				return errs[0]
			}
			return o.serve(cmd.Context(), sources, so, "serve", "", func(ctx context.Context, c *ownership.Control) error {
				c.Announce(e.stderr)
				daemon.Ready(e.stderr, daemon.Serving+strings.Join(source.Names(sources), ", "), c.LogFile())
				<-ctx.Done()
				return nil
			})
		},
	}
	o.register(cmd)
	cmd.Flags().BoolVar(&o.daemon, "daemon", false, "return once the notes are served and go on in the background")
	return cmd
}

func registerYjs(cmd *cobra.Command, f *ports.Yjs) {
	fl := cmd.Flags()
	fl.StringVar(&f.Addr, "listen", "", "let Yjs clients in on this address, for example 127.0.0.1:8080")
	fl.StringVar(&f.KeyFile, "key-file", "", "file with the key of the tokens for --listen (default relay-key in the state folder); made if it is missing")
	fl.StringVar(&f.URL, "url", "", "where clients reach --listen from outside, if that differs, for example https://notes.example")
	fl.StringVar(&f.Relay, "relay", "", "id of the relay: documents of --listen can then be opened as RELAY-ID, too, as Relay's plugin calls them")
	fl.StringSliceVar(&f.Limits, "limit", nil, "limits of --listen as NAME=N: connections, strangers (connections without a document), documents (open at a time), queue (messages that wait for a client); in MiB: backlog (their size), frame (a message), file (an attachment), inflight (what all clients are sending)")
	registerValues(cmd, map[string][]string{"limit": ports.LimitNames()})
	fl.BoolVar(&f.NoToken, "no-token", false, "let every program of this machine in without a token; --listen must be a loopback address")
}

// sources returns the SOURCE arguments of a command that needs at least one.
func (e *env) sources(args []string, command string) ([]string, error) {
	if args = e.config.SourcesOr(args); len(args) == 0 {
		return nil, clierr.Usagef("no SOURCE given, and %s names none: relayfs %s ~/Notes, or 'relayfs init' once", e.config.File, command)
	}
	return args, nil
}

// prepare checks the flags and parses the sources. It opens nothing. errs are all that keeps the command from starting.
func (o *serveOptions) prepare(ctx context.Context, e *env, args []string) (sources []source.Source, so ownership.Options, errs []error) {
	log, err := o.log.logger(e.stderr)
	if err != nil {
		return nil, so, []error{err}
	}
	for _, err := range e.config.Misspelt() {
		log.Warn(err.Error(), model.LogHint, hintFor(err))
	}
	note := func(err error) {
		errs = append(errs, parts(err)...)
	}
	so, err = o.session(log)
	note(err)
	note(o.mcpFlags.check())
	note(o.yjs.Check())
	note(metrics.Check(o.metrics))
	if len(errs) == 0 {
		note(o.http.CheckFile(so.Base))
		note(o.yjs.CheckFile(so.Base))
	}
	if o.numbers = metrics.New(o.metrics, version()); o.numbers != nil {
		so.Workspace.Saved = o.numbers.Saved
	}
	if slices.ContainsFunc(args, source.IsRelay) {
		refreshFolders(ctx, account.Of(so.Base), log)
	}
	sources, err = source.Parse(args, o.folders, o.state)
	note(err)
	if err == nil {
		note(o.yjs.CheckSources(sources))
	}
	if slices.ContainsFunc(sources, func(s source.Source) bool { return s.Server != nil }) {
		_, err := source.ServerKey()
		note(err)
	}
	return sources, so, errs
}

// parts returns the errors that err joins, or err alone, or none.
func parts(err error) []error {
	if list, ok := err.(interface{ Unwrap() []error }); ok {
		return list.Unwrap()
	}
	if err == nil {
		return nil
	}
	return []error{err}
}

// checkPorts says why the ports cannot be opened.
func (o *serveOptions) checkPorts() error {
	return listen.Free(listen.Address{Flag: "--http", Addr: o.http.Addr}, listen.Address{Flag: "--listen", Addr: o.yjs.Addr}, listen.Address{Flag: metrics.Flag, Addr: o.metrics})
}

// serve owns the vaults and serves them to other processes while work runs. mountpoint may be "".
func (o *serveOptions) serve(ctx context.Context, sources []source.Source, so ownership.Options, command, mountpoint string,
	work func(context.Context, *ownership.Control) error) error {
	s, err := ownership.Take(ctx, sources, so)
	if err != nil {
		return err
	}
	defer s.Close()
	s.Workspace.SetMountpoint(mountpoint)
	c, err := o.control(s)
	if err != nil {
		return err
	}
	defer c.MCP.Close()
	if c.Yjs, err = o.yjs.Listen(ctx, s.Workspace, s.Base, s.Log); err != nil {
		return err
	}
	return c.Serve(ctx, command, func(ctx context.Context) error { return work(ctx, c) })
}
