package bridge_test

import (
	"errors"
	"io/fs"
	"slices"
	"testing"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/bridgetest"
	"github.com/relayfs/relayfs/bridge/model"
)

// A user moves or removes a folder, and relayfs has not followed yet. No new note brings the folder back at its old
// path. Folders that the workspace does not have are made.
func TestNewNoteInAMovedFolder(t *testing.T) {
	for name, user := range map[string]func(p bridgetest.Person){
		"moved":        func(p bridgetest.Person) { p.Rename("Sub", "Moved") },
		"parent moved": func(p bridgetest.Person) { p.Rename("Sub/Deep", "Moved") },
		"removed":      func(p bridgetest.Person) { p.Remove("Sub") },
	} {
		t.Run(name, func(t *testing.T) {
			src, store := bridgetest.NewSource(t), bridgetest.NewStore(t)
			person := src.Person(t)
			person.Save("Sub/Deep/Plan.md", "one\n")
			ws := process(t, src, store)
			user(person)
			want := person.Names()
			for _, p := range []model.Path{"Notes/Sub/Deep/New.md", "Notes/Sub/Deep/Made/New.md"} {
				if _, err := ws.Create(t.Context(), p, bridge.Write{Text: "new\n", By: ann}); !errors.Is(err, fs.ErrNotExist) {
					t.Errorf("%s: %v", p, err)
				}
			}
			if got := person.Names(); !slices.Equal(got, want) {
				t.Errorf("the vault has %q, want %q", got, want)
			}
			_, err := ws.Create(t.Context(), "Notes/Other/New.md", bridge.Write{Text: "new\n", By: ann, InFolder: true})
			if !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("in a folder that the workspace does not have any more: %v", err)
			}
			if _, err := ws.Create(t.Context(), "Notes/Other/Made/New.md", bridge.Write{Text: "new\n", By: ann}); err != nil {
				t.Error(err)
			}
		})
	}
}
