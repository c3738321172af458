package render

import (
	"strings"
	"testing"

	"github.com/relayfs/relayfs/cmd/relayfs/internal/queue"
)

func TestPainter(t *testing.T) {
	s := queue.Suggestion{
		ID: "a1", Path: "N/a.md", Line: 2, Kind: "replacement", Before: "Top\n\nWe ", After: " here.\nNext",
		Old: "drink black tea", New: "drink green tea\x1b[2J", Author: "ann", Comments: []string{"why?"},
	}
	plain := Painter{}.Diff(&s)
	want := "a1  N/a.md:2  replacement  ann\n    Top\n\n    We drink {--black--}{++green++} tea{++␛[2J++} here.\n    Next\n    comment: why?\n"
	if plain != want {
		t.Errorf("plain\n%q, want\n%q", plain, want)
	}
	s.New = "drink green tea"
	coloured := Painter{colour: true}.Diff(&s)
	if want := "We drink " + sgrOld + "black" + sgrReset + sgrNew + "green" + sgrReset + " tea here."; !strings.Contains(coloured, want) {
		t.Errorf("coloured\n%q, want\n%q in it", coloured, want)
	}
	if got, want := (Painter{colour: true}).SGR(sgrNew, "a\nb\n"), sgrNew+"a"+sgrReset+"\n"+sgrNew+"b"+sgrReset+"\n"; got != want {
		t.Errorf("lines %q, want %q", got, want)
	}
}
