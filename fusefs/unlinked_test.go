package fusefs_test

import (
	"fmt"
	"testing"
)

// A program reads a note, removes it and writes it again, which is an edit of the note. Meanwhile a user changes the
// note in the vault, before or after the removal. The note has both changes, and the program suggests only its own.
func TestUserSavesNoteThatIsUnlinkedAndWritten(t *testing.T) {
	t.Parallel()
	const text = "one\ntwo\nthree\nfour\nfive\n"
	for name, prepare := range map[string]string{"note": `0`, "renamed note": `os.rename("Note.md", "Name.md")`} {
		for i, how := range []string{"write", "write", "replace", "replace"} {
			user := i % 2 // the user's step
			t.Run(fmt.Sprintf("%s, %s, user's step %d", name, how, user), func(t *testing.T) {
				t.Parallel()
				m := mount(t, map[string]string{"F/Note.md": text})
				a := m.agent(t, "F")
				a.do(prepare)
				at := `"Note.md"`
				if name == "renamed note" {
					at = `"Name.md"`
				}
				a.do(`keep("text", read(%s))`, at)
				steps := []func(){
					func() { m.Person("F/Note.md", text+"typed\n") },
					func() {
						if got := a.do(`os.remove(%s)`, at); got != "null" {
							t.Fatal(got)
						}
					},
				}
				steps[user]()
				steps[1-user]()
				if got := a.do(`%s(%s, held["text"].replace("two", "second"))`, how, at); got != "null" {
					t.Fatal(got)
				}
				m.checkSuggested(t, "F/Note.md", text+"typed\n", "one\nsecond\nthree\nfour\nfive\ntyped\n")
				want := []string(nil)
				if name == "renamed note" {
					want = []string{"rename F/Note.md F/Name.md"}
				}
				m.checkProposed(t, want...)
			})
		}
	}
}

// A program removes a note that it has not read, and writes another text at its name. What a user types in the file in
// between stays, because the program cannot have known it.
func TestUserSavesUnreadNoteThatIsUnlinkedAndWritten(t *testing.T) {
	t.Parallel()
	m := mount(t, map[string]string{"F/Note.md": "one\ntwo\n"})
	a := m.agent(t, "F")
	a.do(`os.remove("Note.md")`)
	m.Person("F/Note.md", "one\ntwo\ntyped\n")
	a.do(`write("Note.md", "uno\ndue\n")`)
	m.checkSuggested(t, "F/Note.md", "one\ntwo\ntyped\n", "uno\ndue\ntyped\n")
	m.checkProposed(t)
}
