package fusefs_test

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/tests/need"
)

func direct(o *bridge.Options) { o.Structure = bridge.StructureDirect }

// exists asks the workspace, not the mount.
func (m *mounted) exists(t testing.TB, p string) bool {
	t.Helper()
	_, err := m.Stat(t.Context(), model.Path(p))
	return err == nil
}

func deny(o *bridge.Options) { o.Structure = bridge.StructureDeny }

// Where the policy denies changes of names, the log says why, and nothing is lost.
func TestStructureIsRefused(t *testing.T) {
	t.Parallel()
	m := mount(t, map[string]string{"F/Note.md": tideTable, "F/Other.md": "other\n", "F/sub/b.md": "b\n", "F/image.png": "\x89PNG"}, deny)
	for _, tt := range []struct{ script, message string }{
		{"rm Note.md Other.md", "Operation not permitted"},
		{"rm -rf sub", "Operation not permitted"},
		{"rmdir sub", "Directory not empty"},
		{"mv Note.md New.md", "Operation not permitted"},
		{"mv Note.md Other.md", "Operation not permitted"},
		{"mv Note.md sub/", "Operation not permitted"},
		{"mv sub sub2", "Operation not permitted"},
		{"mv Note.md Note.txt", "Operation not permitted"},
		{"rm image.png", "Operation not permitted"},
		{"echo x > image.png", "Operation not permitted"},
		{"echo x > chart.png", "Operation not permitted"},
		{"ln Note.md Link.md", "Operation not permitted"},
		{"ln -s Note.md Link.md", "Operation not permitted"},
		{"mkfifo pipe", "Operation not permitted"},
		{"echo x > ../Loose.md", "Permission denied"},
		{"mkdir ../New", "Permission denied"},
		{"python3 -c 'import os; os.rename(b\"Note.md\", b\"bad\\xff.md\")'", ""},
		{"python3 -c 'open(b\"bad\\xff.md\", \"w\")'", "Invalid argument"},
	} {
		m.fails(t, "F", tt.script, tt.message)
		eventually(t, func() error { // the first file of several may be about to be written again
			return wants("folder", strings.Join(m.names(t, "F"), " "), "Note.md Other.md image.png sub")
		})
		checkText(t, "Note.md after "+tt.script, m.cat(t, "F/Note.md"), tideTable)
		checkText(t, "source after "+tt.script, m.SourceText("F/Note.md"), tideTable)
	}
	if !strings.Contains(m.log.String(), "structure policy") {
		t.Error("the log does not say why")
	}
}

// A note that mv took away and put nowhere comes back.
func TestParkedNoteReturns(t *testing.T) {
	t.Parallel()
	m := mount(t, map[string]string{"F/Note.md": tideTable})
	m.sh(t, "F", "mv Note.md Note.md.bak && ! test -e Note.md")
	m.checkNames(t, "F", "Note.md.bak")
	checkText(t, "the backup", m.cat(t, "F/Note.md.bak"), tideTable)
	if !m.exists(t, "F/Note.md") {
		t.Fatal("the workspace lost the note")
	}
	eventually(t, func() error {
		if got := m.names(t, "F"); !slices.Equal(got, []string{"Note.md", "Note.md.bak"}) {
			return fmt.Errorf("folder holds %q", got)
		}
		return wants("Note.md", m.cat(t, "F/Note.md"), tideTable)
	})
	if inodes := strings.Fields(m.sh(t, "F", "stat -c %i Note.md Note.md.bak")); inodes[0] == inodes[1] {
		t.Errorf("the note and its backup have the same inode number %s", inodes[0])
	}
	eventually(t, func() error {
		if !strings.Contains(m.log.String(), "note is shown at its name again") {
			return errors.New("the log does not say that the note is back")
		}
		return nil
	})
	checkText(t, "source", m.SourceText("F/Note.md"), tideTable)
}

// With --structure direct names change for real.
func TestStructureDirect(t *testing.T) {
	t.Parallel()
	m := mount(t, map[string]string{"F/Note.md": tideTable, "F/Gone.md": "gone\n", "F/sub/b.md": "b\n", "F/over.md": "over\n", "F/full/c.md": "c\n"}, direct)
	m.sh(t, "F", "mv sub moved && mv Note.md moved/Renamed.md && mv over.md moved/b.md && rm Gone.md && rm -r full && ! test -e Gone.md")
	m.checkNames(t, "F", "moved")
	m.checkNames(t, "F/moved", "Renamed.md", "b.md")
	checkText(t, "renamed note", m.cat(t, "F/moved/Renamed.md"), tideTable)
	checkText(t, "replaced note", m.cat(t, "F/moved/b.md"), "over\n")
	checkText(t, "source of the renamed note", m.SourceText("F/moved/Renamed.md"), tideTable)
	eventually(t, func() error {
		for _, p := range []string{"F/Note.md", "F/Gone.md", "F/sub", "F/over.md", "F/full"} {
			if m.exists(t, p) {
				return fmt.Errorf("%s is still there", p)
			}
		}
		return nil
	})
}

// What was unlinked is gone after an unmount too.
func TestUnlinkThenUnmount(t *testing.T) {
	t.Parallel()
	m := mount(t, map[string]string{"F/Note.md": tideTable, "F/Gone.md": "gone\n"}, direct)
	m.sh(t, "F", "rm Gone.md")
	if err := m.server.Unmount(); err != nil {
		t.Fatal(err)
	}
	if m.exists(t, "F/Gone.md") {
		t.Error("Gone.md is still there")
	}
}

// Unlinking and writing anew within the grace is a save of the same document,
// whatever the policy.
func TestUnlinkAndCreateIsASave(t *testing.T) {
	t.Parallel()
	m := mount(t, map[string]string{"F/Note.md": tideTable}, direct)
	before, err := m.Stat(t.Context(), "F/Note.md")
	if err != nil {
		t.Fatal(err)
	}
	after := strings.Replace(tideTable, "six", "seven", 1)
	m.sh(t, "F", "sed s/six/seven/ Note.md > x.tmp && rm Note.md && cat x.tmp > Note.md && rm x.tmp")
	info, err := m.Stat(t.Context(), "F/Note.md")
	if err != nil || info.ID != before.ID {
		t.Errorf("ID %d, %v, want %d as before", info.ID, err, before.ID)
	}
	m.checkSuggested(t, "F/Note.md", tideTable, after)
}

func TestRenameFlags(t *testing.T) {
	t.Parallel()
	m := mount(t, map[string]string{"F/Note.md": tideTable, "F/Other.md": "other\n"})
	m.sh(t, "F", "echo x > x.tmp")
	const rename = `
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
r = libc.renameat2(-100, sys.argv[1].encode(), -100, sys.argv[2].encode(), int(sys.argv[3]))
sys.exit(os.strerror(ctypes.get_errno()) if r else 0)`
	m.fails(t, "F", "python3 -c '"+rename+"' x.tmp Note.md 1", "File exists")
	m.fails(t, "F", "python3 -c '"+rename+"' x.tmp Note.md 2", "Invalid argument")
	m.sh(t, "F", "python3 -c '"+rename+"' x.tmp New.md 1")
	checkText(t, "New.md", m.cat(t, "F/New.md"), "x\n")
	checkText(t, "Note.md", m.cat(t, "F/Note.md"), tideTable)
}

// Scratch files stay on the mount.
func TestScratch(t *testing.T) {
	t.Parallel()
	m := mount(t, map[string]string{"F/Note.md": tideTable})
	m.sh(t, "F", `
for f in .Note.md.swp 'Note.md~' 4913 '#Note.md#' sedAbC123 Note.md.tmp.12.ab34 Note.md.lock; do echo "$f" > "$f"; test "$(cat "$f")" = "$f" || exit 1; done
ln -s me@here.1:2 .#Note.md && test "$(readlink .#Note.md)" = me@here.1:2
mkdir -p .git/objects && echo x > .git/objects/Note.md && mv .git/objects/Note.md .git/x && test "$(cat .git/x)" = x && ! rmdir .git 2>/dev/null`)
	for _, e := range mustReadDir(t, m, "F") {
		if e.Path.Base() != "Note.md" {
			t.Errorf("the workspace has %s", e.Path.Base())
		}
	}
	m.sh(t, "F", "rm -r .git .Note.md.swp Note.md~ 4913 '#Note.md#' sedAbC123 Note.md.tmp.12.ab34 Note.md.lock .#Note.md")
	m.checkNames(t, "F", "Note.md")
}

func mustReadDir(t testing.TB, m *mounted, p string) []bridge.Info {
	t.Helper()
	entries, err := m.ReadDir(t.Context(), model.Path(p))
	if err != nil {
		t.Fatal(err)
	}
	return entries
}

func TestGitRepositoryInAFolder(t *testing.T) {
	need.Programs(t, "git")
	m := mount(t, map[string]string{"F/Note.md": tideTable})
	after := strings.Replace(tideTable, "six", "seven", 1)
	t.Setenv("GIT_CONFIG_GLOBAL", "/dev/null")
	m.sh(t, "F", `
git init -q . && git config user.email a@b && git config user.name a && git add Note.md && git commit -q -m one
sed -i s/six/seven/ Note.md && git commit -q -a -m two && git log --oneline | wc -l && git checkout -q HEAD~ && git checkout -q - && git fsck && git status --short`)
	m.checkSuggested(t, "F/Note.md", tideTable, after)
	if _, err := m.Stat(t.Context(), "F/.git"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("stat of .git in the workspace: %v, want that it does not exist", err)
	}
}

// In suggest mode names change on the mount, and not for people.
func TestStructureIsProposed(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		"F/Note.md": tideTable, "F/Other.md": "see [[Note]]\n", "F/sub/b.md": "b\n", "F/gone/c.md": "c\n", "F/image.png": "\x89PNG",
		"F/Swap.md": "swapped\n",
	}
	m := mount(t, files)
	m.sh(t, "F", "mv Note.md sub/Renamed.md && mv sub moved && rm -r gone && mv image.png pic.png && mkdir new && mv Swap.md new/")
	m.checkNames(t, "F", "Other.md", "moved", "new", "pic.png")
	m.checkNames(t, "F/moved", "Renamed.md", "b.md")
	m.checkNames(t, "F/new", "Swap.md")
	checkText(t, "renamed note", m.cat(t, "F/moved/Renamed.md"), tideTable)
	checkText(t, "note with a link", m.cat(t, "F/Other.md"), "see [[Renamed]]\n")
	checkText(t, "source of the note with a link", m.SourceText("F/Other.md"), "see {--[[Note]]--}{++[[Renamed]]++}\n")
	for _, p := range []string{"F/Note.md", "F/sub/b.md", "F/gone/c.md", "F/image.png", "F/Swap.md"} {
		if want := files[p]; want != "" {
			checkText(t, "source of "+p, m.SourceText(p), want)
		}
	}
	m.sh(t, "F", "echo more >> moved/Renamed.md && echo b2 > moved/b.md")
	checkText(t, "source of an edit", m.SourceText("F/sub/b.md"), "{--b--}{++b2++}\n")

	ids := m.proposed(t)
	if len(ids) != 6 {
		t.Errorf("%d proposals, want 6", len(ids))
	}
	out, err := m.Decide(t.Context(), ids, model.Accepted, model.Author{Name: "person"})
	if err != nil || len(out.Failed) > 0 {
		t.Fatalf("accepting: %+v, %v", out, err)
	}
	if got := m.SourceText("F/moved/Renamed.md"); !strings.Contains(got, "more++}") {
		t.Errorf("the accepted note holds %q", got)
	}
	checkText(t, "source of the accepted link", m.SourceText("F/Other.md"), "see [[Renamed]]\n")
	m.checkNames(t, "F", "Other.md", "moved", "new", "pic.png")
}

// proposed are the IDs of everything that is proposed.
func (m *mounted) proposed(t *testing.T) (ids []string) {
	list, err := m.Proposals(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range list {
		ids = append(ids, p.ID)
	}
	return ids
}

// What is rejected is back on the mount, with what the kernel knew about it.
func TestRejectedProposalsOnTheMount(t *testing.T) {
	t.Parallel()
	m := mount(t, map[string]string{"F/Note.md": tideTable, "F/A.md": "a\n", "F/B.md": "b\n", "F/sub/b.md": "b\n"})
	m.sh(t, "F", "rm Note.md; rm -r sub; mv A.md tmp.md; mv B.md A.md; mv tmp.md B.md; ! cat Note.md; cat A.md B.md")
	checkText(t, "exchanged note", m.cat(t, "F/A.md"), "b\n")
	if out, err := m.Decide(t.Context(), m.proposed(t), model.Rejected, model.Author{Name: "person"}); err != nil || len(out.Failed) > 0 {
		t.Fatalf("rejecting: %+v, %v", out, err)
	}
	eventually(t, func() error {
		if got := m.names(t, "F"); !slices.Equal(got, []string{"A.md", "B.md", "Note.md", "sub"}) {
			return fmt.Errorf("folder holds %q", got)
		}
		if err := wants("A.md", m.cat(t, "F/A.md"), "a\n"); err != nil {
			return err
		}
		return wants("Note.md", m.cat(t, "F/Note.md"), tideTable)
	})
}

// A note that is unlinked and written anew is the same note, edited.
func TestUnlinkAndWriteAnew(t *testing.T) {
	t.Parallel()
	m := mount(t, map[string]string{"F/Note.md": "one two\n"})
	m.sh(t, "F", "rm Note.md && echo 'one 2' > Note.md")
	checkText(t, "note", m.cat(t, "F/Note.md"), "one 2\n")
	checkText(t, "source", m.SourceText("F/Note.md"), "one {--two--}{++2++}\n")
	if ids := m.proposed(t); len(ids) > 0 {
		t.Errorf("%d proposals wait", len(ids))
	}
	m.sh(t, "F", "echo draft > New.md && mv New.md Newer.md && rm Newer.md")
	m.checkNames(t, "F", "Note.md")
	if ids := m.proposed(t); len(ids) > 0 {
		t.Errorf("%d proposals about an agent's own new note", len(ids))
	}
}

// Saves that begin with an unlink go through however much was deleted a moment ago;
// what a program goes on to delete comes back.
func TestBrakeLetsSavesThrough(t *testing.T) {
	t.Parallel()
	files := make(map[string]string)
	for i := range 12 {
		files[fmt.Sprintf("F/n%02d.md", i)] = "one two\n"
	}
	m := mount(t, files)
	m.sh(t, "F", "rm n00.md n01.md n02.md n03.md n04.md")
	for _, remove := range []string{"rm n05.md n06.md", "find . -name 'n0[56].md' -delete", `perl -e 'unlink("n05.md") && unlink("n06.md") || die "$!"'`} {
		m.fails(t, "F", remove, "Operation not permitted")
		eventually(t, func() error { // the first may have been about to be written again
			return wants("number of notes", fmt.Sprint(len(m.names(t, "F"))), "7")
		})
	}
	m.sh(t, "F", `python3 -c '
import os
for i in range(5, 12):
    name = "n%02d.md" % i
    os.unlink(name)
    with open(name, "w") as f: f.write("one 2\n")'`)
	for i := 5; i < 12; i++ {
		checkText(t, "source", m.SourceText(fmt.Sprintf("F/n%02d.md", i)), "one {--two--}{++2++}\n")
	}
	m.sh(t, "F", `python3 -c 'import os; os.unlink("n07.md")'; test ! -e n07.md`)
	eventually(t, func() error {
		if !slices.Contains(m.names(t, "F"), "n07.md") {
			return errors.New("the sixth deletion within a minute is not taken back")
		}
		return nil
	})
	m.fails(t, "F", `python3 -c '
import os
for i in range(5, 12): os.unlink("n%02d.md" % i)'`, "Operation not permitted")
}

// rm -rf stops before it has proposed to delete too much.
func TestBrakeOnTheMount(t *testing.T) {
	t.Parallel()
	files := make(map[string]string)
	for i := range 30 {
		files[fmt.Sprintf("F/n%02d.md", i)] = "text\n"
	}
	m := mount(t, files)
	m.fails(t, "F", "rm *.md", "Operation not permitted")
	if got := len(m.names(t, "F")); got != 25 {
		t.Errorf("%d notes are left, want 25", got)
	}
	if !strings.Contains(m.log.String(), "would delete too many notes at once") {
		t.Error("the log does not say why")
	}
}

// Where names may not change, a program still saves by putting a file in the place of one that it unlinks.
func TestDenialLetsSavesThrough(t *testing.T) {
	need.Programs(t, "git")
	t.Setenv("GIT_CONFIG_GLOBAL", "/dev/null")
	t.Setenv("OTHER", t.TempDir())
	after := strings.Replace(tideTable, "six", "seven", 1)
	for program, script := range map[string]string{
		"cp":                  `sed s/six/seven/ Note.md > x.tmp && cp --remove-destination x.tmp Note.md`,
		"install":             `sed s/six/seven/ Note.md > x.tmp && install -m 644 x.tmp Note.md`,
		"mv":                  `sed s/six/seven/ Note.md > "$OTHER/mv.md" && mv "$OTHER/mv.md" Note.md`,
		"mv, by another name": `sed s/six/seven/ Note.md > "$OTHER/mv.md" && cp "$(command -v mv)" "$OTHER/move" && "$OTHER/move" "$OTHER/mv.md" Note.md`,
		"python":              `python3 -c 'import os; text = open("Note.md").read(); os.unlink("Note.md"); open("Note.md", "x").write(text.replace("six", "seven"))'`,
		"perl":                `sed s/six/seven/ Note.md > x.tmp && perl -e 'unlink("Note.md") && rename("x.tmp", "Note.md") || die "$!"'`,
		"rsync":               `sed s/six/seven/ Note.md > "$OTHER/Note.md" && rsync --inplace --ignore-times "$OTHER/Note.md" Note.md`,
		"tar":                 `sed s/six/seven/ Note.md > "$OTHER/Note.md" && tar -cf "$OTHER/n.tar" -C "$OTHER" Note.md && tar -xf "$OTHER/n.tar"`,
		"git": `git init -q . && git config user.email a@b && git config user.name a && git add Note.md && git commit -q -m one &&
sed -i s/six/seven/ Note.md && git commit -q -a -m two && git checkout -q HEAD~ && git checkout -q -`,
	} {
		t.Run(program, func(t *testing.T) {
			m := mount(t, map[string]string{"F/Note.md": tideTable}, deny)
			m.sh(t, "F", script)
			m.checkSuggested(t, "F/Note.md", tideTable, after)
		})
	}
}

// What a program unlinks comes back with what the program writes there, however many files it unlinks first.
func TestGraceLastsWhileAProgramIsBusy(t *testing.T) {
	t.Parallel()
	files := make(map[string]string)
	for i := range 4 {
		files[fmt.Sprintf("F/n%d.md", i)] = "one two\n"
	}
	m := mount(t, files, direct)
	ids := make(map[string]uint64)
	for p := range files {
		info, err := m.Stat(t.Context(), model.Path(p))
		if err != nil {
			t.Fatal(err)
		}
		ids[p] = info.ID
	}
	m.sh(t, "F", `python3 -c '
import os, time
for i in range(4):
    os.unlink("n%d.md" % i)
    time.sleep(1.2)
for i in range(4):
    with open("n%d.md" % i, "w") as f: f.write("one 2\n")'`)
	for p, id := range ids {
		if info, err := m.Stat(t.Context(), model.Path(p)); err != nil || info.ID != id {
			t.Errorf("%s: ID %d, %v, want %d as before", p, info.ID, err, id)
		}
		checkText(t, p, m.cat(t, p), "one 2\n")
	}
}

// A note that is proposed to be renamed, and that a program unlinks at its new name and puts there again, is still that note,
// and still proposed to be renamed, whatever the program.
func TestRenamedNoteIsReplaced(t *testing.T) {
	t.Setenv("OTHER", t.TempDir())
	after := strings.Replace(tideTable, "six", "seven", 1)
	for program, script := range map[string]string{
		"mv":                  `mv "$OTHER/new.md" New.md`,
		"mv, by another name": `cp "$(command -v mv)" "$OTHER/move" && "$OTHER/move" "$OTHER/new.md" New.md`,
		"cp":                  `cp --remove-destination "$OTHER/new.md" New.md`,
		"rm and cp":           `rm New.md && cp "$OTHER/new.md" New.md`,
		"rm and mv":           `cp "$OTHER/new.md" x.tmp && rm New.md && mv x.tmp New.md`,
		"python":              `python3 -c 'import os; os.unlink("New.md"); open("New.md", "x").write(open(os.environ["OTHER"] + "/new.md").read())'`,
	} {
		t.Run(program, func(t *testing.T) {
			m := mount(t, map[string]string{"F/Note.md": tideTable})
			m.sh(t, "F", `mv Note.md New.md && sed s/six/seven/ New.md > "$OTHER/new.md"`)
			m.sh(t, "F", script)
			checkText(t, "the note", m.cat(t, "F/New.md"), after)
			m.checkNames(t, "F", "New.md")
			m.checkSuggested(t, "F/Note.md", tideTable, after)
			list, err := m.Proposals(t.Context(), "")
			if err != nil || len(list) != 1 || list[0].Kind != model.ProposedRename {
				t.Errorf("proposals: %+v, %v, want one to rename the note", list, err)
			}
		})
	}
}

// What rm removes goes at once, also a note that is proposed to be renamed: nothing brings it back.
func TestRenamedNoteIsRemoved(t *testing.T) {
	t.Parallel()
	m := mount(t, map[string]string{"F/Note.md": tideTable})
	m.sh(t, "F", "mv Note.md New.md && rm New.md")
	list, err := m.Proposals(t.Context(), "")
	if err != nil || len(list) != 1 || list[0].Kind != model.ProposedDelete {
		t.Errorf("proposals: %+v, %v, want one to delete the note", list, err)
	}
	m.checkNames(t, "F")
}

// A note that a user changes or moves within the grace of its unlink stays.
func TestUserChangesUnlinkedNote(t *testing.T) {
	t.Parallel()
	m := mount(t, map[string]string{"F/Note.md": tideTable, "F/Moved.md": "moved\n", "F/sub/Note.md": "sub\n", "F/Gone.md": "gone\n"}, direct)
	m.sh(t, "F", "rm Note.md Moved.md Gone.md && rm -r sub")
	m.Person("F/Note.md", tideTable+"typed\n")
	m.Person("F/sub/Note.md", "sub\ntyped\n")
	m.Rename("F/Moved.md", "F/There.md")
	eventually(t, func() error {
		if m.exists(t, "F/Gone.md") {
			return errors.New("Gone.md is still there")
		}
		if got, want := m.names(t, "F"), []string{"Note.md", "There.md", "sub"}; !slices.Equal(got, want) {
			return fmt.Errorf("folder holds %q, want %q", got, want)
		}
		return nil
	})
	checkText(t, "changed note", m.SourceText("F/Note.md"), tideTable+"typed\n")
	checkText(t, "changed note of the removed folder", m.SourceText("F/sub/Note.md"), "sub\ntyped\n")
	checkText(t, "moved note", m.SourceText("F/There.md"), "moved\n")
}

// A save by unlinking is a save of a renamed note of a renamed folder, too.
func TestUnlinkAndWriteAnewInRenamedFolder(t *testing.T) {
	t.Parallel()
	m := mount(t, map[string]string{"F/sub/Note.md": "one\n"})
	m.sh(t, "F", "mv sub/Note.md sub/Name.md && mv sub dir && rm dir/Name.md && printf 'one\ntwo\n' > dir/Name.md")
	m.checkSuggested(t, "F/sub/Note.md", "one\n", "one\ntwo\n")
	m.checkProposed(t, "rename F/sub F/dir", "rename F/sub/Note.md F/dir/Name.md")
}
