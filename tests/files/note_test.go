package files

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/relayfs/relayfs/diffwrap"
	"github.com/relayfs/relayfs/tests/internal/harness"
	"github.com/relayfs/relayfs/tests/need"
)

// A new note becomes a file of the vault; its front matter is plain, its body
// an addition that waits for review.
func TestNewNotes(t *testing.T) {
	t.Parallel()
	const matter = "---\ntags: [new]\n---\n"
	const body = "# New\n\nFirst paragraph.\n\nSecond paragraph.\n"
	makers := []struct {
		name  string
		tools []string
		make  func(t *testing.T, dir string)
	}{
		{"shell", nil, harness.Shell(`printf -- '` + strings.ReplaceAll(matter+body, "\n", `\n`) + `' > new.md`)},
		{"mkdir and write", nil, func(t *testing.T, dir string) {
			harness.WriteFile(t, filepath.Join(dir, "sub/deep/new.md"), matter+body)
		}},
		{"Claude Code", nil, func(t *testing.T, dir string) {
			temp := filepath.Join(dir, "new.md.tmp.4711.0123456789ab")
			if err := harness.WriteSynced(temp, matter+body, 0o666); err != nil {
				t.Fatal(err)
			}
			if err := os.Rename(temp, filepath.Join(dir, "new.md")); err != nil {
				t.Fatal(err)
			}
		}},
		{"vim", []string{"vim"}, func(t *testing.T, dir string) {
			source := filepath.Join(t.TempDir(), "text")
			harness.WriteFile(t, source, matter+body)
			harness.Program("", "vim", "-Nu", "NONE", "-i", "NONE", "-es", "-c", "set backupskip=", "-c", "call setline(1, readfile('"+source+"'))", "-c", "wq", "new.md")(t, dir)
		}},
		{"touch, then write", nil, func(t *testing.T, dir string) {
			harness.Shell(`touch new.md`)(t, dir)
			harness.WriteFile(t, filepath.Join(dir, "new.md"), matter+body)
		}},
	}
	s := harness.NewSandbox(t)
	files := map[string]string{"note.md": harness.TideTable}
	for i := range makers {
		files[fmt.Sprintf("%d/keep.md", i)] = "keep\n"
	}
	m := s.Mount(t, s.Vault(t, "Vault", files))
	for i, maker := range makers {
		t.Run(maker.name, func(t *testing.T) {
			need.Programs(t, maker.tools...)
			folder := fmt.Sprint(i)
			maker.make(t, m.Path(folder))
			names := harness.ListFiles(t, m.VaultPath(folder))
			at := slices.IndexFunc(names, func(name string) bool { return filepath.Base(name) == "new.md" })
			if at < 0 {
				t.Fatalf("no new note in the vault: %q", names)
			}
			if got, want := harness.ListFiles(t, m.Path(folder)), names; !slices.Equal(got, want) {
				t.Errorf("mount holds %q, vault %q", got, want)
			}
			name := filepath.Join(folder, names[at])
			m.CheckSuggested(t, name, matter+diffwrap.Everything.Original(strings.TrimPrefix(harness.ReadFile(t, m.VaultPath(name)), matter)), matter+body)
			raw := strings.TrimPrefix(harness.ReadFile(t, m.VaultPath(name)), matter)
			if rest := strings.TrimSpace(diffwrap.Everything.Original(raw)); rest != "" {
				t.Errorf("not an addition: %q", rest)
			}
		})
	}
}

// What is not a note stays on the mount, for the program that made it.
func TestScratchFilesStayOnTheMount(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	m := s.Mount(t, s.Vault(t, "Vault", map[string]string{"note.md": harness.TideTable}))
	names := []string{".note.md.swp", "note.md~", "4913", "#note.md#", "sedAbC123", "note.md.tmp.12.ab34", "note.md.lock", "tmpabcd1234", "note.md.orig"}
	for _, name := range names {
		if err := harness.WriteAll(m.Path(name), []byte("scratch")); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		harness.CheckText(t, name, harness.ReadFile(t, m.Path(name)), "scratch")
	}
	if got, want := harness.ListFiles(t, m.Vault), []string{"note.md"}; !slices.Equal(got, want) {
		t.Errorf("vault holds %q, want %q", got, want)
	}
	for _, name := range names {
		if err := os.Remove(m.Path(name)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got, want := harness.ListFiles(t, m.Path("")), []string{"note.md"}; !slices.Equal(got, want) {
		t.Errorf("mount holds %q, want %q", got, want)
	}
}

// Front matter never carries marks.
func TestFrontMatter(t *testing.T) {
	t.Parallel()
	const before = "---\ntags: [a, b]\nstatus: open   # by hand\n---\n" + harness.TideTable
	s := harness.NewSandbox(t)
	vault := s.Vault(t, "Vault", map[string]string{"note.md": before})

	m := s.Mount(t, vault)
	after := strings.NewReplacer("open", "done", "six", "seven").Replace(before)
	harness.WriteFile(t, m.Path("note.md"), after)
	m.CheckSuggested(t, "note.md", strings.Replace(before, "open", "done", 1), after)
	if err := harness.WriteAll(m.Path("note.md"), []byte(strings.Replace(after, "[a, b]", "[a, b", 1))); err == nil {
		t.Error("front matter that is not YAML was accepted")
	}
	harness.CheckText(t, "note after a refused write", harness.ReadFile(t, m.Path("note.md")), after)
	m.Stop(t)

	refusing := s.Mount(t, vault, "RELAYFS_FRONTMATTER=refuse")
	if err := harness.WriteAll(refusing.Path("note.md"), []byte(strings.Replace(after, "done", "open", 1))); err == nil {
		t.Error("--frontmatter refuse let a change of front matter through")
	}
	harness.CheckText(t, "note after a refused write", harness.ReadFile(t, refusing.Path("note.md")), after)
}

// Suggestions carry the name of their writer, also after a restart.
func TestSuggestionsKeepTheirAuthors(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	vault := s.Vault(t, "Vault", map[string]string{"note.md": harness.TideTable})
	m := s.Mount(t, vault, "--author", "Ada")
	harness.WriteFile(t, m.Path("note.md"), strings.Replace(harness.TideTable, "six", "seven", 1))
	client := s.MCP(t, "--author", "Bo", vault)
	client.MustCall(t, "read", "file_path", "Vault/note.md")
	client.MustCall(t, "edit", "file_path", "Vault/note.md", "old_string", "quiet", "new_string", "loud")
	check := func(when string, list []harness.Suggestion) {
		t.Helper()
		var got []string
		for _, sg := range list {
			got = append(got, fmt.Sprintf("%d %s %s>%s %s", sg.Line, sg.Kind, sg.Old, sg.New, sg.Author))
		}
		want := []string{"3 replacement six>seven Ada", "9 replacement quiet>loud Bo"}
		if !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", when, got, want)
		}
	}
	client.Close(t)
	running := s.Suggestions(t)
	check("running", running)
	m.Stop(t)
	stopped := s.Suggestions(t, vault)
	check("stopped", stopped)
	if len(running) == len(stopped) {
		for i := range running {
			if running[i].ID != stopped[i].ID || running[i].Time != stopped[i].Time {
				t.Errorf("suggestion changed over the restart: %+v, %+v", running[i], stopped[i])
			}
		}
	}
}

// Direct mode changes notes without marks.
func TestDirectMode(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	m := s.Mount(t, s.Vault(t, "Vault", map[string]string{"note.md": harness.TideTable, "image.png": "old"}), "--mode", "direct")
	after := strings.Replace(harness.TideTable, "six", "seven", 1)
	harness.WriteFile(t, m.Path("note.md"), after)
	harness.WriteFile(t, m.Path("image.png"), "new bytes \x00\xff")
	harness.CheckText(t, "vault's note", harness.ReadFile(t, m.VaultPath("note.md")), after)
	harness.CheckText(t, "vault's image", harness.ReadFile(t, m.VaultPath("image.png")), "new bytes \x00\xff")
}

// A file that a program has written is shown as the user's older version when the user copies that back (cp -p).
func TestAnOlderFileIsCopiedBack(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	m := s.Mount(t, s.Vault(t, "Vault", map[string]string{"image.png": "old and long"}), "--mode", "direct")
	harness.WriteFile(t, m.Path("image.png"), "new")
	harness.CheckText(t, "the new image", harness.ReadFile(t, m.Path("image.png")), "new")
	copied := s.Path("copied")
	harness.WriteFile(t, copied, "old and long")
	older := time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
	if err := errors.Join(os.Chtimes(copied, older, older), os.Rename(copied, m.VaultPath("image.png"))); err != nil {
		t.Fatal(err)
	}
	harness.Eventually(t, harness.StartTimeout, func() error {
		info, err := os.Stat(m.Path("image.png"))
		if text := harness.ReadFile(t, m.Path("image.png")); err == nil && (text != "old and long" || !info.ModTime().Equal(older)) {
			err = fmt.Errorf("the image is %q of %v", text, info.ModTime())
		}
		return err
	})
}

// A new note goes, on the mount and in the vault, when all of it is rejected, and
// comes back when that is undone; a person's does not go.
func TestRejectedNewNote(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	vault := s.Vault(t, "Vault", map[string]string{"hers.md": ""})
	m := s.Mount(t, vault, "--author", "Ada")
	if err := os.MkdirAll(m.Path("new/deep"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"hers.md", "new/deep/made.md", "new/deep/more.md"} {
		harness.WriteFile(t, m.Path(name), harness.TideTable)
	}
	raw := harness.ReadFile(t, m.VaultPath("new/deep/made.md"))
	decide := func(args ...string) {
		t.Helper()
		if out := s.Run(t, append([]string{"suggestions"}, args...)...); out.Code != 0 {
			t.Fatalf("suggestions %v: exit %d: %s", args, out.Code, out.Stderr)
		}
	}
	has := func(want ...string) {
		t.Helper()
		for _, dir := range []string{vault, m.Path("")} {
			if got := harness.ListFiles(t, dir); !slices.Equal(got, want) {
				t.Errorf("%s has %q, want %q", dir, got, want)
			}
		}
	}
	decide("reject", "--all", "--yes")
	has("hers.md")
	decide("undo")
	has("hers.md", "new/", "new/deep/", "new/deep/made.md", "new/deep/more.md")
	harness.CheckText(t, "undone, on the mount", harness.ReadFile(t, m.Path("new/deep/made.md")), harness.TideTable)
	harness.CheckText(t, "undone, in the vault", harness.ReadFile(t, m.VaultPath("new/deep/made.md")), raw)
	m.Stop(t)
	decide("reject", "--all", "--yes", vault)
	if got := harness.ListFiles(t, vault); !slices.Equal(got, []string{"hers.md"}) {
		t.Errorf("rejected without a mount: %q", got)
	}
	decide("undo", vault)
	harness.CheckText(t, "undone without a mount", harness.ReadFile(t, m.VaultPath("new/deep/made.md")), raw)
}
