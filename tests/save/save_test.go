package save

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/relayfs/relayfs/tests/internal/harness"
	"github.com/relayfs/relayfs/tests/need"
)

// saver is one way in which a program saves a file. It finds note.md in dir,
// which is a folder of the mount or a plain one, and changes it.
type saver struct {
	name  string
	tools []string
	save  func(t *testing.T, dir string)
}

func python(script string) func(*testing.T, string) {
	return harness.Program("", "python3", "-c", script)
}

func node(script string) func(*testing.T, string) { return harness.Program("", "node", "-e", script) }

// vim runs commands in vim. backupskip is emptied since vim skips its backup
// dance in the system's temporary directory, where the tests mount.
func vim(commands ...string) func(*testing.T, string) {
	args := []string{"vim", "-Nu", "NONE", "-i", "NONE", "-es", "-c", "set backupskip="}
	for _, command := range append(commands, "q") {
		args = append(args, "-c", command)
	}
	return harness.Program("", append(args, "note.md")...)
}

// rsync brings a changed copy from elsewhere.
func rsync(flags ...string) func(*testing.T, string) {
	return func(t *testing.T, dir string) {
		from := filepath.Join(t.TempDir(), "note.md")
		harness.WriteFile(t, from, strings.Replace(harness.TideTable, "six", "seven", 1))
		args := append([]string{"rsync", "--ignore-times", "--no-whole-file"}, flags...)
		harness.Program("", append(args, from, "note.md")...)(t, dir)
	}
}

// emacs changes the note and saves it twice.
func emacs(setup string) func(*testing.T, string) {
	return harness.Program("", "emacs", "-Q", "--batch", "--eval", `(progn `+setup+`
(find-file "note.md") (goto-char (point-min)) (search-forward "six") (replace-match "seven") (save-buffer)
(goto-char (point-max)) (insert "The end.\n") (save-buffer))`)
}

const patchText = `--- note.md
+++ note.md
@@ -3,4 +3,4 @@
-The tide turns at six, and with it the boats turn too.
+The tide turns at seven, and with it the boats turn too.
 A second line of the first paragraph, left alone.
 
 - [ ] paint the hull
`

var savers = []saver{
	{"sed -i", nil, harness.Shell(`sed -i 's/six/seven/; s/\[ \] paint/[x] paint/' note.md`)},
	{"sed -i.bak", nil, harness.Shell(`sed -i.bak 's/six/seven/' note.md`)},
	{"perl -pi", []string{"perl"}, harness.Shell(`perl -pi -e 's/quiet/loud/' note.md`)},
	{"patch", []string{"patch"}, harness.Program(patchText, "patch", "-s", "note.md")},
	{"shell >", nil, harness.Shell(`echo "all is new here" > note.md`)},
	{"shell > from a group", nil, harness.Shell(`(echo "# Tide table"; echo; sh -c 'echo "from a child"'; echo "and the end") > note.md`)},
	{"shell >>", nil, harness.Shell(`echo "- [ ] one more" >> note.md`)},
	{"tee", nil, harness.Shell(`sed 's/boats/ships/' note.md > copy.tmp && tee note.md < copy.tmp > /dev/null && rm copy.tmp`)},
	{"cp", nil, harness.Shell(`sed 's/boats/ships/' note.md > copy.tmp && cp copy.tmp note.md && rm copy.tmp`)},
	{"cp -p", nil, harness.Shell(`sed 's/boats/ships/' note.md > copy.tmp && cp -p copy.tmp note.md && rm copy.tmp`)},
	{"mv", nil, harness.Shell(`sed 's/boats/ships/' note.md > copy.tmp && mv copy.tmp note.md`)},
	{"mv of a note's name", nil, harness.Shell(`sed 's/boats/ships/' note.md > copy.md && mv copy.md note.md`)},
	{"mv from elsewhere", nil, func(t *testing.T, dir string) {
		other := filepath.Join(t.TempDir(), "new")
		harness.WriteFile(t, other, strings.Replace(harness.TideTable, "boats", "ships", 1))
		harness.Shell(`mv -f '`+other+`' note.md`)(t, dir)
	}},
	{"truncate", nil, harness.Shell(`truncate -s 40 note.md`)},
	{"dd in place", nil, harness.Shell(`printf SIX | dd of=note.md bs=1 seek=32 conv=notrunc 2>/dev/null`)},
	{"vim", []string{"vim"}, vim("%s/six/seven/", "w")},
	{"vim, saving twice", []string{"vim"}, vim("%s/six/seven/", "w", "%s/seven/eight/", "w")},
	{"vim, backupcopy=yes", []string{"vim"}, vim("set backupcopy=yes", "%s/six/seven/", "w")},
	{"perl -i.orig", []string{"perl"}, harness.Shell(`perl -i.orig -pe 's/quiet/loud/' note.md`)},
	{"gawk -i inplace's system calls", []string{"python3"}, python(`
import os, tempfile
fd, name = tempfile.mkstemp(prefix='note.md.gawk.', dir='.')
name = os.path.basename(name)[:len('note.md.gawk.') + 6]
os.close(fd); os.rename([n for n in os.listdir('.') if n.startswith('note.md.gawk.')][0], name)
with open(name, 'w') as out:
    out.write(open('note.md').read().replace('six', 'seven'))
os.chmod(name, 0o644)
os.rename(name, 'note.md')`)},
	{"a copy beside it, then in place", nil, harness.Shell(`cp note.md note.md_original && sed 's/six/seven/' note.md_original > note.md`)},
	{"exiftool's system calls", nil, harness.Shell(`sed 's/six/seven/' note.md > note.md_exiftool_tmp && mv note.md note.md_original && mv note.md_exiftool_tmp note.md`)},
	{"cp --backup=numbered", nil, harness.Shell(`sed 's/six/seven/' note.md > copy.tmp && cp --backup=numbered copy.tmp note.md && rm copy.tmp`)},
	{"install --backup", nil, harness.Shell(`sed 's/six/seven/' note.md > copy.tmp && install --backup --suffix=.old -m 644 copy.tmp note.md && rm copy.tmp`)},
	{"sort -o", nil, harness.Shell(`sort -o note.md note.md`)},
	{"sponge's system calls", nil, func(t *testing.T, dir string) {
		harness.Shell(`f=$(mktemp "`+t.TempDir()+`/sponge.XXXXXX") && sed 's/six/seven/' note.md > $f && cat $f > note.md`)(t, dir)
	}},
	{"rsync --inplace", []string{"rsync"}, rsync("--inplace")},
	{"rsync --backup", []string{"rsync"}, rsync("--backup")},
	{"rsync --backup --suffix", []string{"rsync"}, rsync("--backup", "--suffix=.b")},
	{"rsync --delay-updates", []string{"rsync"}, rsync("--delay-updates")},
	{"vim, no write backup", []string{"vim"}, vim("set nowritebackup", "%s/six/seven/", "w")},
	{"vim, backupcopy=no", []string{"vim"}, vim("set backupcopy=no", "%s/six/seven/", "w")},
	{"vim, backupcopy=no, keeping a backup of its own extension", []string{"vim"}, vim("set backup backupcopy=no backupext=.vimback", "%s/six/seven/", "w")},
	{"emacs", []string{"emacs"}, emacs(``)},
	{"emacs, numbered backups", []string{"emacs"}, emacs(`(setq version-control t)`)},
	{"emacs, backup by copying", []string{"emacs"}, emacs(`(setq backup-by-copying t)`)},
	{"vim, keeping a backup", []string{"vim"}, vim("set backup", "%s/six/seven/", "w")},
	{"nano", []string{"nano", "tmux"}, nano},
	{"emacs's system calls", []string{"python3"}, python(`
import os
text = open('note.md').read().replace('six', 'seven')
os.symlink('me@here.1:2', '.#note.md')
os.rename('note.md', 'note.md~')
fd = os.open('note.md', os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
half = len(text.encode()) // 2
os.write(fd, text.encode()[:half]); os.write(fd, text.encode()[half:])
os.fsync(fd); os.close(fd)
os.unlink('.#note.md')`)},
	{"Python, open w", []string{"python3"}, python(`
text = open('note.md').read()
open('note.md', 'w').write(text.replace('six', 'seven'))`)},
	{"Python, open r+", []string{"python3"}, python(`
with open('note.md', 'r+') as f:
    text = f.read()
    f.seek(0); f.write(text.replace('six', 'a')); f.truncate()`)},
	{"Python, os.replace", []string{"python3"}, python(`
import os, tempfile
text = open('note.md').read()
fd, name = tempfile.mkstemp(dir='.')
os.write(fd, text.replace('six', 'seven').encode()); os.close(fd)
os.replace(name, 'note.md')`)},
	{"Python, mmap", []string{"python3"}, python(`
import mmap
with open('note.md', 'r+b') as f:
    m = mmap.mmap(f.fileno(), 0)
    i = m.find(b'six'); m[i:i+3] = b'SIX'
    m.flush(); m.close()`)},
	{"Node, writeFileSync", []string{"node"}, node(`
const fs = require('fs')
fs.writeFileSync('note.md', fs.readFileSync('note.md', 'utf8').replace('six', 'seven'))`)},
	{"Node, promises", []string{"node"}, node(`
const fs = require('fs/promises')
fs.readFile('note.md', 'utf8').then(text => fs.writeFile('note.md', text.replace('six', 'seven')))`)},
	{"Node, write and rename", []string{"node"}, node(`
const fs = require('fs')
const text = fs.readFileSync('note.md', 'utf8').replace('six', 'seven')
fs.writeFileSync('note.md.tmp', text)
fs.renameSync('note.md.tmp', 'note.md')`)},
	{"Claude Code", nil, func(t *testing.T, dir string) { claudeEdit(t, dir, "six", "seven") }},
	{"Claude Code, in place", nil, claudeEditInPlace},
}

// Every program does on the mount what it does on a plain directory, and the
// vault's file holds the difference as suggestions.
func TestSaves(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	files := harness.GeneratedVault(1000)
	for i := range savers {
		files[fmt.Sprintf("Saves/%d/note.md", i)] = harness.TideTable
	}
	m := s.Mount(t, s.Vault(t, "Vault", files))
	for i, saver := range savers {
		t.Run(saver.name, func(t *testing.T) {
			t.Parallel()
			need.Programs(t, saver.tools...)
			testSave(t, m, fmt.Sprintf("Saves/%d", i), saver)
		})
	}
}

func testSave(t *testing.T, m *harness.Mount, folder string, saver saver) {
	plain := t.TempDir()
	harness.WriteFile(t, filepath.Join(plain, "note.md"), harness.TideTable)
	saver.save(t, plain)
	want := harness.ReadFile(t, filepath.Join(plain, "note.md"))
	if want == harness.TideTable {
		t.Fatal("the program changed nothing in a plain directory")
	}

	saver.save(t, m.Path(folder))

	m.CheckSuggested(t, folder+"/note.md", harness.TideTable, want)
	if got, want := harness.ListFiles(t, m.Path(folder)), harness.ListFiles(t, plain); !slices.Equal(got, want) {
		t.Errorf("mount's folder holds %q, a plain one %q", got, want)
	}
	// What editors leave beside the note is theirs, not the vault's. What the save
	// displaced goes once the folder is synced.
	harness.Eventually(t, harness.StartTimeout, func() error {
		if got, want := harness.ListFiles(t, m.VaultPath(folder)), []string{"note.md"}; !slices.Equal(got, want) {
			return fmt.Errorf("vault's folder holds %q, want %q", got, want)
		}
		return nil
	})
	info, err := os.Stat(m.Path(folder + "/note.md"))
	if err != nil {
		t.Fatal(err)
	}
	if info.Size() != int64(len(want)) {
		t.Errorf("size on the mount is %d, want %d", info.Size(), len(want))
	}
}

// nano types a line at the top and saves, in a terminal of tmux.
func nano(t *testing.T, dir string) {
	t.Helper()
	server := []string{"-S", filepath.Join(shortTempDir(t), "tmux"), "-f", "/dev/null"}
	tmux := func(args ...string) string {
		out, err := exec.CommandContext(t.Context(), "tmux", append(slices.Clone(server), args...)...).CombinedOutput()
		if err != nil {
			t.Fatalf("tmux %q: %v\n%s", args, err, out)
		}
		return string(out)
	}
	waitFor := func(text string) {
		harness.Eventually(t, harness.StartTimeout, func() error {
			if screen := tmux("capture-pane", "-p", "-t", "nano"); !strings.Contains(screen, text) {
				return fmt.Errorf("no %q on nano's screen:\n%s", text, screen)
			}
			return nil
		})
	}
	// The second window keeps the server alive after nano has ended.
	tmux("new-session", "-d", "-s", "hold", "sleep", "120")
	tmux("new-session", "-d", "-s", "nano", "-x", "80", "-y", "24", "-c", dir, "nano", "--ignorercfiles", "note.md")
	t.Cleanup(func() { _ = exec.Command("tmux", append(slices.Clone(server), "kill-server")...).Run() })
	waitFor("Tide table")
	tmux("send-keys", "-t", "nano", "-l", "Typed in nano.")
	tmux("send-keys", "-t", "nano", "Enter")
	tmux("send-keys", "-t", "nano", "C-o")
	waitFor("File Name to Write")
	tmux("send-keys", "-t", "nano", "Enter")
	waitFor("Wrote")
	tmux("send-keys", "-t", "nano", "C-x")
	harness.Eventually(t, harness.StartTimeout, func() error {
		if sessions := tmux("list-sessions"); strings.Contains(sessions, "nano:") {
			return fmt.Errorf("nano has not ended")
		}
		return nil
	})
}

// shortTempDir is t.TempDir for what must fit a Unix socket's address.
func shortTempDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "t-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// A kill between truncation and write must not publish an emptied note.
func TestKilledWriterDoesNotEmptyANote(t *testing.T) {
	t.Parallel()
	need.Programs(t, "python3")
	s := harness.NewSandbox(t)
	m := s.Mount(t, s.Vault(t, "Vault", map[string]string{"note.md": harness.TideTable}))
	cmd := exec.Command("python3", "-c", "import os, signal; f = open('note.md', 'w'); os.kill(os.getpid(), signal.SIGKILL)")
	cmd.Dir = filepath.Dir(m.Path("note.md"))
	if err := cmd.Run(); err == nil {
		t.Fatal("the writer was not killed")
	}
	// The loss would come late, if at all: look for longer than a writer takes.
	deadline := time.Now().Add(2 * time.Second)
	for time.Now().Before(deadline) {
		harness.CheckText(t, "vault's note", harness.ReadFile(t, m.VaultPath("note.md")), harness.TideTable)
		if t.Failed() {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
}
