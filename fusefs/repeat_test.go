package fusefs_test

import (
	"strings"
	"testing"

	"github.com/relayfs/relayfs/bridge/model"
)

// A program that writes a whole text after a user has rejected the same text proposes it again, whether or not it has
// read the note in the meantime. What the user wrote stays.
func TestRejectedTextIsWrittenAgain(t *testing.T) {
	t.Parallel()
	const before = "one\ntwo\nthree words\n"
	const after = "one\ntwo\nthree WORDS\n"
	const personal = "\nA person's.\n"
	scripts := map[string]string{
		"in place":                          `sed -i s/words/WORDS/ Note.md`,
		"by another name":                   `sed s/words/WORDS/ Note.md > x && mv x Note.md`,
		"moved away and written again":      `mv Note.md Note.bak && sed s/words/WORDS/ Note.bak > Note.md && rm Note.bak`,
		"moved away, backup kept":           `mv Note.md Note.md~ && sed s/words/WORDS/ Note.md~ > Note.md`,
		"removed and written again":         `c=$(mktemp) && cp Note.md $c && rm Note.md && sed s/words/WORDS/ $c > Note.md && rm $c`,
		"without reading":                   `printf 'one\ntwo\nthree WORDS\n' > Note.md`,
		"without reading, by another name":  `printf 'one\ntwo\nthree WORDS\n' > x && mv x Note.md`,
		"without reading, after it is gone": `rm Note.md && printf 'one\ntwo\nthree WORDS\n' > Note.md`,
	}
	for first, firstScript := range map[string]string{"sed": scripts["in place"], "sed, cat": scripts["in place"] + "; cat Note.md > /dev/null"} {
		for name, script := range scripts {
			t.Run(first+"; "+name, func(t *testing.T) {
				t.Parallel()
				m := mount(t, map[string]string{"F/Note.md": before})
				m.sh(t, "F", firstScript)
				m.checkSuggested(t, "F/Note.md", before, after)
				m.rejectAll(t)
				want, text := before, after
				if strings.HasPrefix(name, "without") && !strings.HasSuffix(name, "gone") {
					m.Person("F/Note.md", before+personal)
					want, text = before+personal, after+personal
				}
				m.sh(t, "F", script)
				m.checkSuggested(t, "F/Note.md", want, text)
			})
		}
	}
}

// A program that writes another text after a rejection proposes the whole difference from the note.
func TestRejectedTextIsWrittenInAnotherForm(t *testing.T) {
	t.Parallel()
	for name, texts := range map[string][3]string{
		"changed": {"one\ntwo\n", "one\nTWO\n", "one\nTWO, again\n"},
		"added":   {"one\n", "one\ntwo\n", "one\ntwo\nthree\n"},
		"deleted": {"one\ntwo\nthree\n", "one\nthree\n", "one\nTHREE\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := mount(t, map[string]string{"F/Note.md": texts[0]})
			for _, text := range texts[1:] {
				m.sh(t, "F", "printf '"+text+"' > Note.md; cat Note.md > /dev/null")
				m.checkSuggested(t, "F/Note.md", texts[0], text)
				m.rejectAll(t)
			}
		})
	}
}

// A copy that a program writes back unchanged changes nothing, although the note has changed since.
func TestUnchangedCopyKeepsNewerText(t *testing.T) {
	t.Parallel()
	const before, personal = "one\ntwo\n", "one\ntwo\nA person's.\n"
	m := mount(t, map[string]string{"F/Note.md": before})
	m.sh(t, "F", "cat Note.md > copy.tmp")
	m.Person("F/Note.md", personal)
	m.sh(t, "F", "cat copy.tmp > Note.md")
	checkText(t, "source", m.SourceText("F/Note.md"), personal)
}

func (m *mounted) rejectAll(t *testing.T) {
	t.Helper()
	list, err := m.Suggestions(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, s := range list {
		ids = append(ids, s.ID)
	}
	if _, err := m.Decide(t.Context(), ids, model.Rejected, model.Author{Name: "person"}); err != nil {
		t.Fatal(err)
	}
}
