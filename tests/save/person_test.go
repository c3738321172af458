package save

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/relayfs/relayfs/diffwrap"
	"github.com/relayfs/relayfs/tests/internal/harness"
	"github.com/relayfs/relayfs/tests/need"
)

// A person's edit of the vault's file shows within a second on the mount and
// in MCP, and is nobody's suggestion.
func TestTimedPersonsEditIsShown(t *testing.T) {
	s := harness.NewSandbox(t)
	files := harness.GeneratedVault(1000)
	files["Desk/note.md"] = harness.TideTable
	m := s.Mount(t, s.Vault(t, "Vault", files))
	client := s.MCP(t, m.Vault)
	for i, save := range []func(*testing.T, string, string){harness.WriteFile, harness.AtomicSave, harness.WriteFile} {
		text := fmt.Sprintf("%s\nA person's line, number %d.\n", harness.TideTable, i)
		harness.ReadFile(t, m.Path("Desk/note.md")) // the kernel has the old text in its cache
		save(t, m.VaultPath("Desk/note.md"), text)
		took := harness.Eventually(t, harness.Soon, func() error {
			got, err := os.ReadFile(m.Path("Desk/note.md"))
			if err == nil && string(got) != text {
				err = fmt.Errorf("the mount shows %q, want %q", got, text)
			}
			return err
		})
		t.Logf("shown after %v", took)
		if got := client.MustCall(t, "read", "file_path", "Vault/Desk/note.md"); !strings.Contains(got, fmt.Sprintf("A person's line, number %d.", i)) {
			t.Errorf("MCP does not show the edit:\n%s", got)
		}
		harness.CheckText(t, "vault's file", harness.ReadFile(t, m.VaultPath("Desk/note.md")), text)
	}
	if pending := s.Suggestions(t, m.Vault); len(pending) != 0 {
		t.Errorf("a person's edit became a suggestion: %v", pending)
	}
}

// Notes and folders that a person makes, moves and deletes appear, move and
// vanish on the mount, also where the kernel had cached their absence.
func TestTimedPersonsStructureIsShown(t *testing.T) {
	s := harness.NewSandbox(t)
	m := s.Mount(t, s.Vault(t, "Vault", map[string]string{"a.md": "a\n", "folder/b.md": "b\n"}))
	listing := func(want ...string) {
		t.Helper()
		harness.Eventually(t, harness.Soon, func() error {
			got, err := harness.WalkFiles(m.Path(""))
			if err == nil && !slices.Equal(got, want) {
				err = fmt.Errorf("the mount lists %v, want %v", got, want)
			}
			return err
		})
	}
	listing("a.md", "folder/", "folder/b.md")
	if _, err := os.Stat(m.Path("folder/new.md")); !os.IsNotExist(err) {
		t.Fatalf("stat of no note: %v", err)
	}
	harness.WriteFile(t, m.VaultPath("folder/new.md"), "new\n")
	listing("a.md", "folder/", "folder/b.md", "folder/new.md")
	harness.CheckText(t, "new note", harness.ReadFile(t, m.Path("folder/new.md")), "new\n")

	if err := os.Rename(m.VaultPath("folder"), m.VaultPath("moved")); err != nil {
		t.Fatal(err)
	}
	listing("a.md", "moved/", "moved/b.md", "moved/new.md")
	harness.CheckText(t, "moved note", harness.ReadFile(t, m.Path("moved/b.md")), "b\n")

	if err := os.RemoveAll(m.VaultPath("moved")); err != nil {
		t.Fatal(err)
	}
	listing("a.md")
	if _, err := os.Stat(m.Path("moved/b.md")); !os.IsNotExist(err) {
		t.Errorf("stat of a deleted note: %v", err)
	}
}

// An agent reads a note, a person edits it, the agent writes what it made of
// the text it had read. Both changes are in the result, wherever they lie.
func TestEditBetweenReadAndWrite(t *testing.T) {
	t.Parallel()
	persons := []struct{ where, old, text string }{
		{"far away", "Last words:", "Very last words:"},
		{"the next line", "A second line", "Another second line"},
		{"the same line", "boats turn too", "boats turn as well"},
		{"beside the word", "turns at six, and", "turns at six today, and"},
	}
	agents := []struct {
		name  string
		tools []string
		args  []string // reads note.md, prints a line, waits for one, writes
	}{
		{"Python", []string{"python3"}, []string{"python3", "-c", `
import sys
text = open('note.md').read()
print('read', flush=True); sys.stdin.readline()
open('note.md', 'w').write(text.replace('six', 'seven'))`}},
		{"Node promises", []string{"node"}, []string{"node", "-e", `
const fs = require('fs/promises')
fs.readFile('note.md', 'utf8').then(text => {
  console.log('read')
  process.stdin.once('data', () => fs.writeFile('note.md', text.replace('six', 'seven')).then(() => process.exit()))
})`}},
		{"rename over", []string{"python3"}, []string{"python3", "-c", `
import os, sys
text = open('note.md').read()
print('read', flush=True); sys.stdin.readline()
open('note.md.tmp.7.abc', 'w').write(text.replace('six', 'seven'))
os.rename('note.md.tmp.7.abc', 'note.md')`}},
	}
	s := harness.NewSandbox(t)
	files := make(map[string]string)
	for i := range agents {
		for j := range persons {
			for _, pace := range []string{"seen", "raced"} {
				files[fmt.Sprintf("%d/%d/%s/note.md", i, j, pace)] = harness.TideTable
			}
		}
	}
	m := s.Mount(t, s.Vault(t, "Vault", files))
	for i, agent := range agents {
		for j, person := range persons {
			for _, pace := range []string{"seen", "raced"} {
				t.Run(agent.name+"/"+person.where+"/"+pace, func(t *testing.T) {
					t.Parallel()
					need.Programs(t, agent.tools...)
					name := fmt.Sprintf("%d/%d/%s/note.md", i, j, pace)
					persons := strings.Replace(harness.TideTable, person.old, person.text, 1)
					writer := startWaitingWriter(t, filepath.Dir(m.Path(name)), agent.args)
					harness.WriteFile(t, m.VaultPath(name), persons)
					if pace == "seen" {
						harness.FileBecomes(t, m.Path(name), persons)
					}
					writer.finish(t)
					checkMerged(t, m, name, persons, strings.Replace(persons, "six", "seven", 1))
				})
			}
		}
	}
}

// A person's save in place is seen half done: emptied, and a moment later
// written. A program that had read the note before still changes only its words.
func TestWriteAfterATornSave(t *testing.T) {
	t.Parallel()
	need.Programs(t, "python3")
	s := harness.NewSandbox(t)
	m := s.Mount(t, s.Vault(t, "Vault", map[string]string{"note.md": harness.TideTable, "other.md": "other\n"}))
	writer := startWaitingWriter(t, m.Path(""), []string{"python3", "-c", `
import sys
text = open('note.md').read()
print('read', flush=True); sys.stdin.readline()
open('note.md', 'w').write(text.replace('six', 'seven'))`})
	if err := os.Truncate(m.VaultPath("note.md"), 0); err != nil {
		t.Fatal(err)
	}
	// By the time a later change is shown, the empty file has been noticed,
	// whether or not it was believed.
	harness.WriteFile(t, m.VaultPath("other.md"), "changed\n")
	harness.FileBecomes(t, m.Path("other.md"), "changed\n")
	persons := strings.Replace(harness.TideTable, "at six, and", "at six today, and", 1)
	harness.WriteFile(t, m.VaultPath("note.md"), persons)
	harness.FileBecomes(t, m.Path("note.md"), persons)
	writer.finish(t)
	checkMerged(t, m, "note.md", persons, strings.Replace(persons, "six", "seven", 1))
}

// checkMerged is checkSuggested for a write that met another: its result is in
// the vault at once, but not what the writer wrote, so the mount's cache has to
// be told.
func checkMerged(t *testing.T, m *harness.Mount, name, before, after string) {
	t.Helper()
	harness.FileBecomes(t, m.Path(name), after)
	m.CheckSuggested(t, name, before, after)
}

// waitingWriter is a program that has read a note and waits to be told to write.
type waitingWriter struct {
	cmd *exec.Cmd
	in  io.WriteCloser
}

func startWaitingWriter(t *testing.T, dir string, args []string) *waitingWriter {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), args[0], args[1:]...)
	cmd.Dir = dir
	cmd.Stderr = os.Stderr
	in, out := harness.StartPiped(t, cmd)
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatalf("%s: %q, %v", args[0], line, err)
	}
	return &waitingWriter{cmd, in}
}

func (w *waitingWriter) finish(t *testing.T) {
	t.Helper()
	if _, err := io.WriteString(w.in, "go\n"); err != nil {
		t.Fatal(err)
	}
	if err := w.cmd.Wait(); err != nil {
		t.Fatal(err)
	}
}

// A long-lived program reads, a person edits, the program reads again and
// writes: its base is what it read last, and no word of the person comes twice.
func TestWriterThatReadTwice(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	m := s.Mount(t, s.Vault(t, "Vault", map[string]string{"note.md": harness.TideTable}))
	harness.ReadFile(t, m.Path("note.md"))
	persons := strings.Replace(harness.TideTable, "Last words:", "A person's line.\nLast words:", 1)
	harness.WriteFile(t, m.VaultPath("note.md"), persons)
	harness.FileBecomes(t, m.Path("note.md"), persons)
	after := strings.Replace(persons, "six", "seven", 1)
	harness.WriteFile(t, m.Path("note.md"), after)
	m.CheckSuggested(t, "note.md", persons, after)
}

// A person accepts and rejects by editing the marks, as Obsidian does.
func TestPersonReviewsInTheFile(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	m := s.Mount(t, s.Vault(t, "Vault", map[string]string{"note.md": harness.TideTable}))
	after := strings.NewReplacer("six", "seven", "quiet", "loud").Replace(harness.TideTable)
	harness.WriteFile(t, m.Path("note.md"), after)
	raw := harness.ReadFile(t, m.VaultPath("note.md"))
	reviewed := strings.NewReplacer("{--six--}", "", "{++seven++}", "seven", "{--quiet--}", "quiet", "{++loud++}", "").Replace(raw)
	want := strings.Replace(harness.TideTable, "six", "seven", 1)
	if reviewed != want {
		t.Fatalf("marks are not one word each:\n%s", raw)
	}
	harness.WriteFile(t, m.VaultPath("note.md"), reviewed)
	harness.FileBecomes(t, m.Path("note.md"), want)
	if pending := s.Suggestions(t, m.Vault); len(pending) != 0 {
		t.Errorf("pending after review: %v", pending)
	}
	if raw := harness.ReadFile(t, m.VaultPath("note.md")); raw != diffwrap.Everything.Accepted(raw) {
		t.Errorf("marks after review: %q", raw)
	}
}
