package fusefs_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/relayfs/relayfs/bridge"
)

// sourceNames lists what people have in a Folder.
func (m *mounted) sourceNames(t testing.TB, folder string) []string {
	t.Helper()
	var names []string
	if err := m.Source(folder).Scan(t.Context(), func(e bridge.SourceEntry) { names = append(names, e.Rel) }); err != nil {
		t.Fatal(err)
	}
	slices.Sort(names)
	return names
}

// checkProposed compares what waits, "kind path" or "rename path new-path" each.
func (m *mounted) checkProposed(t testing.TB, want ...string) {
	t.Helper()
	list, err := m.Proposals(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range list {
		got = append(got, strings.TrimSpace(string(p.Kind)+" "+string(p.Path)+" "+string(p.NewPath)))
	}
	if !slices.Equal(got, want) {
		t.Errorf("proposed: %q, want %q", got, want)
	}
}

// What programs make and take away again leaves nothing for people to decide on.
func TestWhatCancelsOut(t *testing.T) {
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
