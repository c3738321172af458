//go:build linux

package main

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"
)

// editingOverMCP reads and edits notes, each once, with a client of 'relayfs mcp' that is attached to a mount.
func (b *bench) editingOverMCP() error {
	if err := b.makeNotes(); err != nil {
		return err
	}
	m, err := b.mount(b.vault, "")
	if err != nil {
		return err
	}
	defer m.end()
	c, err := client.NewStdioMCPClient(b.relayfs, m.cmd.Env, "mcp", b.vault)
	if err != nil {
		return err
	}
	defer c.Close()
	ctx := context.Background()
	var hello mcp.InitializeRequest
	hello.Params.ProtocolVersion = mcp.LATEST_PROTOCOL_VERSION
	if _, err := c.Initialize(ctx, hello); err != nil {
		return err
	}
	call := func(tool string, arguments map[string]any) (time.Duration, error) {
		var req mcp.CallToolRequest
		req.Params.Name, req.Params.Arguments = tool, arguments
		start := time.Now()
		result, err := c.CallTool(ctx, req)
		if err == nil && result.IsError {
			err = fmt.Errorf("%s %v: %v", tool, arguments, result.Content)
		}
		return time.Since(start), err
	}
	reads, edits := make([]time.Duration, b.saves), make([]time.Duration, b.saves)
	for i := range b.saves {
		path := filepath.Join(filepath.Base(b.vault), noteFolder(i), noteName(i))
		if reads[i], err = call("read", map[string]any{"file_path": path}); err != nil {
			return err
		}
		edits[i], err = call("edit", map[string]any{"file_path": path, "old_string": fmt.Sprintf("Note %d.", i), "new_string": "Another first line."})
		if err != nil {
			return err
		}
	}
	rounded := func(t time.Duration) string { return t.Round(10 * time.Microsecond).String() }
	limit("MCP on stdio, attached: read, p50", rounded(middle(reads)), "", false)
	limit("  edit, p50", rounded(middle(edits)), "1ms", middle(edits) > time.Millisecond)
	limit("  edit, p99", rounded(edits[b.saves*99/100]), "", false) // middle has sorted the times
	return nil
}
