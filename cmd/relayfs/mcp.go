package main

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/relayfs/relayfs/bridge/index/semantic"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/cli"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/ports"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/serving"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/source"
	"github.com/relayfs/relayfs/mcpserver"
)

// embeddingsKey is the environment variable with the key for the setting embeddings. relayfs does not use the variable
// of another program, because it sends the key to the address in that setting.
const embeddingsKey = "RELAYFS_EMBEDDINGS_KEY"

type mcpFlags struct {
	toolsets, approve, agentNotes  []string
	embeddingsURL, embeddingsModel string
	http                           ports.HTTP
}

func (f *mcpFlags) register(e *env, cmd *cobra.Command) {
	fl, set := cmd.Flags(), e.settings(cmd)
	fl.StringSliceVar(&f.toolsets, "toolsets", []string{mcpserver.ToolsetClaude}, "MCP: "+strings.Join(mcpserver.Toolsets(), ", "))
	fl.StringSliceVar(&f.approve, "approve", nil, "approval by MCP users: ask, auto, deny, update=ask")
	set.StringVar(&f.embeddingsURL, "embeddings", "", "server with the embeddings API of OpenAI or Ollama, for search by meaning, for example http://127.0.0.1:11434; key in $"+embeddingsKey)
	set.StringVar(&f.embeddingsModel, "embeddings-model", "", "model of embeddings")
	set.StringSliceVar(&f.agentNotes, "agent-notes", mcpserver.DefaultAgentNotes, "names of notes at the top of a vault: MCP clients get, as instructions, the approved text of the first of these notes that exists; \"\" for none")
	fl.StringVar(&f.http.Addr, "http", "", "serve MCP over HTTP at `HOST:PORT`")
	set.StringVar(&f.http.TokenFile, "token-file", "", "file with the bearer token of --http, created if it is missing (default http-token in the state folder)")
	registerValues(cmd, map[string][]string{"toolsets": mcpserver.Toolsets(), "approve": {"ask", "auto", "deny", "create=", "update=", "delete="}})
}

func (f *mcpFlags) check() error {
	err := mcpserver.CheckToolsets(f.toolsets)
	if err == nil {
		_, err = mcpserver.ParseApprovals(f.approve)
	}
	switch {
	case err != nil:
	case f.embeddingsURL != "":
		err = f.endpoint(nil).Check()
	case f.embeddingsModel != "":
		err = errors.New("embeddings-model needs embeddings")
	}
	if err != nil {
		return cli.Usage(err)
	}
	return f.http.Check()
}

func (f *mcpFlags) endpoint(log *slog.Logger) *semantic.Endpoint {
	return &semantic.Endpoint{URL: f.embeddingsURL, Model: f.embeddingsModel, Key: os.Getenv(embeddingsKey), Logger: log}
}

// control opens the ports and returns the Control of a session. Close its MCP when done.
func (o *serveOptions) control(s *serving.Session) (*serving.Control, error) {
	approve, _ := mcpserver.ParseApprovals(o.approve) // the options were checked before
	mo := mcpserver.Options{Author: o.author, Version: version(), Toolsets: o.toolsets, Approve: approve, ReadOnly: o.readOnly, AgentNotes: o.agentNotes, Logger: s.Log}
	if o.embeddingsURL != "" || slices.Contains(o.toolsets, mcpserver.ToolsetNotes) {
		opts := semantic.Options{Dir: s.State.Sub("semantic"), Logger: s.Log}
		if o.embeddingsURL != "" {
			opts.Embedder = o.endpoint(s.Log)
		}
		mo.Semantic = semantic.New(s.Workspace.ForAgents(), opts)
	}
	h, err := o.http.Listen(s.Base)
	if err != nil {
		return nil, err
	}
	if err := o.metricNumbers.Listen(); err != nil {
		return nil, err
	}
	c := serving.NewControl(s, mo)
	c.Semantic, c.HTTP, c.Metrics = mo.Semantic, h, o.metricNumbers
	return c, nil
}

var ownersFlags = []string{"mode", "view", "structure", "history", "toolsets", "approve"}

func newMCPCommand(e *env) *cobra.Command {
	var o serveOptions
	cmd := &cobra.Command{
		Use:   "mcp [SOURCE...]",
		Short: "Serve the notes to MCP clients, on stdin and stdout or over HTTP",
		Long: `Mcp serves the Model Context Protocol on stdin and stdout. If another relayfs
already serves the vault, such as a mount, mcp attaches to it, and both show the
same documents. Otherwise it serves the vault itself until stdin ends or a mount
takes over.

With --http it serves any number of clients over Streamable HTTP instead, until
interrupted. Clients need the token that 'relayfs status --show-token' prints.
More settings: 'relayfs help settings'.`,
		Example: "  relayfs mcp ~/Notes\n  claude mcp add notes -- relayfs mcp ~/Notes\n  relayfs mcp --http 127.0.0.1:7777 ~/Notes",
		RunE: func(cmd *cobra.Command, args []string) error {
			if args = e.config.SourcesOr(args); len(args) == 0 {
				return cli.Usagef("no SOURCE given, and %s names none: run 'relayfs mcp ~/Notes', or 'relayfs init' once", e.config.File)
			}
			if o.http.Addr == "" {
				o.metrics = "" // several MCP processes on stdio cannot share one port
			}
			sources, opts, errs := o.prepare(cmd.Context(), e, args)
			if len(errs) > 0 {
				return errs[0]
			}
			if o.http.Addr == "" {
				return o.serveStdio(cmd, e, sources, opts)
			}
			err := o.serve(cmd.Context(), sources, opts, serving.MCPCommand, "", func(ctx context.Context, c *serving.Control) error {
				c.Announce(e.stderr)
				<-ctx.Done()
				return nil
			})
			if serving.OwnerInError(err) != nil {
				return cli.WithHint(err, "end that process, or start it with --http instead")
			}
			return err
		},
	}
	o.register(e, cmd)
	return cmd
}

func (o *serveOptions) serveStdio(cmd *cobra.Command, e *env, sources []source.Source, opts serving.Options) error {
	client := &serving.Stdio{Sources: sources, Options: opts, ReadOnly: o.readOnly, Log: opts.Workspace.Logger}
	client.Open = func(s *serving.Session) (*serving.Control, error) {
		c, err := o.control(s)
		if err == nil {
			c.Announce(e.stderr)
		}
		return c, err
	}
	for _, name := range ownersFlags {
		if cmd.Flags().Changed(name) {
			client.Given = append(client.Given, "--"+name)
		}
	}
	if cmd.Flags().Changed("author") {
		client.Author = o.author
	}
	return client.Serve(cmd.Context(), e.stdin, e.stdout)
}
