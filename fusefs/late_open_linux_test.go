package fusefs_test

import (
	"fmt"
	"testing"
)

// Who has found a note by its name and opens it only when the name is another's, or
// nobody's, reads what the note was, as on a disk. A reader beside a save by rename
// is like that.
func TestOpenedLate(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ script, want string }{
		"saved by rename":   {"echo new > .Note.tmp; mv .Note.tmp Note.md", tideTable},
		"moved over":        {"mv -f Other.md Note.md", tideTable},
		"removed":           {"rm Note.md", tideTable},
		"moved away":        {"mv Note.md Note.md~", tideTable},
		"removed and saved": {"rm Note.md; echo new > Note.md", tideTable},
		"changed in place":  {"echo more >> Note.md", tideTable + "more\n"},
	} {
		t.Run(name, func(t *testing.T) {
			m := mount(t, map[string]string{"F/Note.md": tideTable, "F/Other.md": "other\n"})
			m.cat(t, "F/Note.md") // and nobody has it open then
			late := m.sh(t, "F", fmt.Sprintf(`python3 -c '
import os, subprocess, sys
found = os.open("Note.md", os.O_PATH)
subprocess.run(%q, shell=True, check=True)
sys.stdout.write(open("/proc/self/fd/%%d" %% found).read())
'`, tt.script))
			checkText(t, "the note, opened late", late, tt.want)
		})
	}
}
