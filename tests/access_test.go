package tests

import (
	"os"
	"strings"
	"testing"
)

// cat, ls, grep and edit are the same with and without a running mount.
func TestAccessWithoutAMount(t *testing.T) {
	for _, mounted := range []bool{false, true} {
		name := "alone"
		if mounted {
			name = "beside a mount"
		}
		t.Run(name, func(t *testing.T) {
			s := newSandbox(t)
			long := strings.Repeat("A line of many.\n", 5000)
			vault := s.vault(t, "Vault", map[string]string{
				"Sub/Note.md": "We sell {--one--}{++two++} apples, 🍏 and more", "Long.md": long, "Data.bin": "\x00\xff\n",
			})
			if mounted {
				s.mount(t, vault)
			}
			run := func(stdin string, args ...string) output {
				t.Helper()
				cmd := s.command(t.Context(), append(args, "--source", vault)...)
				cmd.Stdin = strings.NewReader(stdin)
				return runCommand(t, cmd)
			}
			expect := func(out output, code int, stdout, stderr string) {
				t.Helper()
				if out.code != code || out.stdout != stdout || !strings.Contains(out.stderr, stderr) {
					t.Errorf("exit %d, %q, %q; want %d, %q, %q", out.code, out.stdout, out.stderr, code, stdout, stderr)
				}
			}
			expect(run("", "ls"), 0, "Vault/\n", "")
			expect(run("", "ls", "Vault"), 0, "Vault/Data.bin\nVault/Long.md\nVault/Sub/\n", "")
			expect(run("", "ls", "-R", "Vault/Sub"), 0, "Vault/Sub/Note.md\n", "")
			expect(run("", "cat", "Vault/Sub/Note", "Vault/Data.bin"), 0, "We sell two apples, 🍏 and more\x00\xff\n", "")
			expect(run("", "cat", "Vault/../../etc/passwd"), 1, "", "..")
			expect(run("", "cat", "Vault/None.md"), 1, "", "does not exist")
			expect(run("", "grep", "-i", "APPLES"), 0, "Vault/Sub/Note.md:1:We sell two apples, 🍏 and more\n", "")
			expect(run("", "grep", "-c", "line of", "Vault/Long.md"), 0, "Vault/Long.md:5000\n", "")
			expect(run("", "grep", "pears"), 1, "", "")
			expect(run("", "grep", "("), 2, "", "regular expression")

			if out := run("", "edit", "Vault/Sub/Note.md", "--old", "more", "--new", "less", "--author", "script"); out.code != 0 {
				t.Errorf("edit: exit %d, %q", out.code, out.stderr)
			}
			if out := run(strings.Replace(long, "many", "few", 1), "edit", "Vault/Long.md"); out.code != 0 {
				t.Errorf("edit of a whole note: exit %d, %q", out.code, out.stderr)
			}
			if out := run("new\n", "edit", "Vault/New.md"); out.code != 0 {
				t.Errorf("edit of a new note: exit %d, %q", out.code, out.stderr)
			}
			expect(run("", "edit", "Vault/Sub/Note.md", "--old", "nowhere", "--new", "x"), 1, "", "not found")
			expect(run("", "edit", "Vault/Sub/Note.md", "--old", "x"), 2, "", "belong together")
			checkText(t, "the note", readFile(t, s.path("Vault", "Sub", "Note.md")), "We sell {--one--}{++two++} apples, 🍏 and {--more--}{++less++}")
			checkText(t, "the long note", readFile(t, s.path("Vault", "Long.md")), strings.Replace(long, "many", "{--many--}{++few++}", 1))
			if _, err := os.Stat(s.path("Vault", "New.md")); err != nil {
				t.Error(err)
			}
			if out := s.run(t, "suggestions", "list", vault); !strings.Contains(out.stdout, "script") {
				t.Errorf("no suggestion by script:\n%s", out.stdout)
			}
		})
	}
}
