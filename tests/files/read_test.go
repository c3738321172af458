package files

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/relayfs/relayfs/tests/internal/harness"
	"github.com/relayfs/relayfs/tests/need"
)

// readers are commands whose output on the mount equals that on the vault.
var readers = []struct {
	name  string
	tools []string
	args  []string
}{
	{"rg", []string{"rg"}, []string{"rg", "--no-config", "--sort", "path", "-n", "lantern"}},
	{"rg, as Claude Code's Grep", []string{"rg"}, []string{"rg", "--no-config", "--hidden", "--no-follow", "--glob", "!.git", "--sort", "path", "-c", "-i", "HARBOUR", "."}},
	{"rg, as Claude Code's Glob", []string{"rg"}, []string{"rg", "--no-config", "--files", "--glob", "*灯台*", "--sort", "path", "--no-ignore", "--hidden", "."}},
	{"grep -r", nil, []string{"sh", "-c", "grep -rc 'willow' . | LC_ALL=C sort"}},
	{"find", nil, []string{"sh", "-c", "find . -name '*.md' | LC_ALL=C sort"}},
	{"find by type and size", nil, []string{"sh", "-c", "find . -type f -size +1k -printf '%p %s\\n' | LC_ALL=C sort"}},
	{"cat", nil, []string{"sh", "-c", "find . -name '*.md' -print0 | LC_ALL=C sort -z | xargs -0 cat | cksum"}},
	{"wc and tail", nil, []string{"sh", "-c", "find . -name '*.md' -print0 | LC_ALL=C sort -z | xargs -0 wc -lw; tail -c 40 'Area 0/Topic 0/Note 0.md'"}},
	{"ls", nil, []string{"sh", "-c", "LC_ALL=C ls -R"}},
	{"diff", nil, []string{"diff", "-r", "Area 1", "Area 2"}},
}

func TestReads(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	m := s.Mount(t, s.Vault(t, "Vault", harness.GeneratedVault(1200)))
	for _, r := range readers {
		t.Run(r.name, func(t *testing.T) {
			need.Programs(t, r.tools...)
			want := harness.OutputIn(t, m.Vault, r.args)
			if want.Stdout == "" {
				t.Fatal("the command prints nothing on the vault")
			}
			if got := harness.OutputIn(t, m.Path(""), r.args); got != want {
				t.Errorf("exit %d, stderr %q; on the vault exit %d, stderr %q", got.Code, got.Stderr, want.Code, want.Stderr)
				harness.CheckText(t, "output", got.Stdout, want.Stdout)
			}
		})
	}
}

// The sample vault is served byte for byte, attachments too; dot directories
// are not served.
func TestSampleVaultIsServedByteForByte(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	m := s.Mount(t, s.SampleVault(t), "--view", "raw")
	names := harness.ListFiles(t, m.Vault)
	if len(names) < 30 {
		t.Fatalf("the sample vault has %d files", len(names))
	}
	for _, name := range names {
		if !strings.HasSuffix(name, "/") {
			harness.CheckText(t, name, harness.ReadFile(t, m.Path(name)), harness.ReadFile(t, m.VaultPath(name)))
		}
	}
	if got := harness.ListFiles(t, m.Path("")); strings.Join(got, "\n") != strings.Join(names, "\n") {
		t.Errorf("mount lists %q, want %q", got, names)
	}
	if _, err := os.Stat(m.Path(".obsidian/app.json")); err == nil {
		t.Error(".obsidian/app.json is served")
	}
}

// The three views of a note that people have marked.
func TestViews(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	const raw = "The {--coffee--}{++tea urn++} stands.{>>Agreed.<<}\n"
	vault := s.Vault(t, "Vault", map[string]string{"note.md": raw})
	for view, want := range map[string][2]string{
		"accepted": {"The tea urn stands.", "coffee"},
		"original": {"The coffee stands.", "tea urn"},
		"raw":      {raw, "no such text"},
	} {
		t.Run(view, func(t *testing.T) {
			m := s.Mount(t, vault, "--view", view)
			got := harness.ReadFile(t, m.Path("note.md"))
			if !strings.Contains(got, want[0]) || strings.Contains(got, want[1]) {
				t.Errorf("%s view is %q", view, got)
			}
			m.Stop(t)
		})
	}
}

// Many readers at once get whole notes while somebody writes them.
func TestReadersSeeWholeNotes(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	text := func(i int) string { return strings.Repeat(fmt.Sprintf("line of round %03d\n", i), 600) }
	m := s.Mount(t, s.Vault(t, "Vault", map[string]string{"note.md": text(0)}), "--mode", "direct")
	done := make(chan error, 4)
	stop := make(chan struct{})
	for range cap(done) {
		go func() { done <- readWhole(m.Path("note.md"), stop) }()
	}
	for i := range 40 {
		if err := harness.WriteAll(m.Path("note.tmp"), []byte(text(i))); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(m.Path("note.tmp"), m.Path("note.md")); err != nil {
			t.Fatal(err)
		}
	}
	close(stop)
	for range cap(done) {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	harness.CheckText(t, filepath.Base(m.Dir), harness.ReadFile(t, m.Path("note.md")), text(39))
}

// readWhole reads name until stop is closed; every read must be one round's text.
func readWhole(name string, stop <-chan struct{}) error {
	for {
		select {
		case <-stop:
			return nil
		default:
		}
		f, err := os.Open(name)
		if err != nil {
			return err
		}
		b, err := io.ReadAll(f)
		f.Close()
		if err != nil {
			return err
		}
		lines := strings.SplitAfter(string(b), "\n")
		for _, line := range lines[:len(lines)-1] {
			if line != lines[0] {
				return fmt.Errorf("a read holds %q and %q", lines[0], line)
			}
		}
		if len(lines) != 601 {
			return fmt.Errorf("a read holds %d lines, want 600", len(lines)-1)
		}
	}
}
