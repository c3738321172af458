package mcp

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/relayfs/relayfs/diffwrap"
	"github.com/relayfs/relayfs/tests/internal/harness"
)

// An MCP process that serves a vault for its own client makes way for a mount,
// and its client goes on with the mount's documents.
func TestMCPHandsOverToAMount(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	vault := s.Vault(t, "Vault", map[string]string{"note.md": harness.TideTable})
	client := s.MCP(t, vault)
	attached := s.MCP(t, vault)
	for _, c := range []*harness.MCPClient{client, attached} {
		c.MustCall(t, "read", "file_path", "Vault/note.md")
	}
	client.MustCall(t, "edit", "file_path", "Vault/note.md", "old_string", "six", "new_string", "seven")

	m := s.Mount(t, vault)
	if status := s.Run(t, "status", vault); !strings.Contains(status.Stdout, fmt.Sprintf("relayfs mount (pid %d)", m.Cmd.Process.Pid)) {
		t.Errorf("status: %s%s", status.Stdout, status.Stderr)
	}
	for i, c := range []*harness.MCPClient{client, attached} {
		unread := c.Call(t, "edit", "file_path", "Vault/note.md", "old_string", "quiet", "new_string", "loud")
		if !unread.IsError || !strings.HasPrefix(unread.Text, "You must read this document") {
			t.Errorf("client %d: edit with the new owner: %+v", i, unread)
		}
		if got := c.MustCall(t, "read", "file_path", "Vault/note.md"); !strings.Contains(got, "at seven") {
			t.Errorf("client %d: read with the new owner:\n%s", i, got)
		}
	}
	client.MustCall(t, "edit", "file_path", "Vault/note.md", "old_string", "quiet", "new_string", "loud")
	m.CheckSuggested(t, "note.md", harness.TideTable, strings.NewReplacer("six", "seven", "quiet", "loud").Replace(harness.TideTable))
}

// A server on a port asks for a vault as a mount does.
func TestMCPHandsOverToHTTP(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	vault := s.Vault(t, "Vault", map[string]string{"note.md": harness.TideTable})
	client := s.MCP(t, vault)
	client.MustCall(t, "read", "file_path", "Vault/note.md")
	h := serveHTTP(t, s, vault)
	if got := h.call(t, h.open(t), "read", map[string]any{"file_path": "Vault/note.md"}); !strings.Contains(got, "at six") {
		t.Errorf("read over HTTP: %s", got)
	}
	client.MustCall(t, "read", "file_path", "Vault/note.md")
}

// The vault stays where it is if the mount would serve less, or otherwise, than
// the client wanted.
func TestMCPKeepsItsVault(t *testing.T) {
	t.Parallel()
	harness.RequireFUSE(t)
	for name, tt := range map[string]struct {
		mcp  []string
		want string
	}{
		"other mode": {[]string{"--mode", "direct", "Vault"}, "it was started with --mode"},
		"two vaults": {[]string{"Vault", "Other"}, `and the other process would not`},
		"other name": {[]string{"Work=Vault"}, `it serves "Work=`},
		"on a port":  {nil, "already served by relayfs mcp"},
	} {
		t.Run(name, func(t *testing.T) {
			s := harness.NewSandbox(t)
			vault := s.Vault(t, "Vault", map[string]string{"note.md": harness.TideTable})
			s.Vault(t, "Other", map[string]string{"note.md": harness.TideTable})
			if tt.mcp == nil {
				serveHTTP(t, s, vault)
			} else {
				client := s.MCP(t, tt.mcp...)
				defer client.MustCall(t, "glob", "pattern", "*")
			}
			out := s.Run(t, "mount", vault, s.Mkdir(t, "mnt"))
			harness.CheckRefused(t, out, tt.want)
		})
	}
}

// If who asked for the vault never takes it, the MCP process does again. A call
// made meanwhile waits and is answered.
func TestMCPTakesBackWhatNobodyTook(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	vault := s.Vault(t, "Vault", map[string]string{"note.md": harness.TideTable})
	client := s.MCP(t, vault)
	client.MustCall(t, "read", "file_path", "Vault/note.md")
	asker := http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", s.Path("xdg", "runtime_dir", "relayfs", fmt.Sprintf("%d.sock", client.Cmd.Process.Pid)))
	}}}
	resp, err := asker.Post("http://relayfs/handover", "application/json", strings.NewReader(fmt.Sprintf(`{"sources":["Vault=%s"]}`, vault)))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		t.Fatalf("handover: %s", resp.Status)
	}
	if got := client.MustCall(t, "read", "file_path", "Vault/note.md"); !strings.Contains(got, "at six") {
		t.Errorf("read: %s", got)
	}
	client.MustCall(t, "edit", "file_path", "Vault/note.md", "old_string", "six", "new_string", "seven")
	if status := s.Run(t, "status", vault); !strings.Contains(status.Stdout, fmt.Sprintf("relayfs mcp (pid %d)", client.Cmd.Process.Pid)) {
		t.Errorf("status: %s%s", status.Stdout, status.Stderr)
	}
}

// Owners come and go while clients edit. What a client was told happened is in
// the vault, and nothing else is.
func TestMCPEditsWhileOwnersChange(t *testing.T) {
	t.Parallel()
	harness.RequireFUSE(t)
	s := harness.NewSandbox(t)
	const clients = 4
	before := ""
	for i := range clients {
		before += fmt.Sprintf("Some words before client%d=0; and after.\n\n", i)
	}
	vault := s.Vault(t, "Vault", map[string]string{"note.md": before})
	counters := make(chan [2]int, clients)
	stop := make(chan struct{})
	for i := range clients {
		c := &counting{client: s.MCP(t, vault), name: fmt.Sprintf("client%d", i)}
		go func() {
			c.count(t, stop)
			counters <- [2]int{i, c.n}
		}()
	}
	for i, end := range []func(*harness.Mount, *testing.T){(*harness.Mount).Stop, (*harness.Mount).Kill, (*harness.Mount).Stop} {
		m := s.MountAt(t, vault, s.Mkdir(t, fmt.Sprintf("mnt%d", i)))
		harness.WriteFile(t, m.Path(fmt.Sprintf("from the mount %d.md", i)), "A note.\n")
		end(m, t)
	}
	s.MountAt(t, vault, s.Mkdir(t, "last"))
	close(stop)
	want := before
	for range clients {
		c := <-counters
		want = strings.Replace(want, fmt.Sprintf("client%d=0;", c[0]), fmt.Sprintf("client%d=%d;", c[0], c[1]), 1)
		if c[1] == 0 {
			t.Errorf("client %d made no edit", c[0])
		}
	}
	raw := harness.ReadFile(t, vault+"/note.md")
	harness.CheckText(t, "accepted view", diffwrap.Everything.Accepted(raw), want)
	harness.CheckText(t, "original view", diffwrap.Everything.Original(raw), before)
}

// counting is a client that counts up in a note.
type counting struct {
	client *harness.MCPClient
	name   string
	n      int
	unread bool
}

// count goes on until stop is closed, and once more, which must succeed: there
// is an owner then.
func (c *counting) count(t *testing.T, stop <-chan struct{}) {
	c.unread = true
	for last := false; !last; {
		select {
		case <-stop:
			last = true
		default:
		}
		if c.unread {
			c.look(t)
		}
		res := c.client.Call(t, "edit", "file_path", "Vault/note.md",
			"old_string", fmt.Sprintf("%s=%d;", c.name, c.n), "new_string", fmt.Sprintf("%s=%d;", c.name, c.n+1))
		switch {
		case !res.IsError:
			c.n++
		case strings.HasPrefix(res.Text, "You must read"), strings.HasPrefix(res.Text, "The notes cannot be reached"),
			strings.HasPrefix(res.Text, "The relayfs process that serves the notes ended"):
			c.unread = true
			last = false
		default:
			t.Errorf("%s: %s", c.name, res.Text)
			return
		}
	}
}

// look reads the note once that is possible, and finds out whether an edit without
// an answer was made.
func (c *counting) look(t *testing.T) {
	harness.Eventually(t, harness.StartTimeout, func() error {
		res := c.client.Call(t, "read", "file_path", "Vault/note.md")
		if res.IsError {
			return fmt.Errorf("%s: %s", c.name, res.Text)
		}
		c.unread = false
		if strings.Contains(res.Text, fmt.Sprintf("%s=%d;", c.name, c.n+1)) {
			c.n++
		}
		return nil
	})
}
