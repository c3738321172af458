package servers

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/relayfs/relayfs/tests/internal/harness"
)

// raw enters something in the folder's document that relayfs does not show.
func (p *yjsPerson) raw(key string, meta map[string]any) {
	p.t.Helper()
	p.do("raw", map[string]any{"map": "filemeta_v0", "key": "/" + key, "value": meta})
}

// has fails the test unless the folder's document lists all of these.
func (p *yjsPerson) has(paths ...string) {
	p.t.Helper()
	var list []struct{ Path string }
	p.do("list", nil, &list)
	for _, want := range paths {
		if !slices.ContainsFunc(list, func(e struct{ Path string }) bool { return e.Path == want }) {
			p.t.Errorf("the server's folder has lost %s: %v", want, list)
		}
	}
}

func board() map[string]any { return map[string]any{"id": "b0a4d", "type": "canvas", "version": 0} }

// hiddenEntries are what a server's folder may hold in a folder and relayfs does not
// show.
var hiddenEntries = map[string]map[string]any{
	"board.canvas": board(),
	"Newer.md":     {"id": "5e3e4", "type": "markdown", "version": 1},
	"strange.xyz":  {"id": "57a3e", "type": "strange", "version": 0},
	"pic.png":      {"id": "91c", "type": "image", "version": 0, "hash": strings.Repeat("ab", 32), "mimetype": "image/png", "synctime": 1.7e12},
}

// A server's folder that only looks empty is not removed, in neither mode, and names
// that only look free are not taken.
func TestServerFolderThatLooksEmpty(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"suggest", "direct"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			g := anyServer(t)
			p := g.person(t)
			p.do("create", map[string]any{"path": "Plan.md", "text": "the plan\n"})
			var keys []string
			for name, meta := range hiddenEntries {
				dir := "with " + name
				p.do("create", map[string]any{"path": dir + "/Note.md", "text": "note\n"})
				p.raw(dir+"/deep/"+name, meta)
				p.raw(dir+"/"+name, meta)
				keys = append(keys, dir+"/"+name, dir+"/deep/"+name)
			}
			s := harness.NewSandbox(t)
			structure := map[string]string{"suggest": "propose", "direct": "direct"}[mode]
			m := s.MountAt(t, g.url+"#Team="+g.folder, s.Mkdir(t, "mnt"), "--mode", mode, "--structure", structure)
			for name := range hiddenEntries {
				dir := filepath.Join(m.Dir, "Team", "with "+name)
				harness.FileBecomes(t, filepath.Join(dir, "Note.md"), "note\n")
				if err := os.Remove(filepath.Join(dir, "Note.md")); err != nil {
					t.Fatal(err)
				}
				_ = os.Remove(filepath.Join(dir, "deep"))
				if err := os.Remove(dir); !errors.Is(err, syscall.ENOTEMPTY) {
					t.Errorf("rmdir of a folder with %s: %v, want ENOTEMPTY", name, err)
				}
			}
			newer := filepath.Join(m.Dir, "Team", "with Newer.md", "Newer.md")
			if err := os.Rename(filepath.Join(m.Dir, "Team", "Plan.md"), newer); !errors.Is(err, syscall.EEXIST) {
				t.Errorf("rename to a name that only looks free: %v, want EEXIST", err)
			}
			if mode == "suggest" {
				_ = s.Run(t, "suggestions", "accept", "--all", "--yes")
			}
			awaitAcknowledged(t, s)
			p.has(append(keys, "Plan.md")...)
		})
	}
}

// What comes into a folder that is proposed to be deleted stays, and the decision
// says what it is. What was deleted comes back.
func TestServerFolderFillsBeforeItGoes(t *testing.T) {
	t.Parallel()
	g := anyServer(t)
	p := g.person(t)
	for _, dir := range []string{"late", "gone"} {
		p.raw(dir, map[string]any{"id": dir, "type": "folder", "version": 0})
		p.do("create", map[string]any{"path": dir + "/Note.md", "text": "note of " + dir + "\n"})
	}
	s := harness.NewSandbox(t)
	m := s.MountAt(t, g.url+"#Team="+g.folder, s.Mkdir(t, "mnt"))
	for _, dir := range []string{"late", "gone"} {
		harness.FileBecomes(t, filepath.Join(m.Dir, "Team", dir, "Note.md"), "note of "+dir+"\n")
		if err := os.RemoveAll(filepath.Join(m.Dir, "Team", dir)); err != nil {
			t.Fatal(err)
		}
	}
	p.raw("late/board.canvas", board())
	p.do("create", map[string]any{"path": "Then.md", "text": "then\n"})
	harness.FileBecomes(t, filepath.Join(m.Dir, "Team", "Then.md"), "then\n")
	out := s.DecideOn(t, 1, "accept", "--all", "--yes")
	if !strings.Contains(out.Stderr, "board.canvas") || !strings.Contains(out.Stderr, "not empty") {
		t.Errorf("the decision says %q", out.Stderr)
	}
	p.has("late", "late/board.canvas")
	p.do("gone", map[string]any{"path": "gone"})
	s.DecideOn(t, 0, "undo")
	s.DecideOn(t, 0, "reject", "--all", "--yes")
	p.do("has", map[string]any{"path": "gone"})
	harness.FileBecomes(t, filepath.Join(m.Dir, "Team", "gone", "Note.md"), "note of gone\n")
}

// A vault's folder that holds what is hidden is not removed either.
func TestVaultFolderThatLooksEmpty(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	vault := s.Vault(t, "Vault", map[string]string{
		"Plan.md": "the plan\n", "dir/Note.md": "note\n", "dir/.obsidian/app.json": "{}\n", "repo/.git/config": "[core]\n", "late/Note.md": "note\n",
	})
	if err := os.Symlink("/etc/passwd", filepath.Join(vault, "late", "link.md")); err != nil {
		t.Fatal(err)
	}
	m := s.Mount(t, vault)
	if err := os.Rename(m.Path("Plan.md"), m.Path("late/link.md")); !errors.Is(err, syscall.EEXIST) {
		t.Errorf("rename to a name that only looks free: %v, want EEXIST", err)
	}
	if err := os.Remove(filepath.Join(vault, "late", "link.md")); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(m.Path("dir/Note.md")); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"dir", "repo"} {
		if err := os.Remove(m.Path(dir)); !errors.Is(err, syscall.ENOTEMPTY) {
			t.Errorf("rmdir %s: %v, want ENOTEMPTY", dir, err)
		}
	}
	m.Log.Says(t, ".obsidian")
	client := s.MCP(t, vault)
	if got := client.Call(t, "delete", "file_path", "Vault/repo"); !got.IsError || !strings.Contains(got.Text, ".git") {
		t.Errorf("delete says %+v", got)
	}
	client.Close(t)
	if err := os.RemoveAll(m.Path("late")); err != nil {
		t.Fatal(err)
	}
	harness.WriteFile(t, filepath.Join(vault, "late", ".keep", "x"), "x")
	out := s.DecideOn(t, 1, "accept", "--all", "--yes", vault)
	if !strings.Contains(out.Stderr, ".keep") {
		t.Errorf("the decision says %q", out.Stderr)
	}
	for _, name := range []string{"dir/.obsidian/app.json", "repo/.git/config", "late/.keep/x"} {
		if _, err := os.Stat(filepath.Join(vault, name)); err != nil {
			t.Error(err)
		}
	}
}
