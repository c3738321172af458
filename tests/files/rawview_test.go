package files

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/relayfs/relayfs/tests/internal/harness"
)

// A text that is written in the raw view cannot become a suggestion. So the view refuses writes, renames and removals: on
// the mount, through MCP and on the command line.
func TestARawViewIsReadOnly(t *testing.T) {
	t.Parallel()
	const raw = "The {--coffee--}{++tea++} stands.\n"
	for _, view := range []string{"raw", "original"} {
		t.Run(view, func(t *testing.T) {
			s := harness.NewSandbox(t)
			vault := s.Vault(t, "Vault", map[string]string{"note.md": raw})
			m := s.Mount(t, vault, "--view", view)
			write := func(name string, flags int) error {
				f, err := os.OpenFile(m.Path(name), flags, 0o644)
				if err != nil {
					return err
				}
				_, err = f.WriteString("past review\n")
				return errors.Join(err, f.Close())
			}
			for what, err := range map[string]error{
				"append":     write("note.md", os.O_WRONLY|os.O_APPEND),
				"overwrite":  write("note.md", os.O_WRONLY|os.O_TRUNC),
				"a new note": write("new.md", os.O_WRONLY|os.O_CREATE),
				"truncate":   os.Truncate(m.Path("note.md"), 3),
				"rename":     os.Rename(m.Path("note.md"), m.Path("renamed.md")),
				"remove":     os.Remove(m.Path("note.md")),
				"a folder":   os.Mkdir(m.Path("folder"), 0o755),
				"a file":     write("data.csv", os.O_WRONLY|os.O_CREATE),
				"an image":   write("image.png", os.O_WRONLY|os.O_CREATE),
			} {
				if !errors.Is(err, syscall.EROFS) {
					t.Errorf("%s: %v, want EROFS", what, err)
				}
			}
			replacement := m.Path("note.md.tmp")
			if err := os.WriteFile(replacement, []byte("past review\n"), 0o644); err == nil {
				err = os.Rename(replacement, m.Path("note.md"))
				if !errors.Is(err, syscall.EROFS) {
					t.Errorf("rename over the note: %v, want EROFS", err)
				}
			}
			m.Log.Says(t, "--view accepted")
			client := s.MCP(t, vault)
			client.MustCall(t, "read", "file_path", "Vault/note.md")
			result := client.Call(t, "edit", "file_path", "Vault/note.md", "old_string", "stands", "new_string", "falls")
			if !result.IsError || !strings.Contains(result.Text, "--view accepted") {
				t.Errorf("edit through MCP: %+v", result)
			}
			client.Close(t)
			for _, args := range [][]string{{"--old", "stands", "--new", "falls"}, nil} {
				cmd := s.Command(t.Context(), append([]string{"edit", "Vault/note.md"}, args...)...)
				cmd.Stdin = strings.NewReader("past review\n")
				if out := harness.RunCommand(t, cmd); out.Code != 1 || !strings.Contains(out.Stderr, "--view accepted") {
					t.Errorf("relayfs edit %v: exit %d, %q", args, out.Code, out.Stderr)
				}
			}
			m.Stop(t)
			harness.CheckText(t, "the vault's note", harness.ReadFile(t, filepath.Join(vault, "note.md")), raw)
			harness.CheckNames(t, vault, map[string]string{"note.md": raw})
		})
	}
}

// With --mode direct people edit the stored text itself.
func TestARawViewIsWritableInDirectMode(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	m := s.Mount(t, s.Vault(t, "Vault", map[string]string{"note.md": "The {--coffee--}{++tea++} stands.\n"}), "--view", "raw", "--mode", "direct")
	harness.WriteFile(t, m.Path("note.md"), "The {--coffee--}{++milk++} stands.\n")
	harness.CheckText(t, "the vault's note", harness.ReadFile(t, m.VaultPath("note.md")), "The {--coffee--}{++milk++} stands.\n")
}
