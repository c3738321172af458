package servers

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/relayfs/relayfs/bridge/remote/token"
	"github.com/relayfs/relayfs/tests/internal/harness"
)

// testRelay is the relay of the servers here: its id is the prefix of every
// document's, so that one token opens a whole folder.
const testRelay = "11111111-2222-4333-8444-555555555555"

// statusTells waits until 'relayfs status' says all of that.
func statusTells(t *testing.T, s *harness.Sandbox, want ...string) {
	t.Helper()
	harness.Eventually(t, serverPatience, func() error {
		out := s.Run(t, "status")
		for _, text := range want {
			if !strings.Contains(out.Stdout, text) {
				return fmt.Errorf("%q is not in\n%s%s", text, out.Stdout, out.Stderr)
			}
		}
		return nil
	})
}

// A folder whose token may only read is a read-only folder, and says why; with a
// token that may write it is as any other.
func TestServerReadOnlyToken(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"suggest", "direct"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			readOnlyToken(t, mode)
		})
	}
}

func readOnlyToken(t *testing.T, mode string) {
	server := shareFolder(t, "Team", map[string]string{"Note.md": "note\n", "sub/Other.md": "other\n"})
	s := harness.NewSandbox(t)
	env, source := s.Env, server.source()
	s.Env = append(env, "RELAYFS_TOKEN="+server.mint(t, token.ReadOnly, "ann"))
	dir := s.Mkdir(t, "mnt")
	m := s.MountAt(t, source[0], dir, append(source[1:], "--mode", mode)...)
	note := filepath.Join(dir, "Team", "Note.md")
	harness.FileBecomes(t, note, "note\n")
	statusTells(t, s, "READ-ONLY", "accepts no changes: the token is read-only", "set RELAYFS_TOKEN to a token with write access")

	for name, err := range map[string]error{
		"write":         harness.WriteAll(note, []byte("changed\n")),
		"create":        harness.WriteAll(filepath.Join(dir, "Team", "New.md"), []byte("new\n")),
		"unlink":        os.Remove(note),
		"rename":        os.Rename(note, filepath.Join(dir, "Team", "Moved.md")),
		"rename folder": os.Rename(filepath.Join(dir, "Team", "sub"), filepath.Join(dir, "Team", "moved")),
		"mkdir":         os.Mkdir(filepath.Join(dir, "Team", "folder"), 0o700),
	} {
		t.Run(name, func(t *testing.T) { harness.CheckErrno(t, err, unix.EROFS) })
	}
	mcp := s.MCP(t, source...)
	mcp.MustCall(t, "read", "file_path", "Team/Note.md")
	for tool, args := range map[string][]any{
		"edit":   {"file_path", "Team/Note.md", "old_string", "note", "new_string", "changed"},
		"write":  {"file_path", "Team/New.md", "content", "new\n"},
		"move":   {"file_path", "Team/Note.md", "new_path", "Team/Moved.md"},
		"delete": {"file_path", "Team/Note.md"},
	} {
		result := mcp.Call(t, tool, args...)
		if !result.IsError || !strings.Contains(result.Text, "the token is read-only") || !strings.Contains(result.Text, "set RELAYFS_TOKEN to a token with write access") {
			t.Errorf("%s: %q", tool, result.Text)
		}
	}
	mcp.Close(t)
	harness.CheckText(t, "note", harness.ReadFile(t, note), "note\n")
	m.Stop(t)

	s.Env = append(env, "RELAYFS_TOKEN="+server.mint(t, token.Full, "ann"))
	m = s.MountAt(t, source[0], dir, append(source[1:], "--mode", mode)...)
	statusTells(t, s, ": connected, everything")
	if err := harness.WriteAll(note, []byte("changed\n")); err != nil {
		t.Error(err)
	}
	want := map[string]string{"suggest": "{--note--}{++changed++}\n", "direct": "changed\n"}[mode]
	server.becomes(t, "Note.md", want)
	m.Stop(t)
}

// A token that is revoked while its client works: what is here stays readable, what
// is written waits and is told, and goes to the server once a token is good again.
func TestServerTokenRevoked(t *testing.T) {
	t.Parallel()
	server := shareFolder(t, "Team", map[string]string{"Note.md": "note\n"})
	s := harness.NewSandbox(t)
	env, source := s.Env, server.source()
	s.Env = append(env, "RELAYFS_TOKEN="+server.mint(t, token.Full, "ann"))
	dir := s.Mkdir(t, "mnt")
	m := s.MountAt(t, source[0], dir, append(source[1:], "--mode", "direct")...)
	note := filepath.Join(dir, "Team", "Note.md")
	harness.FileBecomes(t, note, "note\n")
	statusTells(t, s, ": connected, everything")

	another, err := token.GenerateKey("", token.HMAC)
	if err != nil {
		t.Fatal(err)
	}
	server.SetKeys([]*token.Key{another})
	statusTells(t, s, "not connected", "server refuses access (401 Unauthorized)", "set RELAYFS_TOKEN to a token that is valid for the folder", "retries automatically")
	if err := harness.WriteAll(note, []byte("written meanwhile\n")); err != nil {
		t.Error(err)
	}
	harness.CheckText(t, "note", harness.ReadFile(t, note), "written meanwhile\n")
	statusTells(t, s, "not connected", "1 document with unacknowledged changes")
	harness.CheckText(t, "the server's text", server.Text(server.notes["Note.md"]), "note\n")

	// The old key is back: the same client goes on by itself.
	server.SetKeys([]*token.Key{server.key})
	statusTells(t, s, ": connected, everything")
	server.becomes(t, "Note.md", "written meanwhile\n")
	m.Stop(t)
}
