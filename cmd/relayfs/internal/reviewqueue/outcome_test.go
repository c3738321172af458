package reviewqueue

import "testing"

// A note that an agent has changed and renamed counts once.
func TestNotesOfCountsARenamedNoteOnce(t *testing.T) {
	list := []Suggestion{
		{Path: "V/new.md", Kind: "addition"},
		{Path: "V/old.md", Kind: "rename", Old: "V/old.md", New: "V/new.md"},
		{Path: "V/other.md", Kind: "addition"},
	}
	if n := NotesOf(list); n != 2 {
		t.Errorf("%d notes, want 2", n)
	}
}
