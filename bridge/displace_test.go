package bridge_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/bridgetest"
	"github.com/relayfs/relayfs/bridge/model"
)

// shownNotes are the paths of all notes that are shown, sorted.
func shownNotes(t *testing.T, w *bridge.Workspace) []model.Path {
	t.Helper()
	var list []model.Path
	err := w.Walk(t.Context(), "Notes", func(e bridge.Info) error {
		if e.Kind == model.KindNote {
			list = append(list, e.Path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(list)
	return list
}

func moveTo(t *testing.T, w *bridge.Workspace, from, to model.Path) {
	t.Helper()
	if _, err := w.Rename(t.Context(), from, to, bridge.ChangeRequest{Author: agent}); err != nil {
		t.Fatal(err)
	}
}

// A folder and one of its own folders have changed places; a user's new folder
// sends both home, the one into the other.
func TestFoldersThatChangedPlacesGoHome(t *testing.T) {
	f := bridgetest.New(t, map[string]string{"Notes/d/D.md": "d\n", "Notes/d/e/E.md": "e\n"})
	moveTo(t, f.Workspace, "Notes/d", "Notes/x")
	moveTo(t, f.Workspace, "Notes/x/e", "Notes/d")
	var events []model.Event
	defer f.Subscribe(func(ev model.Event) { events = append(events, ev) })()
	f.Person("Notes/x/X.md", "x\n")
	if got, want := shownNotes(t, f.Workspace), []model.Path{"Notes/d/D.md", "Notes/d/e/E.md", "Notes/x/X.md"}; !slices.Equal(got, want) {
		t.Errorf("shown is %q, want %q", got, want)
	}
	for _, ev := range events {
		if _, err := f.Stat(t.Context(), ev.Path); ev.Kind == model.EventCreated && err != nil {
			t.Errorf("an event tells of %q: %v", ev.Path, err)
		}
	}
	if list, err := f.Proposals(t.Context(), ""); err != nil || len(list) != 2 || !list[0].Taken || !list[1].Taken {
		t.Errorf("proposals %+v, %v, want two whose names are taken", list, err)
	}
}

// A user moves a note out of a folder that is proposed to be elsewhere, to the
// very place where that is shown: the folder goes home, and events tell of the note
// from there.
func TestMovedToWhereItsFolderIsShown(t *testing.T) {
	f := bridgetest.New(t, map[string]string{"Notes/d/B.md": "b\n", "Notes/f/F.md": "f\n"})
	moveTo(t, f.Workspace, "Notes/d", "Notes/f/g")
	shown := make(map[model.Path]bool)
	for _, p := range shownNotes(t, f.Workspace) {
		shown[p] = true
	}
	defer f.Subscribe(func(ev model.Event) {
		switch ev.Kind {
		case model.EventCreated:
			shown[ev.Path] = true
		case model.EventRemoved:
			maps.DeleteFunc(shown, func(p model.Path, _ bool) bool { return ev.Path.Contains(p) })
		case model.EventRenamed:
			delete(shown, ev.OldPath)
			shown[ev.Path] = true
		}
		maps.DeleteFunc(shown, func(p model.Path, _ bool) bool { return !p.IsNote() })
	})()
	f.Rename("Notes/d/B.md", "Notes/f/g/X.md")
	want := []model.Path{"Notes/f/F.md", "Notes/f/g/X.md"}
	if got := shownNotes(t, f.Workspace); !slices.Equal(got, want) {
		t.Errorf("shown is %q, want %q", got, want)
	}
	if got := slices.Sorted(maps.Keys(shown)); !slices.Equal(got, want) {
		t.Errorf("events tell of %q, want %q", got, want)
	}
}
