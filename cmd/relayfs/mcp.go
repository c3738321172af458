package main

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/relayfs/relayfs/cmd/relayfs/internal/clierr"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/mcpproxy"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/ownership"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/ports"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/source"
	"github.com/relayfs/relayfs/mcpserver"
)

// mcpFlags are the flags by which mount and mcp serve MCP.
type mcpFlags struct {
	toolsets []string
	approve  []string
	semantic semanticFlags
	http     ports.HTTP
}

func (f *mcpFlags) register(cmd *cobra.Command) {
	cmd.Flags().StringSliceVar(&f.toolsets, "toolsets", []string{mcpserver.ToolsetClaude}, "which tools MCP clients get: "+strings.Join(mcpserver.Toolsets(), ", "))
	cmd.Flags().StringSliceVar(&f.approve, "approve", nil,
		"whether the tools ask the person at the client before they change anything: ask, auto or deny, or for one kind of change create=..., update=..., delete=... (default auto, in direct mode ask)")
	completions := map[string][]string{"toolsets": mcpserver.Toolsets(), "approve": {"ask", "auto", "deny", "create=", "update=", "delete="}}
	for flag, values := range completions {
		_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
	}
	f.semantic.register(cmd)
	registerHTTP(cmd, &f.http)
}

func (f *mcpFlags) check() error {
	if err := mcpserver.CheckToolsets(f.toolsets); err != nil {
		return clierr.Usage(err)
	}
	if _, err := mcpserver.ParseApprovals(f.approve); err != nil {
		return clierr.Usage(err)
	}
	if err := f.semantic.check(); err != nil {
		return clierr.Usage(err)
	}
	return f.http.Check()
}

// server are the options of the server over a workspace with the flags w.
func (f *mcpFlags) server(w *workspaceFlags, log *slog.Logger) mcpserver.Options {
	approve, _ := mcpserver.ParseApprovals(f.approve) // checked
	return mcpserver.Options{Author: w.author, Version: version(), Toolsets: f.toolsets, Approve: approve, ReadOnly: w.readOnly, Inflight: ports.Budget, Logger: log}
}

// mcpOptions are the flags of 'relayfs mcp'.
type mcpOptions struct {
	workspaceFlags
	mcpFlags
	named bool     // --author was given
	given []string // flags that an owner decides, if one runs
}

// ownersFlags are decided by who serves the workspace, for all its clients.
var ownersFlags = []string{"mode", "view", "dialect", "frontmatter", "structure", "toolsets", "approve", "embeddings", "embeddings-model"}

func newMCPCommand(e *env) *cobra.Command {
	var o mcpOptions
	cmd := &cobra.Command{
		Use:   "mcp [SOURCE...]",
		Short: "Serve the notes to MCP clients, on stdin and stdout or over HTTP",
		Long: `Mcp speaks the Model Context Protocol on stdin and stdout. If another relayfs
(a mount, say) already serves the vault, mcp attaches to it, so that both show the
same documents; else it serves the vault itself until stdin ends, or until a mount
asks for the vault.

With --http it serves any number of clients over Streamable HTTP instead, until
interrupted. Clients need the bearer token that 'relayfs status' prints.`,
		Example: "  relayfs mcp ~/Notes\n  claude mcp add notes -- relayfs mcp ~/Notes\n  relayfs mcp --http 127.0.0.1:7777 ~/Notes",
		Args:    cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			sources := e.config.SourcesOr(args)
			if len(sources) == 0 {
				return clierr.Usagef("no SOURCE given, and %s names none: relayfs mcp ~/Notes, or 'relayfs init' once", e.config.File)
			}
			o.named = cmd.Flags().Changed("author")
			for _, name := range ownersFlags {
				if cmd.Flags().Changed(name) {
					o.given = append(o.given, "--"+name)
				}
			}
			return o.run(cmd.Context(), e, sources)
		},
	}
	o.workspaceFlags.register(cmd)
	o.mcpFlags.register(cmd)
	return cmd
}

func (o *mcpOptions) run(ctx context.Context, e *env, args []string) error {
	log, err := o.log.logger(e.stderr)
	if err != nil {
		return err
	}
	if err := o.check(); err != nil {
		return err
	}
	sources, err := source.Parse(args, o.folders)
	if err != nil {
		return err
	}
	if o.http.Addr != "" {
		return o.serveHTTP(ctx, e, sources, log)
	}
	so, err := o.session(log)
	if err != nil {
		return err
	}
	client := &mcpproxy.Stdio{
		Sources: sources, Options: so, ReadOnly: o.readOnly, Given: o.given, Log: log,
		Open: func(s *ownership.Session) (*ownership.Control, error) {
			return o.mcpFlags.open(s, &o.workspaceFlags, log)
		},
	}
	if o.named {
		client.Author = o.author
	}
	s, err := ownership.Open(ctx, sources, so)
	if owned := ownership.Answering(err); owned != nil {
		if len(o.given) > 0 {
			return clierr.WithHint(
				fmt.Errorf("%s cannot be chosen here: the vault is served by %v, which decides for all its clients", strings.Join(o.given, ", "), *owned),
				"leave it out, or give it to that process")
		}
		return client.ServeOwner(ctx, e.stdin, e.stdout, *owned)
	}
	if err != nil {
		return err
	}
	return client.ServeOwn(ctx, e.stdin, e.stdout, s)
}

// open makes what serves a session's workspace to other processes. Close its mcp
// at the end.
func (f *mcpFlags) open(s *ownership.Session, w *workspaceFlags, log *slog.Logger) (*ownership.Control, error) {
	base, err := source.StateDir(w.state)
	if err != nil {
		return nil, err
	}
	o := f.server(w, log)
	if slices.Contains(f.toolsets, mcpserver.ToolsetNotes) {
		o.Semantic = f.semantic.open(s, log)
	}
	h, err := f.http.Listen(base)
	if err != nil {
		return nil, err
	}
	c := ownership.NewControl(s, o)
	c.Semantic, c.HTTP = o.Semantic, h
	return c, nil
}

// serveHTTP serves any number of clients until ctx ends.
func (o *mcpOptions) serveHTTP(ctx context.Context, e *env, sources []source.Source, log *slog.Logger) error {
	so, err := o.session(log)
	if err != nil {
		return err
	}
	s, err := ownership.Take(ctx, sources, so)
	if ownership.Answering(err) != nil {
		return clierr.WithHint(err, "end that process, or start it with --http instead")
	}
	if err != nil {
		return err
	}
	defer s.Close()
	c, err := o.mcpFlags.open(s, &o.workspaceFlags, log)
	if err != nil {
		return err
	}
	defer c.MCP.Close()
	return s.Serve(ctx, c, ownership.MCPCommand, func(ctx context.Context) error {
		c.HTTP.Announce(e.stderr)
		<-ctx.Done()
		return nil
	})
}
