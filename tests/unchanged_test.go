package tests

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// oddNotes are texts that careless programs do not give back as they were.
var oddNotes = map[string]string{
	"plain":            saveBefore,
	"CRLF":             strings.ReplaceAll(saveBefore, "\n", "\r\n"),
	"mixed line ends":  "one\r\ntwo\nthree\r\n",
	"byte order mark":  "\ufeff" + saveBefore,
	"no final newline": strings.TrimSuffix(saveBefore, "\n"),
	"empty":            "",
	"only newlines":    "\n\n\n",
	"front matter":     "---\ntags:   [a,  b]\nkey: 'value'   # why\n---\n" + saveBefore,
	"suggestions":      "a {--b--}{++c++} d {>>why<<} {==e==}\n",
	"large":            strings.Repeat(saveBefore, 2000),
}

// rewriters give a note back as they read it.
var rewriters = []saver{
	{"shell", nil, shell(`cat note.md > copy.tmp && cat copy.tmp > note.md && rm copy.tmp`)},
	{"cp", nil, shell(`cp note.md copy.tmp && cp copy.tmp note.md && rm copy.tmp`)},
	{"mv", nil, shell(`cp note.md copy.tmp && mv copy.tmp note.md`)},
	{"sed", nil, shell(`sed -i 's/no such text/x/' note.md`)},
	{"vim", []string{"vim"}, vim("set nofixeol", "w!")},
	{"Python", []string{"python3"}, python("text = open('note.md', 'rb').read()\nopen('note.md', 'wb').write(text)")},
	{"Node", []string{"node"}, node("fs.writeFileSync('note.md', fs.readFileSync('note.md'))")},
	{"touch", nil, shell(`touch note.md`)},
	{"append nothing", nil, shell(`: >> note.md`)},
}

// Writing a note back unchanged makes no suggestion and does not touch the
// vault's file, not even its times.
func TestUnchangedWriteBack(t *testing.T) {
	s := newSandbox(t)
	files := make(map[string]string)
	for _, r := range rewriters {
		for kind, text := range oddNotes {
			files[filepath.Join(r.name, kind, "note.md")] = text
		}
	}
	m := s.mount(t, s.vault(t, "Vault", files))
	for _, r := range rewriters {
		for kind, text := range oddNotes {
			t.Run(r.name+"/"+kind, func(t *testing.T) {
				requireTools(t, r.tools...)
				folder := filepath.Join(r.name, kind)
				shown := readFile(t, m.path(folder+"/note.md"))
				before := statFile(t, m.vaultPath(folder+"/note.md"))
				r.save(t, m.path(folder))
				checkText(t, "mount's text", readFile(t, m.path(folder+"/note.md")), shown)
				checkText(t, "vault's text", readFile(t, m.vaultPath(folder+"/note.md")), text)
				if after := statFile(t, m.vaultPath(folder+"/note.md")); after != before {
					t.Errorf("vault's file was %+v, is %+v", before, after)
				}
			})
		}
	}
	pending := s.suggestions(t, m.vault)
	for _, sg := range pending {
		if filepath.Base(filepath.Dir(sg.Path)) != "suggestions" {
			t.Errorf("unexpected suggestion: %+v", sg)
		}
	}
	if len(pending) != len(rewriters) {
		t.Errorf("%d suggestions are pending, want the %d that were there", len(pending), len(rewriters))
	}
}

// A read-only tour leaves no trace in the vault.
func TestReadingChangesNothing(t *testing.T) {
	s := newSandbox(t)
	m := s.mount(t, s.sampleVault(t))
	before := make(map[string]fileState)
	names := listFiles(t, m.vault)
	for _, name := range names {
		before[name] = statFile(t, m.vaultPath(name))
	}
	shell(`find . -type f -exec cat {} + > /dev/null && grep -r garden . > /dev/null`)(t, m.dir)
	m.stop(t)
	for _, name := range listFiles(t, m.vault) {
		if after := statFile(t, m.vaultPath(name)); after != before[name] {
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
