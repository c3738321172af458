package mcpserver_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/relayfs/relayfs/bridge/bridgetest"
	"github.com/relayfs/relayfs/mcpserver"
)

// BenchmarkNotesTools prints the median time of the tools that ask the index, over
// 10,000 notes of 4 KB.
func BenchmarkNotesTools(b *testing.B) {
	notes := make(map[string]string)
	prose := strings.Repeat("Some prose with a [[Link]] in it and a #topic/sub, and then more words.\n\n- an item\n\n", 48)
	for i := range 10_000 {
		notes[fmt.Sprintf("Vault/%02d/Note %05d.md", i%50, i)] = fmt.Sprintf("---\nstatus: %s\ntags: [area/%d]\nrating: %d\n---\n# Note %d\n\n- [ ] ask\n\n%s",
			[]string{"open", "done", "later"}[i%3], i%40, i%5, i, prose)
	}
	f := bridgetest.New(b, notes)
	srv := mcpserver.New(f.Workspace, mcpserver.Options{Toolsets: []string{"claude", "notes"}})
	b.Cleanup(srv.Close)
	c := newTools(b, srv)
	c.ok("get_kiln_info") // builds the index
	for _, call := range []struct {
		name, tool string
		args       []any
	}{
		{"list_notes", "list_notes", nil},
		{"read_metadata", "read_metadata", []any{"path", "Vault/07/Note 00007.md"}},
		{"property_search/many", "property_search", []any{"properties", map[string]any{"status": "done"}}},
		{"outline", "outline", []any{"path", "Vault/07/Note 00007.md"}},
		{"tasks/folder", "tasks", []any{"path", "Vault/07"}},
		{"tasks/none", "tasks", []any{"status", "done"}},
		{"set_properties", "set_properties", []any{"path", "Vault/07/Note 00007.md", "set", map[string]any{"seen": 1}}},
		{"property_search/few", "property_search", []any{"properties", map[string]any{"tags": "area/7", "rating": []int{2, 3}}}},
	} {
		b.Run(call.name, func(b *testing.B) {
			c.ok(call.tool, call.args...) // builds what only this tool asks
			var took []time.Duration
			for b.Loop() {
				start := time.Now()
				c.ok(call.tool, call.args...)
				took = append(took, time.Since(start))
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-µs")
		})
	}
}
