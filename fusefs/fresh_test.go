package fusefs_test

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/bridgetest"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/diffwrap"
	"github.com/relayfs/relayfs/tests/randomtest"
)

// freshMount is a mount of one note, and what its root is kept in.
type freshMount struct {
	*mounted
	id    uint64
	store *bridgetest.Store
}

func mountFresh(t *testing.T, text string, opts ...func(*bridge.Options)) freshMount {
	var store *bridgetest.Store
	keep := func(o *bridge.Options) { store = o.Roots[0].Store.(*bridgetest.Store) }
	m := mount(t, map[string]string{"F/Note.md": text, "F/sub/b.md": "b\n"}, append(opts, keep)...)
	info, err := m.Stat(t.Context(), "F/Note.md")
	if err != nil {
		t.Fatal(err)
	}
	return freshMount{m, info.ID, store}
}

// checkEdited checks that Note.md is the same document as ever and says want, and
// that there is nothing else: no proposal, file, suggestion or document.
func (m freshMount) checkEdited(t *testing.T, want string) {
	t.Helper()
	checkText(t, "Note.md", m.cat(t, "F/Note.md"), want)
	info, err := m.Stat(t.Context(), "F/Note.md")
	if err != nil || info.ID != m.id {
		t.Errorf("the workspace has %d at Note.md, %v; want %d", info.ID, err, m.id)
	}
	m.checkNames(t, "F", "Note.md", "sub")
	if names := m.Source("F").Person(t).Names(); !slices.Equal(names, []string{"Note.md", "sub", "sub/b.md"}) {
		t.Errorf("the source holds %q", names)
	}
	if ids := m.proposed(t); len(ids) > 0 {
		t.Errorf("%d proposals wait", len(ids))
	}
	list, err := m.Suggestions(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range list {
		if s.Path != "F/Note.md" {
			t.Errorf("a suggestion waits in %s", s.Path)
		}
	}
	if docs, err := m.store.DocIDs(); err != nil || len(docs) > 1 {
		t.Errorf("the store holds %q, %v", docs, err)
	}
	if log, err := m.store.Journal(100); err != nil || len(log) > 0 {
		t.Errorf("the journal holds %+v, %v", log, err)
	}
}

// A new note that is renamed over another one is that one's new content, however it
// was made and whatever the policy for names. Each is tried with two random modes, or in make soak with all.
func TestFreshNoteRenamedOver(t *testing.T) {
	t.Parallel()
	const text = "b\nc\na\n"
	modes := map[string]func(*bridge.Options){
		"suggest": func(*bridge.Options) {},
		"direct":  func(o *bridge.Options) { o.Mode, o.Structure = bridge.Direct, bridge.StructureDirect },
		"plain":   func(o *bridge.Options) { o.Mode = bridge.Direct },
		"deny":    deny,
	}
	tests := []struct{ name, script, want string }{
		{"sort", `sort Note.md > tmp.md && mv tmp.md Note.md`, "a\nb\nc\n"},
		{"awk", `awk '{print $0 "!"}' Note.md > out.md && mv out.md Note.md`, "b!\nc!\na!\n"},
		{"sed -i before", `cp Note.md new.md; sed -i s/c/C/ new.md; mv new.md Note.md`, "b\nC\na\n"},
		{"edited in place before", `cp Note.md new.md; echo d >> new.md; mv new.md Note.md`, "b\nc\na\nd\n"},
		{"moved before", `sort Note.md > x.md; mv x.md y.md; mv y.md Note.md`, "a\nb\nc\n"},
		{"made as scratch", `sort Note.md > x.tmp; mv x.tmp y.md; mv y.md Note.md`, "a\nb\nc\n"},
		{"removed before", `sort Note.md > x.md; rm Note.md; mv x.md Note.md`, "a\nb\nc\n"},
		{"moved away before", `mv Note.md Note.md~; sort Note.md~ > x.md; mv x.md Note.md; rm Note.md~`, "a\nb\nc\n"},
		{"from another folder", `sort Note.md > sub/x.md; mv sub/x.md Note.md`, "a\nb\nc\n"},
		{"from another Folder", `sort Note.md > ../G/x.md; mv ../G/x.md Note.md; test "$(ls ../G)" = g.md`, "a\nb\nc\n"},
		{"the same bytes", `cp Note.md x.md; mv x.md Note.md`, text},
		{"empty", `: > x.md; mv x.md Note.md`, ""},
		{"a line break", `echo > x.md; mv x.md Note.md`, "\n"},
		{"empty and kept", `python3 -c 'import os; f = open("x.md", "w"); os.fsync(f.fileno())'; mv x.md Note.md`, ""},
		{"read-only", `sort Note.md > x.md; chmod 444 x.md; mv -f x.md Note.md; test $(stat -c %a Note.md) = 444`, "a\nb\nc\n"},
		{"twice", `sort Note.md > x.md; mv x.md Note.md; sort -r Note.md > x.md; mv x.md Note.md`, "c\nb\na\n"},
		{"open for writing", `python3 -c '
import os
f = open("x.md", "w"); f.write("a\n"); f.flush(); os.rename("x.md", "Note.md"); f.write("b\n"); f.close()'`, "a\nb\n"},
		{"open for writing, and kept", `python3 -c '
import os
f = open("x.md", "w"); f.write("a\n"); f.flush(); os.fsync(f.fileno()); os.rename("x.md", "Note.md"); f.write("b\n"); f.close()'`, "a\nb\n"},
		{"read on both sides", `sort Note.md > x.md; exec 3< Note.md 4< x.md; mv x.md Note.md; test "$(cat <&3)" = "$(printf 'b\nc\na')"; test "$(cat <&4)" = "$(printf 'a\nb\nc')"`, "a\nb\nc\n"},
		{"os.replace", `python3 -c '
import os
open("x.md", "w").write("".join(sorted(open("Note.md")))); os.replace("x.md", "Note.md")'`, "a\nb\nc\n"},
		{"the time", `sort Note.md > x.md; t=$(stat -c %Y x.md); mv x.md Note.md; test $(stat -c %Y Note.md) = $t`, "a\nb\nc\n"},
	}
	random := randomtest.New(t)
	for _, tt := range tests {
		left := map[string]bool{randomtest.Pick(random, "suggest", "deny"): true, randomtest.Pick(random, "direct", "plain"): true}
		for mode, set := range modes {
			if left[mode] && !randomtest.Soaks() {
				continue
			}
			if (mode == "deny" || mode == "plain") && (tt.name == "moved before" || tt.name == "removed before" && mode == "deny") {
				continue // what comes before is refused, or is a proposal
			}
			t.Run(mode+", "+tt.name, func(t *testing.T) {
				other := func(o *bridge.Options) {
					src := bridgetest.NewSource(t)
					src.Person(t).Save("g.md", "g\n")
					o.Roots = append(o.Roots, bridge.RootSource{Name: "G", Source: src, Store: bridgetest.NewStore(t)})
				}
				m := mountFresh(t, text, set, other)
				m.sh(t, "F", "set -e\n"+tt.script)
				m.checkEdited(t, tt.want)
				if mode == "suggest" || mode == "deny" {
					m.checkSuggested(t, "F/Note.md", text, tt.want)
				} else {
					checkText(t, "source", m.SourceText("F/Note.md"), tt.want)
				}
			})
		}
	}
}

// The front matter of a new note is in the journal. It goes with the note.
func TestFreshNoteWithFrontMatter(t *testing.T) {
	t.Parallel()
	m := mountFresh(t, "---\ntags: x\n---\na\n")
	m.sh(t, "F", "sed s/a$/b/ Note.md > x.md; mv x.md Note.md")
	m.checkEdited(t, "---\ntags: x\n---\nb\n")
}

// What the writer was shown is the base: a person's words in the note meanwhile stay.
func TestPersonBeforeFreshNoteIsRenamedOver(t *testing.T) {
	t.Parallel()
	m := mountFresh(t, tideTable)
	m.sh(t, "F", "sed s/six/seven/ Note.md > x.md")
	personal := strings.Replace(tideTable, "quiet", "loud", 1) + "A person's last line.\n"
	m.Person("F/Note.md", personal)
	m.sh(t, "F", "mv x.md Note.md")
	m.checkSuggested(t, "F/Note.md", personal, strings.Replace(personal, "six", "seven", 1))
	eventually(t, func() error {
		return wants("Note.md", m.cat(t, "F/Note.md"), strings.Replace(personal, "six", "seven", 1))
	})
	m.checkNames(t, "F", "Note.md", "sub")
}

// A new note that somebody else has to do with is renamed as any note is.
func TestTouchedNoteRenamedOver(t *testing.T) {
	t.Parallel()
	person := model.Author{Name: "person"}
	for name, touch := range map[string]func(*testing.T, *mounted){
		"a person saved it": func(t *testing.T, m *mounted) { m.Person("F/x.md", m.SourceText("F/x.md")+"A person's.\n") },
		"a person saved it, unnoticed": func(t *testing.T, m *mounted) {
			m.Source("F").Person(t).Save("x.md", m.SourceText("F/x.md")+"A person's.\n")
		},
		"a person decided": func(t *testing.T, m *mounted) {
			list, err := m.Suggestions(t.Context(), "F/x.md")
			if err != nil || len(list) == 0 {
				t.Fatalf("%v, %v", list, err)
			}
			if _, err := m.Decide(t.Context(), []string{list[0].ID}, model.Accepted, person); err != nil {
				t.Fatal(err)
			}
		},
		"another author wrote": func(t *testing.T, m *mounted) {
			m.write(t, "F/x.md", m.cat(t, "F/x.md")+"Bob's.\n", model.Author{Name: "bob", Session: "mount-1"})
		},
		"another session wrote, not on the mount": func(t *testing.T, m *mounted) {
			m.write(t, "F/x.md", m.cat(t, "F/x.md")+"Another's.\n", model.Author{Name: "tester", Session: "mcp-1"})
		},
	} {
		t.Run(name, func(t *testing.T) {
			m := mount(t, map[string]string{"F/Note.md": tideTable})
			m.sh(t, "F", "sed s/six/seven/ Note.md > x.md")
			touch(t, m)
			old := m.SourceText("F/x.md")
			m.sh(t, "F", "mv x.md Note.md")
			checkText(t, "source", m.SourceText("F/Note.md"), tideTable)
			checkText(t, "source of what was renamed", m.SourceText("F/x.md"), old)
			if ids := m.proposed(t); len(ids) != 2 {
				t.Errorf("%d proposals, want a deletion and a rename", len(ids))
			}
		})
	}
}

// Once a note that was not fresh has been renamed over another one, and people have a
// note by its name yet, further saves of that kind are edits all the same.
func TestFreshNoteOfATakenName(t *testing.T) {
	t.Parallel()
	m := mount(t, map[string]string{"F/Note.md": tideTable})
	m.sh(t, "F", "sed s/six/seven/ Note.md > x.md")
	m.Person("F/x.md", m.SourceText("F/x.md")+"A person's.\n")
	m.sh(t, "F", "mv x.md Note.md")
	proposed := m.proposed(t)
	for _, word := range []string{"eight", "nine", "ten"} {
		m.sh(t, "F", "sed 's/^# .*/# "+word+"/' Note.md > x.md && mv x.md Note.md")
		eventually(t, func() error {
			if text := m.cat(t, "F/Note.md"); !strings.Contains(text, "# "+word+"\n") || !strings.Contains(text, "A person's.\n") {
				return fmt.Errorf("the note is %q", text)
			}
			return nil
		})
		if got := m.proposed(t); !slices.Equal(got, proposed) {
			t.Errorf("proposed: %v, want as before, %v", got, proposed)
		}
		if names := m.Source("F").Person(t).Names(); !slices.Equal(names, []string{"Note.md", "x.md"}) {
			t.Errorf("the source holds %q", names)
		}
	}
	if text := m.SourceText("F/x.md"); strings.Contains(text, "{--A person's") {
		t.Errorf("a person's line is to go: %q", text)
	}
}

func (m *mounted) write(t *testing.T, p model.Path, text string, author model.Author) {
	t.Helper()
	if _, err := m.Write(t.Context(), p, bridge.Write{Text: text, By: author}); err != nil {
		t.Fatal(err)
	}
}

// A note that was there before the mount was is renamed as any note is, and a new
// one that is renamed to a free name stays.
func TestRenamesOfOtherNotes(t *testing.T) {
	t.Parallel()
	m := mount(t, map[string]string{"F/Note.md": tideTable, "F/Old.md": "old\n"})
	m.sh(t, "F", "echo new > x.md; mv x.md y.md; mv Old.md Note.md")
	m.checkNames(t, "F", "Note.md", "y.md")
	checkText(t, "source of the new note", m.SourceText("F/y.md"), "{++new\n++}")
	checkText(t, "source of the note", m.SourceText("F/Note.md"), tideTable)
	if ids := m.proposed(t); len(ids) != 2 {
		t.Errorf("%d proposals, want a deletion and a rename", len(ids))
	}
}

// What the note refuses leaves both as they are, and the flags of renameat2 count.
func TestFreshNoteIsNotRenamedOver(t *testing.T) {
	t.Parallel()
	const rename = `import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
r = libc.renameat2(-100, b"x.md", -100, b"Note.md", int(sys.argv[1]))
sys.exit(os.strerror(ctypes.get_errno()) if r else 0)`
	for name, tt := range map[string]struct{ text, script, message string }{
		"NOREPLACE":     {tideTable, `echo x > x.md; python3 -c '` + rename + `' 1`, "File exists"},
		"refused":       {"a {--b--}{++c++}\n", `echo "a d" > x.md; mv x.md Note.md`, "to a subdirectory of itself"}, // as mv puts EINVAL
		"invalid UTF-8": {"a\xff\n", `echo x > x.md; mv x.md Note.md`, "Read-only file system"},
	} {
		t.Run(name, func(t *testing.T) {
			m := mount(t, map[string]string{"F/Note.md": tt.text})
			m.fails(t, "F", tt.script, tt.message)
			m.checkNames(t, "F", "Note.md", "x.md")
			checkText(t, "source", m.SourceText("F/Note.md"), tt.text)
			m.sh(t, "F", "echo more >> x.md")
			checkText(t, "the end of x.md", m.sh(t, "F", "tail -n 1 x.md"), "more\n")
			if got := diffwrap.Everything.Accepted(m.SourceText("F/x.md")); !strings.HasSuffix(got, "more\n") {
				t.Errorf("the source of x.md is %q", got)
			}
		})
	}
}

// A new note that is not UTF-8 is not there to be renamed; while it is open, the
// rename says what is wrong.
func TestFreshNoteOfInvalidUTF8(t *testing.T) {
	t.Parallel()
	m := mountFresh(t, tideTable)
	m.fails(t, "F", `python3 -c '
import os
f = open("x.md", "wb", 0); f.write(b"a\xff\n"); os.rename("x.md", "Note.md")'`, "Invalid or incomplete multibyte")
	m.checkSuggested(t, "F/Note.md", tideTable, tideTable)
	eventually(t, func() error { // the kernel sends RELEASE after close has returned
		if run(t, m.path("F"), "", "test", "-e", "x.md").code == 0 {
			return errors.New("x.md exists")
		}
		return nil
	})
	m.checkEdited(t, tideTable)
}

// Many programs save several notes in this way at once.
func TestFreshNotesRenamedOverAtOnce(t *testing.T) {
	t.Parallel()
	files := make(map[string]string)
	for i := range 8 {
		files[fmt.Sprintf("F/n%d.md", i)] = "0\n"
	}
	m := mount(t, files)
	m.sh(t, "F", `for i in 0 1 2 3 4 5 6 7; do
(for k in 1 2 3 4 5 6 7 8; do (cat n$i.md; echo $k) > new$i.md && mv new$i.md n$i.md || exit 1; done) & pids="$pids $!"
done; for p in $pids; do wait $p || exit 1; done`)
	for p := range files {
		checkText(t, p, m.cat(t, p), "0\n1\n2\n3\n4\n5\n6\n7\n8\n")
		m.checkSuggested(t, p, "0\n", "0\n1\n2\n3\n4\n5\n6\n7\n8\n")
	}
	for i := range 8 {
		if _, err := m.Stat(t.Context(), model.Path(fmt.Sprintf("F/new%d.md", i))); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("new%d.md: %v", i, err)
		}
	}
	if ids := m.proposed(t); len(ids) > 0 {
		t.Errorf("%d proposals wait", len(ids))
	}
}

// A person writes in the new note while it is renamed over another: what the person
// wrote stays where it was written, and the other note has its new content.
func TestPersonInFreshNoteWhileItIsRenamedOver(t *testing.T) {
	t.Parallel()
	const personal = "A person's.\n"
	m := mount(t, map[string]string{"F/Note.md": tideTable}, func(o *bridge.Options) {
		src := o.Roots[0].Source.(*bridgetest.Source)
		o.Roots[0].Source = bridgetest.Meddled{Source: src, Before: func() { src.Person(t).Save("x.md", personal) }}
	})
	m.sh(t, "F", "sed s/six/seven/ Note.md > x.md; mv x.md Note.md")
	m.checkSuggested(t, "F/Note.md", tideTable, strings.Replace(tideTable, "six", "seven", 1))
	checkText(t, "Note.md", m.cat(t, "F/Note.md"), strings.Replace(tideTable, "six", "seven", 1))
	checkText(t, "source of the new note", m.SourceText("F/x.md"), personal)
	eventually(t, func() error { return wants("new note", m.sh(t, "F", "cat x.md 2>&1; true"), personal) })
	m.checkNames(t, "F", "Note.md", "x.md")
	m.sh(t, "F", "echo more >> Note.md; echo more >> x.md")
	m.checkSuggested(t, "F/x.md", personal, personal+"more\n")
}

// A new note that replaces another new one leaves that one, as its author's.
func TestFreshNoteRenamedOverAFreshOne(t *testing.T) {
	t.Parallel()
	m := mount(t, map[string]string{"F/Old.md": "old\n"})
	m.sh(t, "F", `printf 'b\na\n' > Note.md; sort Note.md > x.md; mv x.md Note.md; sort -r Note.md > y.md; mv y.md Note.md; sed -i s/a/A/ Note.md`)
	m.checkNames(t, "F", "Note.md", "Old.md")
	m.checkSuggested(t, "F/Note.md", "", "b\nA\n")
	if ids := m.proposed(t); len(ids) > 0 {
		t.Errorf("%d proposals wait", len(ids))
	}
}

// On a server's folder everybody has a new note as soon as it is closed: it is renamed
// as any note is. One that is still being written is nobody's yet.
func TestFreshNoteOfAServer(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		script    string
		proposals int
	}{
		"closed": {`sed s/six/seven/ Note.md > x.md; mv x.md Note.md`, 2},
		"open": {`python3 -c '
import os
f = open("x.md", "w"); f.write(open("Note.md").read().replace("six", "seven")); f.flush(); os.rename("x.md", "Note.md"); f.close()'`, 0},
	} {
		t.Run(name, func(t *testing.T) {
			live := bridgetest.NewLive(t, bridgetest.NewStore(t))
			live.Person(t).Save("Note.md", tideTable)
			m := mount(t, nil, func(o *bridge.Options) {
				o.Roots = append(o.Roots, bridge.RootSource{Name: "L", Source: live, Store: live.Store})
			})
			m.sh(t, "L", tt.script)
			checkText(t, "Note.md", m.cat(t, "L/Note.md"), strings.Replace(tideTable, "six", "seven", 1))
			m.checkNames(t, "L", "Note.md")
			if ids := m.proposed(t); len(ids) != tt.proposals {
				t.Errorf("%d proposals, want %d", len(ids), tt.proposals)
			}
		})
	}
}

// mv would report EINVAL as a move of a directory into itself.
func TestNoteKeepsItsExtension(t *testing.T) {
	t.Parallel()
	m := mount(t, map[string]string{"F/Note.md": "a\n", "F/data.json": "{}\n"})
	m.fails(t, "F", "mv Note.md Note.txt", "Operation not permitted")
	m.fails(t, "F", "mv data.json data.md", "Operation not permitted")
	m.checkNames(t, "F", "Note.md", "data.json")
}
