package save

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/relayfs/relayfs/tests/internal/harness"
	"github.com/relayfs/relayfs/tests/need"
)

// oddNotes are texts that careless programs do not give back as they were.
var oddNotes = map[string]string{
	"plain":            harness.TideTable,
	"CRLF":             strings.ReplaceAll(harness.TideTable, "\n", "\r\n"),
	"mixed line ends":  "one\r\ntwo\nthree\r\n",
	"byte order mark":  "\ufeff" + harness.TideTable,
	"no final newline": strings.TrimSuffix(harness.TideTable, "\n"),
	"empty":            "",
	"only newlines":    "\n\n\n",
	"front matter":     "---\ntags:   [a,  b]\nkey: 'value'   # why\n---\n" + harness.TideTable,
	"suggestions":      "a {--b--}{++c++} d {>>why<<} {==e==}\n",
	"large":            strings.Repeat(harness.TideTable, 2000),
}

// rewriters give a note back as they read it.
var rewriters = []saver{
	{"shell", nil, harness.Shell(`cat note.md > copy.tmp && cat copy.tmp > note.md && rm copy.tmp`)},
	{"cp", nil, harness.Shell(`cp note.md copy.tmp && cp copy.tmp note.md && rm copy.tmp`)},
	{"mv", nil, harness.Shell(`cp note.md copy.tmp && mv copy.tmp note.md`)},
	{"sed", nil, harness.Shell(`sed -i 's/no such text/x/' note.md`)},
	{"vim", []string{"vim"}, vim("set nofixeol", "w!")},
	{"Python", []string{"python3"}, python("text = open('note.md', 'rb').read()\nopen('note.md', 'wb').write(text)")},
	{"Node", []string{"node"}, node("fs.writeFileSync('note.md', fs.readFileSync('note.md'))")},
	{"touch", nil, harness.Shell(`touch note.md`)},
	{"append nothing", nil, harness.Shell(`: >> note.md`)},
}

// Writing a note back unchanged makes no suggestion and does not touch the
// vault's file, not even its times.
func TestUnchangedWriteBack(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	files := make(map[string]string)
	for _, r := range rewriters {
		for kind, text := range oddNotes {
			files[filepath.Join(r.name, kind, "note.md")] = text
		}
	}
	m := s.Mount(t, s.Vault(t, "Vault", files))
	t.Run("rewriters", func(t *testing.T) {
		for _, r := range rewriters {
			t.Run(r.name, func(t *testing.T) {
				t.Parallel()
				need.Programs(t, r.tools...)
				for kind, text := range oddNotes {
					t.Run(kind, func(t *testing.T) { rewrite(t, m, r, filepath.Join(r.name, kind), text) })
				}
			})
		}
	})
	pending := s.Suggestions(t, m.Vault)
	for _, sg := range pending {
		if filepath.Base(filepath.Dir(sg.Path)) != "suggestions" {
			t.Errorf("unexpected suggestion: %+v", sg)
		}
	}
	if len(pending) != len(rewriters) {
		t.Errorf("%d suggestions are pending, want the %d that were there", len(pending), len(rewriters))
	}
}

// rewrite has a program give back the note of a folder, in which the vault has text.
func rewrite(t *testing.T, m *harness.Mount, r saver, folder, text string) {
	shown := harness.ReadFile(t, m.Path(folder+"/note.md"))
	before := statFile(t, m.VaultPath(folder+"/note.md"))
	r.save(t, m.Path(folder))
	harness.CheckText(t, "mount's text", harness.ReadFile(t, m.Path(folder+"/note.md")), shown)
	harness.CheckText(t, "vault's text", harness.ReadFile(t, m.VaultPath(folder+"/note.md")), text)
	if after := statFile(t, m.VaultPath(folder+"/note.md")); after != before {
		t.Errorf("vault's file was %+v, is %+v", before, after)
	}
}

// A read-only tour leaves no trace in the vault.
func TestReadingChangesNothing(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	m := s.Mount(t, s.SampleVault(t))
	before := make(map[string]fileState)
	names := harness.ListFiles(t, m.Vault)
	for _, name := range names {
		before[name] = statFile(t, m.VaultPath(name))
	}
	harness.Shell(`find . -type f -exec cat {} + > /dev/null && grep -r garden . > /dev/null`)(t, m.Dir)
	m.Stop(t)
	for _, name := range harness.ListFiles(t, m.Vault) {
		if after := statFile(t, m.VaultPath(name)); after != before[name] {
			t.Errorf("%s was %+v, is %+v", name, before[name], after)
		}
	}
}

// fileState is what changes when somebody writes a file.
type fileState struct {
	Inode       uint64
	MTime, Size int64 // ns, bytes
	Mode        os.FileMode
}

func statFile(t *testing.T, name string) fileState {
	t.Helper()
	info, err := os.Stat(name)
	if err != nil {
		t.Fatal(err)
	}
	return fileState{info.Sys().(*syscall.Stat_t).Ino, info.ModTime().UnixNano(), info.Size(), info.Mode()}
}
