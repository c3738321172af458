package fusefs_test

import (
	"testing"
	"time"
)

// glance is a program that reads a note without asking for its size, as dd does.
const glance = `(lambda fd: [os.read(fd, 9999).decode(), os.close(fd)][0])(os.open("Note.md", os.O_RDONLY))`

// A note that differs from what was saved in line ends only stays as it is. Who was
// shown the saved bytes meanwhile, and opens it again, sees those or the note's, and
// never the one laid over the other.
func TestOpenedAfterSaveOfOtherLineEnds(t *testing.T) {
	const note, saved = "one\ntwo\n", `one\r\ntwo\r\n`
	m := mount(t, map[string]string{"F/Note.md": note})
	a, b := m.agent(t, "F"), m.agent(t, "F")
	a.do(`keep("f", open("Note.md", "wb", 0))`)
	a.do(`held["f"].write(b"%s")`, saved)
	a.do(`os.fsync(held["f"].fileno())`)
	eventually(t, func() error { return wants("the note while it is open", b.do("%s", glance), `"`+saved+`"`) })
	a.do(`held["f"].close()`)
	for range 20 { // the kernel tells of a close later
		if got := b.do("%s", glance); got != `"`+saved+`"` && got != `"one\ntwo\n"` {
			t.Fatalf("the note after it is %s", got)
		}
		time.Sleep(10 * time.Millisecond)
	}
	checkText(t, "source", m.SourceText("F/Note.md"), note)
}
