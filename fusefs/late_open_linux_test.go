package fusefs_test

import (
	"fmt"
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// Who has found a note by its name and opens it only when the name is another's, or
// nobody's, reads what the note was, as on a disk. A reader beside a save by rename
// is like that.
func TestOpenedLate(t *testing.T) {
	for name, script := range map[string]string{
		"saved by rename":   "echo new > .Note.tmp; mv .Note.tmp Note.md",
		"moved over":        "mv -f Other.md Note.md",
		"removed":           "rm Note.md",
		"moved away":        "mv Note.md Note.md~",
		"removed and saved": "rm Note.md; echo new > Note.md",
		"changed in place":  "echo more >> Note.md",
	} {
		t.Run(name, func(t *testing.T) {
			m := mount(t, map[string]string{"F/Note.md": tideTable, "F/Other.md": "other\n"})
			checkText(t, "the note", m.cat(t, "F/Note.md"), tideTable) // and nobody has it open then
			fd, err := unix.Open(m.path("F/Note.md"), unix.O_PATH, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer unix.Close(fd)
			m.sh(t, "F", script)
			late, err := os.ReadFile(fmt.Sprintf("/proc/self/fd/%d", fd))
			if err != nil {
				t.Fatal(err)
			}
			want := tideTable
			if name == "changed in place" {
				want += "more\n"
			}
			checkText(t, "the note, opened late", string(late), want)
		})
	}
}
