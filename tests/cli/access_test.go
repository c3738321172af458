package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/relayfs/relayfs/tests/internal/harness"
)

// cat, ls, grep and edit are the same with and without a running mount.
func TestAccessWithoutAMount(t *testing.T) {
	t.Parallel()
	for _, mounted := range []bool{false, true} {
		name := "alone"
		if mounted {
			name = "beside a mount"
		}
		t.Run(name, func(t *testing.T) {
			s := harness.NewSandbox(t)
			long := strings.Repeat("A line of many.\n", 5000)
			vault := s.Vault(t, "Vault", map[string]string{
				"Sub/Note.md": "We sell {--one--}{++two++} apples, 🍏 and more", "Long.md": long, "Data.bin": "\x00\xff\n",
			})
			if mounted {
				s.Mount(t, vault)
			}
			run := func(stdin string, args ...string) harness.Output {
				t.Helper()
				cmd := s.Command(t.Context(), append(args, "--source", vault)...)
				cmd.Stdin = strings.NewReader(stdin)
				return harness.RunCommand(t, cmd)
			}
			expect := func(out harness.Output, code int, stdout, stderr string) {
				t.Helper()
				if out.Code != code || out.Stdout != stdout || !strings.Contains(out.Stderr, stderr) {
					t.Errorf("exit %d, %q, %q; want %d, %q, %q", out.Code, out.Stdout, out.Stderr, code, stdout, stderr)
				}
			}
			expect(run("", "ls"), 0, "Vault/\n", "")
			expect(run("", "ls", "Vault"), 0, "Vault/Data.bin\nVault/Long.md\nVault/Sub/\n", "")
			expect(run("", "ls", "-R", "Vault/Sub"), 0, "Vault/Sub/Note.md\n", "")
			expect(run("", "cat", "Vault/Sub/Note", "Vault/Data.bin"), 0, "We sell two apples, 🍏 and more\x00\xff\n", "")
			expect(run("", "cat", "Vault/../../etc/passwd"), 1, "", "..")
			expect(run("", "cat", "Vault/None.md"), 1, "", "does not exist")
			expect(run("", "cat", "Vault/None.md", "Vault/Data.bin", "Vault/Sub"), 1, "\x00\xff\n", `"Vault/Sub": is a folder`)
			expect(run("", "grep", "-i", "APPLES"), 0, "Vault/Sub/Note.md:1:We sell two apples, 🍏 and more\n", "")
			expect(run("", "grep", "-c", "line of", "Vault/Long.md"), 0, "Vault/Long.md:5000\n", "")
			expect(run("", "grep", "pears"), 1, "", "")
			expect(run("", "grep", "("), 2, "", "regular expression")
			expect(run("", "grep", "-C", "-1", "apples"), 2, "", "--context -1 is negative")

			if out := run("", "edit", "Vault/Sub/Note.md", "--old", "more", "--new", "less", "--author", "script"); out.Code != 0 {
				t.Errorf("edit: exit %d, %q", out.Code, out.Stderr)
			}
			if out := run(strings.Replace(long, "many", "few", 1), "edit", "Vault/Long.md"); out.Code != 0 {
				t.Errorf("edit of a whole note: exit %d, %q", out.Code, out.Stderr)
			}
			if out := run("new\n", "edit", "Vault/New.md"); out.Code != 0 {
				t.Errorf("edit of a new note: exit %d, %q", out.Code, out.Stderr)
			}
			expect(run("", "edit", "Vault/Sub/Note.md", "--old", "nowhere", "--new", "x"), 1, "", "not found")
			expect(run("", "edit", "Vault/Sub/Note.md", "--old", "x"), 2, "", "both --old and --new")
			expect(run("", "edit", "Vault/Sub/Note.md", "--old", "We", "--new", "\xff"), 2, "", "not valid UTF-8")
			expect(run("\xff\n", "edit", "Vault/Sub/Note.md"), 2, "", "not valid UTF-8")
			expect(run(strings.Repeat("é", 9<<20), "edit", "Vault/Sub/Note.md"), 2, "", "longer than 16 MiB")
			harness.CheckText(t, "the note", harness.ReadFile(t, s.Path("Vault", "Sub", "Note.md")), "We sell {--one--}{++two++} apples, 🍏 and {--more--}{++less++}")
			harness.CheckText(t, "the long note", harness.ReadFile(t, s.Path("Vault", "Long.md")), strings.Replace(long, "many", "{--many--}{++few++}", 1))
			if _, err := os.Stat(s.Path("Vault", "New.md")); err != nil {
				t.Error(err)
			}
			if out := s.Run(t, "suggestions", "list", vault); !strings.Contains(out.Stdout, "script") {
				t.Errorf("no suggestion by script:\n%s", out.Stdout)
			}
		})
	}
}

// A user may name a note by its file, on the mount or in the vault, whichever folder the shell is in.
func TestPathsOfFiles(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	vault := s.Vault(t, "Vault", map[string]string{".obsidian/app.json": "{}", "Sub/Note.md": "one"})
	other := s.Vault(t, "Other", map[string]string{".obsidian/app.json": "{}", "Sub/Note.md": "two", "Sub/Own.md": "three"})
	outside := s.Mkdir(t, "Vault copy")
	run := func(dir, want string, args ...string) {
		t.Helper()
		cmd := s.Command(t.Context(), args...)
		cmd.Dir = dir
		if out := harness.RunCommand(t, cmd); out.Code != 0 || out.Stdout != want {
			t.Errorf("%q in %s: exit %d, %q, %q; want %q", args, dir, out.Code, out.Stdout, out.Stderr, want)
		}
	}
	run(filepath.Join(vault, "Sub"), "one", "cat", "Note.md")
	run(outside, "two", "cat", filepath.Join(other, "Sub", "Note.md"))
	m, second := s.Mount(t, vault), s.Mount(t, other)
	run(outside, "one", "cat", filepath.Join(m.Dir, "Vault", "Sub", "Note.md"))
	run(outside, "two", "cat", filepath.Join(second.Dir, "Other", "Sub", "Note.md"))
	run(outside, "two", "cat", "../Other/Sub/Note.md")
	run(filepath.Join(m.Dir, "Vault", "Sub"), "oneone", "cat", "./Note.md", "Vault/Sub/Note.md")
	run(filepath.Join(second.Dir, "Other"), "Other/Sub/Note.md\nOther/Sub/Own.md\n", "ls", "Sub")
	run(filepath.Join(second.Dir, "Other"), "Other/Sub/Note.md:1:two\n", "grep", "t", "Sub/Note.md")
	run(filepath.Join(vault, "Sub"), "Edited Vault/Sub/Note.md: replaced 1 occurrence; 1 suggestion added, 1 suggestion in this document is pending.\n",
		"edit", "Note.md", "--old", "one", "--new", "1")
	run(outside, "one", "show", "../Vault/Sub/Note.md@1")
	if out := s.Run(t, "suggestions", "list", "Vault/Sub/Note.md"); out.Code == 0 || !strings.Contains(out.Stderr, "is a note") || !strings.Contains(out.Stderr, `--path "Note.md"`) {
		t.Errorf("a note instead of a vault: exit %d, %q", out.Code, out.Stderr)
	}
}
