package mcp

import (
	"encoding/base64"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/relayfs/relayfs/tests/internal/harness"
)

// Attachments are resources, as text or as bytes, within a bound.
func TestMCPAttachments(t *testing.T) {
	t.Parallel()
	image := "\x89PNG\r\n\x1a\n\x00\xff"
	s := harness.NewSandbox(t)
	vault := s.Vault(t, "Vault", map[string]string{
		"img/A b.png": image, "board.canvas": `{"nodes":[]}`, "list.csv": "caf\xe9\n", "odd.xyz": "text", "big.pdf": strings.Repeat("x", 4<<20+1), "full.pdf": strings.Repeat("x", 4<<20),
	})
	c := s.MCP(t, vault)
	for _, tt := range []struct {
		uri, kind, text, blob, refused string
	}{
		{"note:///Vault/img/A%20b.png", "image/png", "", image, ""},
		{"note:///Vault/img/A b.png", "image/png", "", image, ""},
		{"note:///Vault/board.canvas", "application/json", `{"nodes":[]}`, "", ""},
		{"note:///Vault/list.csv", "text/csv", "", "caf\xe9\n", ""},
		{"note:///Vault/odd.xyz", "application/octet-stream", "", "text", ""},
		{"note:///Vault/full.pdf", "application/pdf", "", strings.Repeat("x", 4<<20), ""},
		{"note:///Vault/big.pdf", "", "", "", "Vault/big.pdf is larger than 4 MiB"},
		{"note:///Vault/.obsidian/app.json", "", "", "", "There is no document"},
	} {
		raw, rpcError := c.Ask(t, "resources/read", map[string]any{"uri": tt.uri})
		if tt.refused != "" {
			if !strings.Contains(string(rpcError), tt.refused) {
				t.Errorf("%s: got %s, want the error %q", tt.uri, rpcError, tt.refused)
			}
			continue
		}
		var got struct {
			Contents []struct{ URI, MimeType, Text, Blob string }
		}
		if err := json.Unmarshal(raw, &got); err != nil || len(got.Contents) != 1 {
			t.Fatalf("%s: %v, %.300s, %s", tt.uri, err, raw, rpcError)
		}
		blob, err := base64.StdEncoding.DecodeString(got.Contents[0].Blob)
		if g := got.Contents[0]; err != nil || g.MimeType != tt.kind || g.Text != tt.text || string(blob) != tt.blob {
			t.Errorf("%s: got %s, %d bytes of text and %d others, want %s, %d and %d", tt.uri, g.MimeType, len(g.Text), len(blob), tt.kind, len(tt.text), len(tt.blob))
		}
	}
}

// Clients hear that the list of resources has changed when notes come and go, and not when their text changes.
func TestMCPListChanged(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	vault := s.Vault(t, "Vault", map[string]string{"Plan.md": "One\n"})
	c := s.MCP(t, vault)
	told := func(within time.Duration) bool {
		for end := time.After(within); ; {
			select {
			case line, open := <-c.Out:
				if !open {
					t.Fatalf("the server ended\n%s", c.Log)
				}
				if strings.Contains(string(line), "notifications/resources/list_changed") {
					return true
				}
			case <-end:
				return false
			}
		}
	}
	p := filepath.Join(vault, "New.md")
	for _, change := range []func() error{
		func() error { return os.WriteFile(p, []byte("new\n"), 0o644) },
		func() error { return os.Rename(p, filepath.Join(vault, "Other.md")) },
		func() error { return os.Remove(filepath.Join(vault, "Other.md")) },
	} {
		if err := change(); err != nil {
			t.Fatal(err)
		}
		if !told(harness.StartTimeout) {
			t.Fatalf("got no notification, want one\n%s", c.Log)
		}
		for told(time.Second) { // a rename may be seen as two changes
		}
	}
}
