package fusefs_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/tests/need"
)

// sourceNames lists what people have in a root.
func (m *mounted) sourceNames(t testing.TB, folder string) []string {
	t.Helper()
	var names []string
	if err := m.Source(folder).Scan(t.Context(), func(e model.SourceEntry) { names = append(names, e.Rel) }); err != nil {
		t.Fatal(err)
	}
	slices.Sort(names)
	return names
}

// checkProposed compares what waits, "kind path" or "rename path new-path" each.
func (m *mounted) checkProposed(t testing.TB, want ...string) {
	t.Helper()
	got := m.Proposed()
	if !slices.Equal(got, want) {
		t.Errorf("proposed: %q, want %q", got, want)
	}
}

// What programs make and take away again leaves nothing for people to decide on.
func TestWhatCancelsOut(t *testing.T) {
	t.Parallel()
	for _, script := range []string{
		`mkdir "New Folder" && rmdir "New Folder"`,
		`mkdir "New Folder" && mv "New Folder" Projects && rmdir Projects`,
		`mkdir -p a/b/c && rm -r a`,
		`mkdir -p a/b && echo x > a/b/n.md && touch a/.x && rm -r a`,
		`mv sub s2 && mkdir sub && rmdir sub && mv s2 sub`,
		`mkdir d && mv Note.md d/ && mv d/Note.md . && rmdir d`,
		`echo x > New.md && rm New.md`,
		`printf -- '---\na: 1\n---\n' > New.md && rm New.md`,
		`touch New.md && sync New.md && rm New.md`,
		`mv Note.md Other.md && mv Other.md Note.md`,
		`mv sub s2 && mv s2 sub`,
	} {
		t.Run(script, func(t *testing.T) {
			m := mount(t, map[string]string{"F/Note.md": tideTable, "F/sub/b.md": "[[Note]]\n"})
			m.sh(t, "F", script)
			m.checkProposed(t)
			m.checkNames(t, "F", "Note.md", "sub")
			if got := m.sourceNames(t, "F"); !slices.Equal(got, []string{"Note.md", "sub", "sub/b.md"}) {
				t.Errorf("people have %q", got)
			}
			checkText(t, "source of a note with a link", m.SourceText("F/sub/b.md"), "[[Note]]\n")
		})
	}
	m := mount(t, map[string]string{"F/Note.md": tideTable})
	m.sh(t, "F", "mv Note.md B.md && mv B.md C.md")
	m.checkProposed(t, "rename F/Note.md F/C.md")
}

// Renames that git made and takes back are taken back: people see no trace.
func TestGitTakesRenamesBack(t *testing.T) {
	need.Programs(t, "git")
	t.Setenv("GIT_CONFIG_GLOBAL", "/dev/null")
	files := map[string]string{"F/n6.md": tideTable, "F/a.md": "a\n", "F/b.md": "b\n", "F/c.md": "c\n", "F/d/x.md": "x\n", "F/d/y.md": "see [[n6]]\n"}
	const commit, back = "git add -A && git commit -q -m two", "git reset -q --hard HEAD~1"
	for _, script := range []string{
		`git mv n6.md "n6 1.md" && git commit -q -m two && ` + back,
		`git mv n6.md "n6 1.md" && git commit -q -m two && git checkout -q HEAD~1`,
		`git mv n6.md "n6 1.md" && sed -i s/six/seven/ "n6 1.md" && ` + commit + " && " + back,
		`git mv n6.md d/ && ` + commit + " && " + back,
		`git mv d e && ` + commit + " && " + back,
		`git mv d/y.md z.md && git mv d e && ` + commit + " && " + back,
		`git mv a.md b2.md && echo new > a.md && ` + commit + " && " + back,
		`for n in n6 a b c d/x d/y; do git mv $n.md $n-2.md; done && ` + commit + " && " + back,
	} {
		t.Run(script, func(t *testing.T) {
			m := mount(t, files)
			m.sh(t, "F", "git init -q . && git config user.email a@b && git config user.name a && git add -A && git commit -q -m one")
			before := m.sourceNames(t, "F")
			m.sh(t, "F", script)
			check := func() {
				t.Helper()
				m.checkProposed(t)
				if got := m.sourceNames(t, "F"); !slices.Equal(got, before) {
					t.Errorf("people have %q, want %q", got, before)
				}
				for p, text := range files {
					checkText(t, p+" on the mount", m.cat(t, p), text)
					checkText(t, "source of "+p, m.SourceText(p), text)
				}
				checkText(t, "git status", m.sh(t, "F", "git status --short"), "")
			}
			check()
			if !t.Failed() && strings.HasPrefix(script, "git mv n6.md \"n6 1.md\" && git commit") {
				time.Sleep(4 * time.Second) // nothing happens to it later
				check()
			}
		})
	}
}

// Where git writes exchanged names one by one, what waits leads to what git wrote.
func TestGitTakesExchangedNamesBack(t *testing.T) {
	need.Programs(t, "git")
	t.Setenv("GIT_CONFIG_GLOBAL", "/dev/null")
	files := map[string]string{"F/a.md": "a\n", "F/b.md": "b\n", "F/c.md": "c\n"}
	m := mount(t, files)
	m.sh(t, "F", `git init -q . && git config user.email a@b && git config user.name a && git add -A && git commit -q -m one
mv a.md t.md && mv b.md a.md && mv c.md b.md && mv t.md c.md && git add -A && git commit -q -m two && git reset -q --hard HEAD~1`)
	pending, err := m.Suggestions(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	ids := m.proposed(t)
	for _, s := range pending {
		ids = append(ids, s.ID)
	}
	if out, err := m.Decide(t.Context(), ids, model.Accepted, model.Author{Name: "person"}); err != nil || len(out.Failed) > 0 {
		t.Fatalf("accepting: %+v, %v", out, err)
	}
	if got := m.sourceNames(t, "F"); len(got) != len(files) {
		t.Errorf("people have %q", got)
	}
	for p, text := range files {
		checkText(t, "source of "+p, m.SourceText(p), text)
	}
}
