package render

import (
	"strings"
	"testing"

	"github.com/relayfs/relayfs/cmd/relayfs/internal/reviewqueue"
)

// Suggestions that belong together are drawn as one, with the heading and the comments of each; others by themselves.
func TestDiffsInGroups(t *testing.T) {
	pieces := []reviewqueue.Piece{{Kind: reviewqueue.UnchangedPiece, Text: "a "}, {Kind: reviewqueue.OldPiece, Text: "b"}, {Kind: reviewqueue.UnchangedPiece, Text: " c "}, {Kind: reviewqueue.NewPiece, Text: "d"}}
	list := []reviewqueue.Suggestion{
		{ID: "1", Path: "N/a.md", Line: 1, Kind: "deletion", Old: "b", Group: "1", Pieces: pieces},
		{ID: "2", Path: "N/a.md", Line: 1, Kind: "addition", New: "d", Group: "1", Comments: []string{"why?"}},
		{ID: "3", Path: "N/a.md", Line: 2, Kind: "addition", New: "e"},
	}
	var b strings.Builder
	Diffs(&b, list)
	want := "1  N/a.md:1  deletion\n2  N/a.md:1  addition\n    a {--b--} c {++d++}\n    comment: why?\n\n3  N/a.md:2  addition\n    {++e++}\n"
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
}
