package fusefs_test

import (
	"testing"
	"time"

	"github.com/relayfs/relayfs/bridge/model"
)

// When the mount ends in the middle of a save, the save may be finished within a
// moment; if it is not, the note stays as it was.
func TestEndInTheMiddleOfASave(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, begin, finish, want string }{
		{"emptied, then written", `held["f"].truncate(0)`, `held["f"].write(b"saved\n") and held["f"].close()`, "saved\n"},
		{"half written, then all", `held["f"].truncate(0) or held["f"].write(b"sav")`, `held["f"].write(b"ed\n") and held["f"].close()`, "saved\n"},
		{"emptied", `held["f"].truncate(0)`, "", tideTable},
		{"emptied in the end", `held["f"].write(b"sav") and held["f"].truncate(0)`, "", tideTable},
		{"appended", `held["a"].write(b"more\n")`, "", tideTable + "more\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel() // each keeps its mount busy for some seconds
			m := mount(t, map[string]string{"F/Note.md": tideTable})
			a := m.agent(t, "F")
			a.do(`keep("f", open("Note.md", "r+b", 0))`)
			a.do(`keep("a", open("Note.md", "ab", 0))`)
			a.do(tt.begin)
			ended := make(chan error, 1)
			go func() { ended <- m.server.Unmount() }()
			if tt.finish != "" {
				time.Sleep(300 * time.Millisecond)
				m.checkSuggested(t, "F/Note.md", tideTable, tideTable)
				a.do(tt.finish)
			}
			select {
			case err := <-ended:
				if err != nil {
					t.Errorf("Unmount: %v", err)
				}
			case <-time.After(hangs):
				t.Fatal("Unmount does not return")
			}
			if tt.finish == "" { // too late
				a.do(`held["f"].write(b"late\\n")`)
			}
			a.do(`held["f"].close()`)
			a.do(`held["a"].close()`)
			m.checkSuggested(t, "F/Note.md", tideTable, tt.want)
		})
	}
}

// A mount that is in use when it ends keeps what was written to attachments, except by a save that is not finished.
func TestEndWithDrafts(t *testing.T) {
	t.Parallel()
	m := mount(t, map[string]string{"F/image.png": "old"})
	a := m.agent(t, "F")
	a.do(`keep("changed", open("image.png", "r+b", 0))`)
	a.do(`keep("new", open("new.png", "wb", 0))`)
	a.do(`keep("empty", open("empty.png", "wb", 0))`)
	a.do(`held["changed"].write(b"new")`)
	a.do(`held["new"].write(b"new")`)
	if err := m.server.Unmount(); err != nil {
		t.Errorf("Unmount: %v", err)
	}
	for _, p := range []model.Path{"F/image.png", "F/new.png"} {
		data, err := m.ReadFile(t.Context(), p, model.MaxNote)
		if err != nil || string(data) != "new" {
			t.Errorf("%s = %q, %v", p, data, err)
		}
	}
	if m.exists(t, "F/empty.png") {
		t.Error("a file exists that its program did not begin to write")
	}
	for _, name := range []string{"changed", "new", "empty"} {
		a.do(`held["` + name + `"].close()`)
	}
}
