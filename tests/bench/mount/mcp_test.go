//go:build linux

package mount

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"
)

// editingOverMCP reads and edits notes, each once, with a client of 'relayfs mcp' that is attached to a mount.
func (b *bench) editingOverMCP(t *testing.T) {
	b.makeNotes(t)
	b.mount(t, b.vault)
	c := b.MCP(t, b.vault)
	call := func(tool string, args ...any) time.Duration {
		start := time.Now()
		c.MustCall(t, tool, args...)
		return time.Since(start)
	}
	reads, edits := make([]time.Duration, *saves), make([]time.Duration, *saves)
	for i := range *saves {
		path := filepath.Join(filepath.Base(b.vault), noteFolder(i), noteName(i))
		reads[i] = call("read", "file_path", path)
		edits[i] = call("edit", "file_path", path, "old_string", fmt.Sprintf("Note %d.", i), "new_string", "Another first line.")
	}
	rounded := func(t time.Duration) string { return t.Round(10 * time.Microsecond).String() }
	limit("MCP on stdio, attached: read, p50", rounded(middle(reads)), "", false)
	limit("  edit, p50", rounded(middle(edits)), "1ms", middle(edits) > time.Millisecond)
	limit("  edit, p99", rounded(edits[*saves*99/100]), "", false) // middle has sorted the times
}
