package tests

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/relayfs/relayfs/diffwrap"
)

// A new note becomes a file of the vault; its front matter is plain, its body
// an addition that waits for review.
func TestNewNotes(t *testing.T) {
	const matter = "---\ntags: [new]\n---\n"
	const body = "# New\n\nFirst paragraph.\n\nSecond paragraph.\n"
	makers := []saver{
		{"shell", nil, shell(`printf -- '` + strings.ReplaceAll(matter+body, "\n", `\n`) + `' > new.md`)},
		{"mkdir and write", nil, func(t *testing.T, dir string) {
			writeFile(t, filepath.Join(dir, "sub/deep/new.md"), matter+body)
		}},
		{"Claude Code", nil, func(t *testing.T, dir string) {
			temp := filepath.Join(dir, "new.md.tmp.4711.0123456789ab")
			if err := writeSynced(temp, matter+body, 0o666); err != nil {
				t.Fatal(err)
			}
			if err := os.Rename(temp, filepath.Join(dir, "new.md")); err != nil {
				t.Fatal(err)
			}
		}},
		{"vim", []string{"vim"}, func(t *testing.T, dir string) {
			source := filepath.Join(t.TempDir(), "text")
			writeFile(t, source, matter+body)
			program("", "vim", "-Nu", "NONE", "-i", "NONE", "-es", "-c", "set backupskip=", "-c", "call setline(1, readfile('"+source+"'))", "-c", "wq", "new.md")(t, dir)
		}},
		{"touch, then write", nil, func(t *testing.T, dir string) {
			shell(`touch new.md`)(t, dir)
			writeFile(t, filepath.Join(dir, "new.md"), matter+body)
		}},
	}
	s := newSandbox(t)
	files := map[string]string{"note.md": saveBefore}
	for i := range makers {
		files[fmt.Sprintf("%d/keep.md", i)] = "keep\n"
	}
	m := s.mount(t, s.vault(t, "Vault", files))
	for i, maker := range makers {
		t.Run(maker.name, func(t *testing.T) {
			requireTools(t, maker.tools...)
			folder := fmt.Sprint(i)
			maker.save(t, m.path(folder))
			names := listFiles(t, m.vaultPath(folder))
			at := slices.IndexFunc(names, func(name string) bool { return filepath.Base(name) == "new.md" })
			if at < 0 {
				t.Fatalf("no new note in the vault: %q", names)
			}
			if got, want := listFiles(t, m.path(folder)), names; !slices.Equal(got, want) {
				t.Errorf("mount holds %q, vault %q", got, want)
			}
			name := filepath.Join(folder, names[at])
			m.checkSuggested(t, name, matter+diffwrap.Original(strings.TrimPrefix(readFile(t, m.vaultPath(name)), matter)), matter+body)
			raw := strings.TrimPrefix(readFile(t, m.vaultPath(name)), matter)
			if rest := strings.TrimSpace(diffwrap.Original(raw)); rest != "" {
				t.Errorf("not an addition: %q", rest)
			}
		})
	}
}

// What is not a note stays on the mount, for the program that made it.
func TestScratchFilesStayOnTheMount(t *testing.T) {
	s := newSandbox(t)
	m := s.mount(t, s.vault(t, "Vault", map[string]string{"note.md": saveBefore}))
	names := []string{".note.md.swp", "note.md~", "4913", "#note.md#", "sedAbC123", "note.md.tmp.12.ab34", "note.md.lock", "tmpabcd1234", "note.md.orig"}
	for _, name := range names {
		if err := os.WriteFile(m.path(name), []byte("scratch"), 0o600); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		checkText(t, name, readFile(t, m.path(name)), "scratch")
	}
	if got, want := listFiles(t, m.vault), []string{"note.md"}; !slices.Equal(got, want) {
		t.Errorf("vault holds %q, want %q", got, want)
	}
	for _, name := range names {
		if err := os.Remove(m.path(name)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got, want := listFiles(t, m.path("")), []string{"note.md"}; !slices.Equal(got, want) {
		t.Errorf("mount holds %q, want %q", got, want)
	}
}

// Front matter never carries marks.
func TestFrontMatter(t *testing.T) {
	const before = "---\ntags: [a, b]\nstatus: open   # by hand\n---\n" + saveBefore
	s := newSandbox(t)
	vault := s.vault(t, "Vault", map[string]string{"note.md": before})

	m := s.mount(t, vault)
	after := strings.NewReplacer("open", "done", "six", "seven").Replace(before)
	writeFile(t, m.path("note.md"), after)
	m.checkSuggested(t, "note.md", strings.Replace(before, "open", "done", 1), after)
	if err := writeAll(m.path("note.md"), []byte(strings.Replace(after, "[a, b]", "[a, b", 1))); err == nil {
		t.Error("front matter that is not YAML was accepted")
	}
	checkText(t, "note after a refused write", readFile(t, m.path("note.md")), after)
	m.stop(t)

	refusing := s.mount(t, vault, "--frontmatter", "refuse")
	if err := writeAll(refusing.path("note.md"), []byte(strings.Replace(after, "done", "open", 1))); err == nil {
		t.Error("--frontmatter refuse let a change of front matter through")
	}
	checkText(t, "note after a refused write", readFile(t, refusing.path("note.md")), after)
}

// Suggestions carry the name of their writer, also after a restart.
func TestSuggestionsKeepTheirAuthors(t *testing.T) {
	s := newSandbox(t)
	vault := s.vault(t, "Vault", map[string]string{"note.md": saveBefore})
	m := s.mount(t, vault, "--author", "Ada")
	writeFile(t, m.path("note.md"), strings.Replace(saveBefore, "six", "seven", 1))
	client := s.mcp(t, "--author", "Bo", vault)
	client.mustCall(t, "read", "file_path", "Vault/note.md")
	client.mustCall(t, "edit", "file_path", "Vault/note.md", "old_string", "quiet", "new_string", "loud")
	check := func(when string, list []suggestion) {
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
	client.close(t)
	running := s.suggestions(t)
	check("running", running)
	m.stop(t)
	stopped := s.suggestions(t, vault)
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
	s := newSandbox(t)
	m := s.mount(t, s.vault(t, "Vault", map[string]string{"note.md": saveBefore, "image.png": "old"}), "--mode", "direct")
	after := strings.Replace(saveBefore, "six", "seven", 1)
	writeFile(t, m.path("note.md"), after)
	writeFile(t, m.path("image.png"), "new bytes \x00\xff")
	checkText(t, "vault's note", readFile(t, m.vaultPath("note.md")), after)
	checkText(t, "vault's image", readFile(t, m.vaultPath("image.png")), "new bytes \x00\xff")
}

// A new note goes, on the mount and in the vault, when all of it is rejected, and
// comes back when that is undone; a person's does not go.
func TestRejectedNewNote(t *testing.T) {
	s := newSandbox(t)
	vault := s.vault(t, "Vault", map[string]string{"hers.md": ""})
	m := s.mount(t, vault, "--author", "Ada")
	if err := os.MkdirAll(m.path("new/deep"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"hers.md", "new/deep/made.md", "new/deep/more.md"} {
		writeFile(t, m.path(name), saveBefore)
	}
	raw := readFile(t, m.vaultPath("new/deep/made.md"))
	decide := func(args ...string) {
		t.Helper()
		if out := s.run(t, append([]string{"suggestions"}, args...)...); out.code != 0 {
			t.Fatalf("suggestions %v: exit %d: %s", args, out.code, out.stderr)
		}
	}
	has := func(want ...string) {
		t.Helper()
		for _, dir := range []string{vault, m.path("")} {
			if got := listFiles(t, dir); !slices.Equal(got, want) {
				t.Errorf("%s has %q, want %q", dir, got, want)
			}
		}
	}
	decide("reject", "--all", "--yes")
	has("hers.md")
	decide("undo")
	has("hers.md", "new/", "new/deep/", "new/deep/made.md", "new/deep/more.md")
	checkText(t, "undone, on the mount", readFile(t, m.path("new/deep/made.md")), saveBefore)
	checkText(t, "undone, in the vault", readFile(t, m.vaultPath("new/deep/made.md")), raw)
	m.stop(t)
	decide("reject", "--all", "--yes", vault)
	if got := listFiles(t, vault); !slices.Equal(got, []string{"hers.md", "new/", "new/deep/"}) { // whose folders they are is known no longer
		t.Errorf("rejected without a mount: %q", got)
	}
	decide("undo", vault)
	checkText(t, "undone without a mount", readFile(t, m.vaultPath("new/deep/made.md")), raw)
}
