package review

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/relayfs/relayfs/tests/internal/harness"
)

// What a session did not make it does not take away, whosever text is in it by
// then: it proposes to, and what people have stays where it is.
func TestOnlyWhatASessionMadeGoesAtOnce(t *testing.T) {
	t.Parallel()
	const properties = "---\ntitle: hers\n---\n"
	s := harness.NewSandbox(t)
	files := map[string]string{
		"empty.md": "", "properties.md": properties, "empty over.md": "", "empty away.md": "", "dir/empty.md": "", "Plan.md": "the plan\n",
	}
	vault := s.Vault(t, "Vault", files)
	m := s.Mount(t, vault)
	m.Shell(t, "echo mine > own.md; rm own.md; mkdir own; echo mine > own/own.md; rm -r own; : > 'own empty.md'; rm 'own empty.md'")
	if got := s.Suggestions(t, vault); len(got) != 0 {
		t.Errorf("what cancels out is proposed: %v", harness.Gists(got))
	}
	m.Shell(t, "echo x > empty.md; rm empty.md")
	m.Shell(t, "echo x > properties.md; rm properties.md")
	m.Shell(t, "echo x > 'empty over.md'; mv Plan.md 'empty over.md'")
	m.Shell(t, "echo x > 'empty away.md'; mv 'empty away.md' elsewhere.md")
	m.Shell(t, "echo x > dir/empty.md; rm -r dir")
	m.Shell(t, "echo x > 'other session.md'; mkdir 'other folder'; echo x > 'other folder/note.md'")
	m.Shell(t, "rm 'other session.md'; rm -r 'other folder'")

	want := []string{
		"Plan.md", "dir", "dir/empty.md", "empty away.md", "empty over.md", "empty.md", "other folder", "other folder/note.md",
		"other session.md", "properties.md",
	}
	harness.CheckListing(t, vault, want)
	var structure []string
	for _, line := range harness.Gists(s.Suggestions(t, vault)) {
		if strings.HasPrefix(line, "delete ") || strings.HasPrefix(line, "rename ") {
			structure = append(structure, line)
		}
	}
	proposed := []string{
		"delete Vault/dir > ", "delete Vault/dir/empty.md > ", "delete Vault/empty over.md > ", "delete Vault/empty.md > ",
		"delete Vault/other folder > ", "delete Vault/other folder/note.md > ", "delete Vault/other session.md > ",
		"delete Vault/properties.md > ", "rename Vault/Plan.md > Vault/empty over.md", "rename Vault/empty away.md > Vault/elsewhere.md",
	}
	if !slices.Equal(structure, proposed) {
		t.Errorf("proposed\n%s\nwant\n%s", strings.Join(structure, "\n"), strings.Join(proposed, "\n"))
	}

	s.DecideOn(t, 0, "accept", harness.IDOf(t, s.Suggestions(t, vault), "Vault/empty.md"), vault)
	if _, err := os.Stat(filepath.Join(vault, ".trash", "empty.md")); err != nil {
		t.Error(err)
	}
	s.DecideOn(t, 0, "undo", vault)
	harness.CheckListing(t, vault, want)
	for range 2 { // what is in a note is listed again once that is not to go
		s.DecideOn(t, 0, "reject", "--all", "--yes", vault)
	}
	for name, text := range files {
		if name != "properties.md" { // those are changed directly, and taken back by themselves
			harness.CheckText(t, name, harness.ReadFile(t, filepath.Join(vault, name)), text)
		}
	}
}

// What a person has typed in is not its maker's any more, whatever became of it.
func TestWhatAPersonTypedInIsNotAgentsOwn(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	vault := s.Vault(t, "Vault", map[string]string{"Plan.md": "the plan\n", "empty.md": ""})
	m := s.Mount(t, vault)
	shell := exec.Command("sh")
	shell.Dir = m.Path("")
	in, err := shell.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := shell.Start(); err != nil {
		t.Fatal(err)
	}
	write := func(line string) {
		t.Helper()
		if _, err := in.Write([]byte(line + "\n")); err != nil {
			t.Fatal(err)
		}
	}
	note := filepath.Join(vault, "note.md")
	write("echo mine > note.md")
	harness.WaitFor(t, "the note", func() bool { _, err := os.Stat(note); return err == nil })
	raw := harness.ReadFile(t, note)
	for _, text := range []string{"hers\n" + raw, raw} { // typed, and taken away again
		harness.WriteFile(t, note, text)
		harness.FileBecomes(t, m.Path("note.md"), strings.Replace(text, raw, "mine\n", 1))
	}
	write("rm note.md")
	in.Close()
	_ = shell.Wait()
	if got := harness.Gists(s.Suggestions(t, vault)); !slices.Contains(got, "delete Vault/note.md > ") {
		t.Errorf("proposed %q", got)
	}
	harness.CheckText(t, "note", harness.ReadFile(t, note), raw)
}

// The same through the tools.
func TestToolsTakeAwayOnlyWhatTheirSessionMade(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	vault := s.Vault(t, "Vault", map[string]string{"empty.md": "", "moved.md": "", "Plan.md": "the plan\n"})
	m := s.Mount(t, vault)
	one, two := s.MCP(t, vault), s.MCP(t, vault)
	for _, name := range []string{"empty.md", "moved.md"} {
		one.MustCall(t, "read", "file_path", "Vault/"+name)
		one.MustCall(t, "write", "file_path", "Vault/"+name, "content", "x\n")
	}
	one.MustCall(t, "delete", "file_path", "Vault/empty.md")
	one.MustCall(t, "move", "file_path", "Vault/moved.md", "new_path", "Vault/new name.md")
	one.MustCall(t, "write", "file_path", "Vault/ones.md", "content", "x\n")
	two.MustCall(t, "delete", "file_path", "Vault/ones.md")
	two.MustCall(t, "write", "file_path", "Vault/twos.md", "content", "x\n")
	two.MustCall(t, "delete", "file_path", "Vault/twos.md")
	harness.CheckListing(t, vault, []string{"Plan.md", "empty.md", "moved.md", "ones.md"})
	got := harness.Gists(s.Suggestions(t, vault))
	for _, want := range []string{"delete Vault/empty.md > ", "delete Vault/ones.md > ", "rename Vault/moved.md > Vault/new name.md"} {
		if !slices.Contains(got, want) {
			t.Errorf("%q is not proposed: %q", want, got)
		}
	}
	m.Stop(t)
}
