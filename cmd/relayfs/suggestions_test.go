package main

import (
	"strings"
	"testing"
)

func TestSplitArgs(t *testing.T) {
	ids, sources := splitArgs([]string{"77d10", "Notes", "./cafe", "N=dir", "0123456789", "0123456789a"}, isID)
	if got := strings.Join(ids, " "); got != "77d10 0123456789" {
		t.Errorf("ids %s", got)
	}
	if got := strings.Join(sources, " "); got != "Notes ./cafe N=dir 0123456789a" {
		t.Errorf("sources %s", got)
	}
	batches, sources := splitArgs([]string{"20260102T150405.678-00ff00ff", "20260102T150405.678-00ff", "Notes-12", "2026"}, isBatch)
	if len(batches) != 1 || len(sources) != 3 {
		t.Errorf("batches %q, sources %q", batches, sources)
	}
}

func TestShellWords(t *testing.T) {
	got := shellWords([]string{"20260102T150405.678-00ff", "/home/ann/Jardin été", "N=~x", "it's", "", "~", "$HOME"})
	if want := `20260102T150405.678-00ff '/home/ann/Jardin été' N=~x 'it'\''s' '' '~' '$HOME'`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
