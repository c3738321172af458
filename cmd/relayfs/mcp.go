package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"

	"github.com/spf13/cobra"

	"github.com/relayfs/relayfs/bridge/owner"
	"github.com/relayfs/relayfs/mcpserver"
)

func newMCPCommand(e *env) *cobra.Command {
	var f workspaceFlags
	cmd := &cobra.Command{
		Use:   "mcp SOURCE...",
		Short: "Serve the notes to an MCP client on stdin and stdout",
		Long: `Mcp speaks the Model Context Protocol on stdin and stdout. If another relayfs
(a mount, say) already serves the vault, mcp attaches to it, so that both show the
same documents; else it serves the vault itself until stdin ends.`,
		Example: "  relayfs mcp ~/Notes\n  claude mcp add notes -- relayfs mcp ~/Notes",
		Args:    usageArgs(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runMCP(cmd.Context(), e, &f, args, cmd.Flags().Changed("author"))
		},
	}
	f.register(cmd)
	return cmd
}

func runMCP(ctx context.Context, e *env, f *workspaceFlags, args []string, named bool) error {
	log, err := f.log.logger(e.stderr)
	if err != nil {
		return err
	}
	sources, err := parseSources(args)
	if err != nil {
		return err
	}
	s, err := openSession(ctx, sources, f, log)
	var owned *owner.OwnedError
	if errors.As(err, &owned) && owned.Owner != nil && owner.Answers(*owned.Owner) {
		author := ""
		if named {
			author = f.author
		}
		return attach(ctx, e, *owned.Owner, author)
	}
	if err != nil {
		return err
	}
	defer s.close()
	o := mcpserver.Options{Author: f.author, Version: version(), ReadOnly: f.readOnly, Logger: log}
	return s.serve(ctx, &control{s.ws, o}, "mcp", func(ctx context.Context) error {
		err := mcpserver.New(s.ws, o).ServeStream(ctx, e.stdin, e.stdout, "stdio")
		if ctx.Err() != nil {
			return nil // interrupted: everything acknowledged is kept
		}
		return err
	})
}

// attach joins stdin and stdout to the owner's socket. When stdin ends the owner
// is told so and may finish its answers.
func attach(ctx context.Context, e *env, info owner.Info, author string) error {
	query := url.Values{}
	if author != "" {
		query.Set("author", author)
	}
	s, err := owner.NewClient(info).Stream(ctx, mcpPath, query)
	if err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() { s.Close() })
	defer stop()
	var inputEnded = make(chan struct{})
	go func() {
		io.Copy(s, e.stdin)
		close(inputEnded)
		if half, ok := s.(interface{ CloseWrite() error }); ok {
			half.CloseWrite()
		}
	}()
	_, err = io.Copy(e.stdout, s)
	select {
	case <-ctx.Done():
		return nil
	case <-inputEnded:
		return err
	default:
		return &hintError{fmt.Errorf("%v ended", info), "start this MCP server again"}
	}
}
