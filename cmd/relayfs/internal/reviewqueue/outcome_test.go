package reviewqueue

import (
	"strings"
	"testing"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/bridgetest"
	"github.com/relayfs/relayfs/bridge/model"
)

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

func TestLogNamesTheFolderOfARename(t *testing.T) {
	items := []model.DecidedItem{{Kind: string(model.ProposedRename), New: "sub/new.md"}, {Kind: "addition", New: "text"}}
	x := newLogEntry(model.JournalEntry{Path: "V/old.md", Record: model.Record{Decision: &model.Decision{Items: items}}}, nil)
	if got := x.Suggestions[0].New; got != "V/sub/new.md" {
		t.Errorf("renamed to %q", got)
	}
	if got := x.Suggestions[1].New; got != "text" {
		t.Errorf("added %q", got)
	}
}

// A program that writes a line above the front matter removes it: its block is then a part of the addition. A rejection
// says so, until the removal is undone.
func TestRejectionNamesRemovedFrontMatter(t *testing.T) {
	const text = "---\na: b\n---\nOne.\n"
	f := bridgetest.New(t, map[string]string{"N/a.md": text, "N/b.md": text})
	q := New(f.Workspace)
	for _, p := range []model.Path{"N/a.md", "N/b.md"} {
		wr := bridge.Write{Text: strings.Replace(text, "One", "One more", 1), By: model.Author{Name: "ann"}}
		if p == "N/a.md" {
			wr.Text = "above\n" + text
		}
		if _, err := f.Write(t.Context(), p, wr); err != nil {
			t.Fatal(err)
		}
	}
	reject := func() map[string]string {
		list, err := q.List(t.Context(), false)
		if err != nil || len(list) == 0 {
			t.Fatal(list, err)
		}
		out, err := q.Decide(t.Context(), DecideRequest{IDs: IDsOf(list), Unseen: true, Verdict: model.Rejected})
		if err != nil {
			t.Fatal(err)
		}
		return out.FrontMatterRemoved
	}
	removed := reject()
	if len(removed) != 1 || removed["N/a.md"] == "" {
		t.Fatalf("front matter removed: %v", removed)
	}
	if _, err := q.Undo(t.Context(), UndoRequest{Batch: removed["N/a.md"]}); err != nil {
		t.Fatal(err)
	}
	if got := f.SourceText("N/a.md"); got != text {
		t.Errorf("the note has %q, want %q", got, text)
	}
	if _, err := f.Write(t.Context(), "N/a.md", bridge.Write{Text: text + "more\n", By: model.Author{Name: "ann"}}); err != nil {
		t.Fatal(err)
	}
	if removed := reject(); len(removed) != 0 {
		t.Errorf("front matter removed after the undo: %v", removed)
	}
}
