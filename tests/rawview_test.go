package tests

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// What is written in a raw view cannot become a suggestion, so nothing is: not on the
// mount, not through MCP, not on the command line.
func TestARawViewIsReadOnly(t *testing.T) {
	const raw = "The {--coffee--}{++tea++} stands.\n"
	for _, view := range []string{"raw", "original"} {
		t.Run(view, func(t *testing.T) {
			s := newSandbox(t)
			vault := s.vault(t, "Vault", map[string]string{"note.md": raw})
			m := s.mount(t, vault, "--view", view)
			write := func(name string, flags int) error {
				f, err := os.OpenFile(m.path(name), flags, 0o644)
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
				"truncate":   os.Truncate(m.path("note.md"), 3),
			} {
				if !errors.Is(err, syscall.EROFS) {
					t.Errorf("%s: %v, want EROFS", what, err)
				}
			}
			replacement := m.path("note.md.tmp")
			if err := os.WriteFile(replacement, []byte("past review\n"), 0o644); err == nil {
				err = os.Rename(replacement, m.path("note.md"))
				if !errors.Is(err, syscall.EROFS) {
					t.Errorf("rename over the note: %v, want EROFS", err)
				}
			}
			m.log.says(t, "--view accepted")
			client := s.mcp(t, vault)
			client.mustCall(t, "read", "file_path", "Vault/note.md")
			result := client.call(t, "edit", "file_path", "Vault/note.md", "old_string", "stands", "new_string", "falls")
			if !result.isError || !strings.Contains(result.text, "--view accepted") {
				t.Errorf("edit through MCP: %+v", result)
			}
			client.close(t)
			for _, args := range [][]string{{"--old", "stands", "--new", "falls"}, nil} {
				cmd := s.command(t.Context(), append([]string{"edit", "Vault/note.md"}, args...)...)
				cmd.Stdin = strings.NewReader("past review\n")
				if out := runCommand(t, cmd); out.code != 1 || !strings.Contains(out.stderr, "--view accepted") {
					t.Errorf("relayfs edit %v: exit %d, %q", args, out.code, out.stderr)
				}
			}
			m.stop(t)
			checkText(t, "the vault's note", readFile(t, filepath.Join(vault, "note.md")), raw)
			checkNames(t, vault, map[string]string{"note.md": raw})
		})
	}
}

// With --mode direct people edit the stored text itself.
func TestARawViewIsWritableInDirectMode(t *testing.T) {
	s := newSandbox(t)
	m := s.mount(t, s.vault(t, "Vault", map[string]string{"note.md": "The {--coffee--}{++tea++} stands.\n"}), "--view", "raw", "--mode", "direct")
	writeFile(t, m.path("note.md"), "The {--coffee--}{++milk++} stands.\n")
	checkText(t, "the vault's note", readFile(t, m.vaultPath("note.md")), "The {--coffee--}{++milk++} stands.\n")
}
