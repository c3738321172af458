package fusefs_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/relayfs/relayfs/tests/need"
)

const tideTable = `# Tide table

The tide turns at six, and with it the boats turn too.
A second line of the first paragraph, left alone.

- [ ] paint the hull
- [x] mend the sail

Last words: the harbour is quiet. 灯台 👩‍🌾 שלום
`

// saver is a program that changes Note.md in its working directory.
type saver struct {
	name  string
	needs []string // programs
	argv  []string
	stdin string
}

func shell(name, script string, needs ...string) saver {
	return saver{name: name, needs: needs, argv: []string{"sh", "-c", script}}
}

func python(name, script string) saver {
	return saver{name: name, needs: []string{"python3"}, argv: []string{"python3", "-c", script}}
}

func node(name, script string) saver {
	return saver{name: name, needs: []string{"node"}, argv: []string{"node", "-e", script}}
}

func vim(name string, commands ...string) saver {
	argv := []string{"vim", "-Nu", "NONE", "-i", "NONE", "-es", "-c", "set backupskip="}
	for _, c := range append(commands, "q") {
		argv = append(argv, "-c", c)
	}
	return saver{name: name, needs: []string{"vim"}, argv: append(argv, "Note.md")}
}

func emacs(name, lisp string) saver {
	return saver{name: name, needs: []string{"emacs"}, argv: []string{
		"emacs", "--batch", "-Q", "--eval",
		`(progn (setq inhibit-message t vc-handled-backends nil) (find-file "Note.md") ` + lisp + `)`,
	}}
}

// gitIn begins a repository outside of the folder whose work tree the folder is.
const gitIn = `export GIT_DIR="$OTHER.git" GIT_WORK_TREE=. GIT_AUTHOR_DATE=2001-02-03T04:05:06Z GIT_COMMITTER_DATE=2001-02-03T04:05:06Z
git init -q -b main; git config user.name t; git config user.email t@localhost; git add Note.md; git commit -qm one
`

const patchText = `--- Note.md
+++ Note.md
@@ -1,4 +1,4 @@
 # Tide table
 
-The tide turns at six, and with it the boats turn too.
+The tide turns at seven, and with it the boats turn too.
 A second line of the first paragraph, left alone.
`

// savers are the programs of design rules 1 to 16: each saves in a way of its own.
var savers = []saver{
	shell("echo >", `echo "all new" > Note.md`),
	shell("echo >>", `echo "- [ ] one more" >> Note.md`),
	shell("two appends", `echo one >> Note.md; echo two >> Note.md`),
	shell("group >", `(echo "# Tide table"; sh -c 'echo from a child'; echo end) > Note.md`),
	shell("tee", `sed s/boats/ships/ Note.md > x.tmp; tee Note.md < x.tmp > /dev/null; rm x.tmp`),
	shell("cp", `sed s/boats/ships/ Note.md > x.tmp; cp x.tmp Note.md; rm x.tmp`),
	shell("cp -p", `sed s/boats/ships/ Note.md > x.tmp; touch -d 2001-02-03 x.tmp; cp -p x.tmp Note.md; rm x.tmp`),
	shell("cp --remove-destination", `sed s/boats/ships/ Note.md > x.tmp; cp --remove-destination x.tmp Note.md; rm x.tmp`),
	shell("install", `sed s/boats/ships/ Note.md > x.tmp; install -m 644 x.tmp Note.md; rm x.tmp`),
	shell("mv", `sed s/boats/ships/ Note.md > x.tmp; mv x.tmp Note.md`),
	shell("mv of a note's name", `sort Note.md > tmp.md && mv tmp.md Note.md`),
	shell("mv of a copy", `cp Note.md new.md; sed -i s/boats/ships/ new.md; mv new.md Note.md`),
	shell("mv from another file system", `sed s/boats/ships/ Note.md > "$OTHER"; mv -f "$OTHER" Note.md`),
	shell("sed -i", `sed -i 's/six/seven/; s/\[ \] paint/[x] paint/' Note.md`),
	shell("sed -i.bak", `sed -i.bak s/six/seven/ Note.md`),
	shell("sed -i.save", `sed -i.save s/six/seven/ Note.md`),
	shell("perl -pi", `perl -pi -e s/quiet/loud/ Note.md`, "perl"),
	shell("perl -pi.orig", `perl -pi.orig -e s/quiet/loud/ Note.md`, "perl"),
	{name: "patch", needs: []string{"patch"}, argv: []string{"patch", "-s", "Note.md"}, stdin: patchText},
	shell("truncate", `truncate -s 40 Note.md`),
	shell("truncate and grow", `truncate -s 12 Note.md; truncate -s 14 Note.md; printf '\n\n' | dd of=Note.md bs=1 seek=12 conv=notrunc 2>/dev/null`),
	shell("dd in place", `printf SIX | dd of=Note.md bs=1 seek=32 conv=notrunc 2>/dev/null`),
	shell("lock file", `cp Note.md Note.md.lock; echo more >> Note.md.lock; mv Note.md.lock Note.md`),
	shell("rsync", `sed s/boats/ships/ Note.md > "$OTHER"; rsync -I "$OTHER" Note.md; rm "$OTHER"`, "rsync"),
	shell("rsync --inplace", `sed s/boats/ships/ Note.md > "$OTHER"; rsync -I --inplace "$OTHER" Note.md; rm "$OTHER"`, "rsync"),
	shell("git apply", `git apply --unidiff-zero "$PATCH"`, "git"),
	shell("git checkout", gitIn+`sed -i s/six/seven/ Note.md; git add .; git commit -qm two; git checkout -q HEAD~ -- Note.md; echo more >> Note.md`, "git"),
	shell("git stash", gitIn+`sed -i s/six/seven/ Note.md; git stash; git stash pop -q; git diff --stat`, "git"),
	shell("git merge", gitIn+`git checkout -qb b; sed -i s/six/seven/ Note.md; git commit -qam b; git checkout -q -; sed -i s/quiet/loud/ Note.md; git commit -qam a; git merge -q -m m b; git log --oneline | wc -l`, "git"),
	vim("vim", "%s/six/seven/", "w"),
	vim("vim, twice", "%s/six/seven/", "w", "%s/seven/eight/", "w"),
	vim("vim, backup", "set backup", "%s/six/seven/", "w"),
	vim("vim, backupcopy=yes", "set backupcopy=yes", "%s/six/seven/", "w"),
	vim("vim, nowritebackup", "set nowritebackup", "%s/six/seven/", "w"),
	emacs("emacs", `(goto-char (point-max)) (insert "from emacs\n") (save-buffer)`),
	emacs("emacs, twice", `(insert "one\n") (save-buffer) (goto-char (point-max)) (insert "two\n") (save-buffer)`),
	emacs("emacs, backup by copying", `(setq backup-by-copying t) (insert "one\n") (save-buffer)`),
	emacs("emacs, precious", `(setq file-precious-flag t) (insert "one\n") (save-buffer)`),
	python("Python, open w", `
text = open('Note.md').read()
open('Note.md', 'w').write(text.replace('six', 'seven'))`),
	python("Python, open a", `open('Note.md', 'a').write('the end\n')`),
	python("Python, open r+", `
with open('Note.md', 'r+') as f:
    text = f.read(); f.seek(0); f.write(text.replace('six', 'a')); f.truncate()`),
	python("Python, os.replace", `
import os, tempfile
text = open('Note.md').read()
fd, name = tempfile.mkstemp(dir='.')
os.write(fd, text.replace('six', 'seven').encode()); os.close(fd); os.chmod(name, 0o644); os.replace(name, 'Note.md')`),
	python("Python, os.replace of a note's name", `
import os
with open('x.md', 'w') as f: f.write(open('Note.md').read().replace('six', 'seven'))
os.replace('x.md', 'Note.md')`),
	python("Python, rename while open", `
import os
text = open('Note.md').read()
f = open('.goutputstream-AB12CD', 'w'); f.write(text); f.flush()
os.rename('.goutputstream-AB12CD', 'Note.md')
f.write('after the rename\n'); f.close()`),
	python("Python, two handles", `
a, b = open('Note.md', 'r+'), open('Note.md', 'r+')
a.write('# TIDE'); a.flush(); b.seek(0, 2); b.write('the end\n'); b.close(); a.close()`),
	python("Python, dup", `
import os
fd = os.open('Note.md', os.O_WRONLY | os.O_TRUNC); os.close(os.dup(fd))
os.write(fd, b'first\n'); os.close(os.dup(fd)); os.write(fd, b'second\n'); os.close(fd)`),
	python("Python, mmap", `
import mmap
with open('Note.md', 'r+b') as f:
    m = mmap.mmap(f.fileno(), 0); i = m.find(b'six'); m[i:i+3] = b'SIX'; m.flush(); m.close()`),
	python("Python, mmap with the file closed", `
import mmap
f = open('Note.md', 'r+b'); m = mmap.mmap(f.fileno(), 0); f.close()
i = m.find(b'six'); m[i:i+3] = b'SIX'; m.flush(); m.close()`),
	node("Node, writeFileSync", `
const fs = require('fs')
fs.writeFileSync('Note.md', fs.readFileSync('Note.md', 'utf8').replace('six', 'seven'))`),
	node("Node, write and rename", `
const fs = require('fs')
const tmp = 'Note.md.tmp.' + process.pid + '.0123456789ab'
const fd = fs.openSync(tmp, 'wx', 0o644)
fs.writeSync(fd, fs.readFileSync('Note.md', 'utf8').replace('six', 'seven'))
fs.fchmodSync(fd, 0o644); fs.fsyncSync(fd); fs.closeSync(fd); fs.renameSync(tmp, 'Note.md')`),
	python("as Claude Code does", `
import os
d = os.open('.', os.O_PATH | os.O_DIRECTORY)
at = lambda name: '/proc/self/fd/%d/%s' % (d, name)
fd = os.open(at('Note.md'), os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
text = os.read(fd, 1 << 20); os.close(fd)
tmp = 'Note.md.tmp.%d.0123456789ab' % os.getpid()
fd = os.open(at(tmp), os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o644)
os.write(fd, text.replace(b'six', b'seven')); os.fchmod(fd, 0o644); os.fsync(fd); os.close(fd)
os.rename(at(tmp), at('Note.md')); os.stat(at('Note.md'))`),
	python("as Claude Code does when it cannot rename", `
import os
fd = os.open('Note.md', os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW)
text = os.pread(fd, 1 << 20, 0).replace(b'six', b'6')
os.pwrite(fd, text, 0); os.ftruncate(fd, len(text)); os.fsync(fd); os.close(fd)`),
}

const nano = `
text=$(printf 'from nano ')
tmux -L "$SOCKET" -f /dev/null new-session -d -s hold 'sleep 60' # the server ends with its last session
tmux -L "$SOCKET" new-session -d -s nano -x 80 -y 24 'nano Note.md; tmux -L "'$SOCKET'" wait-for -S done'
for i in $(seq 100); do tmux -L "$SOCKET" capture-pane -p -t nano | grep -q 'Tide table' && break; sleep 0.05; done
tmux -L "$SOCKET" send-keys -t nano "$text" C-o Enter C-x
tmux -L "$SOCKET" wait-for done; tmux -L "$SOCKET" kill-server 2>/dev/null; true`

// TestSaves runs each program on a plain folder and on the mount: exit code,
// messages, content and listing are the same, and the source holds the
// difference as suggestions.
func TestSaves(t *testing.T) {
	all := append(slices.Clone(savers), shell("nano", nano, "nano", "tmux"))
	files := make(map[string]string)
	for i := range all {
		files["Saves/"+folderOf(i)+"/Note.md"] = tideTable
	}
	m := mount(t, files)
	for i, s := range all {
		t.Run(s.name, func(t *testing.T) {
			need.Programs(t, s.needs...)
			m.checkSave(t, "Saves/"+folderOf(i), s)
		})
	}
}

func folderOf(i int) string { return string(rune('A'+i/26)) + string(rune('a'+i%26)) }

func (m *mounted) checkSave(t *testing.T, folder string, s saver) {
	plain := t.TempDir()
	if err := os.WriteFile(filepath.Join(plain, "Note.md"), []byte(tideTable), 0o644); err != nil {
		t.Fatal(err)
	}
	patch := filepath.Join(t.TempDir(), "patch")
	if err := os.WriteFile(patch, []byte(patchText), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Setenv("OTHER", filepath.Join(t.TempDir(), "other"))
	t.Setenv("PATCH", patch)
	t.Setenv("GIT_CEILING_DIRECTORIES", "/")
	t.Setenv("SOCKET", "fusefs-"+filepath.Base(filepath.Dir(plain))+"-plain")
	want := run(t, plain, s.stdin, s.argv...)
	t.Setenv("OTHER", filepath.Join(t.TempDir(), "other"))
	t.Setenv("SOCKET", "fusefs-"+filepath.Base(filepath.Dir(plain))+"-mount")
	got := run(t, m.path(folder), s.stdin, s.argv...)
	if got != want {
		t.Errorf("on the mount %+v, on a plain folder %+v", got, want)
	}
	after, err := os.ReadFile(filepath.Join(plain, "Note.md"))
	if err != nil {
		t.Fatal(err)
	}
	checkText(t, "Note.md", m.cat(t, folder+"/Note.md"), string(after))
	size := strings.TrimSpace(m.sh(t, folder, "stat -c %s Note.md"))
	checkText(t, "size", size, strings.TrimSpace(run(t, plain, "", "stat", "-c", "%s", "Note.md").stdout))
	m.checkSuggested(t, folder+"/Note.md", tideTable, string(after))
	m.checkNames(t, folder, strings.Fields(run(t, plain, "", "ls", "-A").stdout)...)
}

// Writing a note back as it is leaves no trace.
func TestUnchanged(t *testing.T) {
	t.Parallel()
	texts := map[string]string{
		"plain": tideTable, "crlf": "one\r\ntwo\r\n", "bom": "\ufeff# BOM\n", "open": "no final newline", "empty": "", "marks": "a {--b--}{++c++} d\n",
	}
	files := make(map[string]string)
	for name, text := range texts {
		files["F/"+name+".md"] = text
	}
	m := mount(t, files)
	for name, text := range texts {
		t.Run(name, func(t *testing.T) {
			for _, script := range []string{"cp N.md x.tmp; cat x.tmp > N.md", "cp N.md x.tmp; mv x.tmp N.md", "sed -i s/never/ever/ N.md", "touch N.md", "cp N.md x.tmp; cp -p x.tmp N.md"} {
				m.sh(t, "F", strings.ReplaceAll(script, "N.md", name+".md"))
				checkText(t, "source after "+script, m.SourceText("F/"+name+".md"), text)
			}
		})
	}
}

// A program that knows line feeds only, and one that knows CR LF only, change a word:
// the note keeps its line breaks, and everybody sees them, at the right length, once
// the program has seen what it saved.
func TestSavesWithOtherBreaks(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ before, written, after, stored string }{
		"to LF":    {"one\r\ntwo\r\n", "one\n2\n", "one\r\n2\r\n", "one\r\n{--two--}{++2++}\r\n"},
		"to CR LF": {"one\ntwo\n", "one\r\n2\r\n", "one\n2\n", "one\n{--two--}{++2++}\n"},
	} {
		for how, script := range map[string]string{
			"in place": `python3 -c 'import sys; open("N.md", "w", newline="").write(sys.argv[1])' "$T"`,
			"replaced": `printf '%s' "$T" > N.md.tmp; mv N.md.tmp N.md`,
			"appended": `: > N.md; printf '%s' "$T" >> N.md`,
		} {
			t.Run(name+" "+how, func(t *testing.T) {
				m := mount(t, map[string]string{"F/N.md": c.before})
				start := time.Now()
				m.sh(t, "F", "cat N.md; T='"+c.written+"'\n"+script)
				seen := m.cat(t, "F/N.md")
				if time.Since(start) < 300*time.Millisecond { // for as long as the writer's own bytes are shown
					checkText(t, "right after", seen, c.written)
				}
				checkText(t, "source", m.SourceText("F/N.md"), c.stored)
				eventually(t, func() error { return wants("on the mount", m.cat(t, "F/N.md"), c.after) })
				checkText(t, "size", m.sh(t, "F", "stat -c %s N.md; wc -c < N.md"), strings.Repeat(fmt.Sprintln(len(c.after)), 2))
				m.sh(t, "F", "cp N.md x.tmp; cat x.tmp > N.md")
				checkText(t, "source after", m.SourceText("F/N.md"), c.stored)
			})
		}
	}
}

// A program may spell a name otherwise than the workspace does (é in one
// character or two): however it saves, that is the same note.
func TestSavesInAnotherSpelling(t *testing.T) {
	t.Parallel()
	const typed, kept = "Ete\u0301.md", "Et\u00e9.md"
	for name, script := range map[string]string{
		"backup":        `mv "$N" "$N~"; printf 'one\nthree\n' > "$N"; rm "$N~"`,
		"replacement":   `printf 'one\nthree\n' > x.tmp; mv x.tmp "$N"`,
		"both":          `printf 'one\nthree\n' > x.tmp; mv "$N" "$N~"; mv x.tmp "$N"; rm "$N~"`,
		"in place":      `printf 'one\nthree\n' > "$N"`,
		"made by mknod": `mv "$N" "$N~"; python3 -c 'import os, sys; os.mknod(sys.argv[1])' "$N"; printf 'one\nthree\n' > "$N"; rm "$N~"`,
	} {
		t.Run(name, func(t *testing.T) {
			m := mount(t, map[string]string{"F/" + kept: "one\ntwo\n"})
			m.sh(t, "F", "N="+typed+"\n"+script)
			m.checkSuggested(t, "F/"+kept, "one\ntwo\n", "one\nthree\n")
			checkText(t, "on the mount", m.cat(t, "F/"+typed), "one\nthree\n")
			m.checkNames(t, "F", kept)
		})
	}
}
