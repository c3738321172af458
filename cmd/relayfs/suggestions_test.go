package main

import (
	"context"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/bridgetest"
	"github.com/relayfs/relayfs/bridge/ycrdt/limittest"
)

func TestSplitArgs(t *testing.T) {
	ids, sources := splitArgs([]string{"77d10", "Notes", "./cafe", "N=dir", "0123456789", "0123456789a"}, isID)
	if got := strings.Join(ids, " "); got != "77d10 0123456789" {
		t.Errorf("ids %s", got)
	}
	if got := strings.Join(sources, " "); got != "Notes ./cafe N=dir 0123456789a" {
		t.Errorf("sources %s", got)
	}
	batches, sources := splitArgs([]string{"20260102T150405.678-00ff", "20260102T150405.678-00ff00ff", "00112233-12", "Notes-12", "2026"}, isBatch)
	if len(batches) != 3 || len(sources) != 2 {
		t.Errorf("batches %q, sources %q", batches, sources)
	}
}

func TestShellWords(t *testing.T) {
	got := shellWords([]string{"20260102T150405.678-00ff", "/home/ann/Jardin été", "N=~x", "it's", "", "~", "$HOME"})
	if want := `20260102T150405.678-00ff '/home/ann/Jardin été' N=~x 'it'\''s' '' '~' '$HOME'`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestResolveID(t *testing.T) {
	list := []suggestion{{ID: "abc1"}, {ID: "abd2"}, {ID: "ab"}}
	for prefix, want := range map[string]string{"abc": "abc1", "ab": "ab", "abd2": "abd2", "a": "", "x": ""} {
		if got, err := resolveID(list, prefix); got != want || (err == nil) != (want != "") {
			t.Errorf("%s: %q, %v", prefix, got, err)
		}
	}
}

func TestSelector(t *testing.T) {
	s := suggestion{ID: "a", Path: "Notes/Projects/Plan.md", Kind: "addition", Author: "ann", Session: "s1"}
	for _, c := range []struct {
		sel  selector
		want bool
	}{
		{selector{}, true},
		{selector{glob: "Notes/**"}, true},
		{selector{glob: "Plan.md"}, true},
		{selector{glob: "Other/**"}, false},
		{selector{author: "ann", session: "s1", kind: "addition"}, true},
		{selector{author: "ann", session: "s2"}, false},
		{selector{kind: "deletion"}, false},
	} {
		if got := c.sel.matches(&s); got != c.want {
			t.Errorf("%+v: %v", c.sel, got)
		}
	}
}

func TestPainter(t *testing.T) {
	s := suggestion{
		ID: "a1", Path: "N/a.md", Line: 2, Kind: "replacement", Before: "Top\n\nWe ", After: " here.\nNext",
		Old: "drink black tea", New: "drink green tea\x1b[2J", Author: "ann", Comments: []string{"why?"},
	}
	plain := painter{}.diff(&s)
	want := "a1  N/a.md:2  replacement  ann\n    Top\n\n    We drink {--black--}{++green++} tea{++␛[2J++} here.\n    Next\n    comment: why?\n"
	if plain != want {
		t.Errorf("plain\n%q, want\n%q", plain, want)
	}
	s.New = "drink green tea"
	coloured := painter{colour: true}.diff(&s)
	if want := "We drink " + sgrOld + "black" + sgrReset + sgrNew + "green" + sgrReset + " tea here."; !strings.Contains(coloured, want) {
		t.Errorf("coloured\n%q, want\n%q in it", coloured, want)
	}
	if got, want := (painter{colour: true}).sgr(sgrNew, "a\nb\n"), sgrNew+"a"+sgrReset+"\n"+sgrNew+"b"+sgrReset+"\n"; got != want {
		t.Errorf("lines %q, want %q", got, want)
	}
}

// The context of a suggestion is the accepted view: other suggestions' marks
// are not in it.
func TestQueueListsContext(t *testing.T) {
	const raw = "1\n2\n3 {--x--}{++y++}\n4 {++new++} end\n5 {--gone--}\n6\n7\n"
	f := bridgetest.New(t, map[string]string{"Notes/a.md": raw})
	q, cancel := newLocalQueue(f.Workspace)
	defer cancel()
	list, err := q.list(t.Context(), true)
	if err != nil || len(list) != 3 {
		t.Fatalf("%+v, %v", list, err)
	}
	if s := list[1]; s.Before != "2\n3 y\n4 " || s.After != " end\n5 \n6" {
		t.Errorf("context %q, %q", s.Before, s.After)
	}
	if s := list[0]; s.Before != "1\n2\n3 " {
		t.Errorf("context at the top %q", s.Before)
	}
	if s := list[2]; s.After != "\n6\n7" {
		t.Errorf("context at the end %q", s.After)
	}
}

func TestChangeCounter(t *testing.T) {
	c := newChangeCounter()
	now, err := c.wait(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	woken := make(chan uint64)
	go func() {
		n, _ := c.wait(t.Context(), now)
		woken <- n
	}()
	c.add()
	select {
	case n := <-woken:
		if n == now {
			t.Errorf("woken without a change")
		}
	case <-time.After(limittest.Scaled(10 * time.Second)):
		t.Fatal("not woken by a change")
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.wait(ended, now+1); err == nil {
		t.Error("waits on after its context ended")
	}
}

func TestOutcomeErr(t *testing.T) {
	out := newOutcome(bridge.Outcome{Missing: []string{"a1"}, Failed: map[bridge.Path]error{"N/a.md": bridge.ErrOffline}}, bridge.Accepted)
	err := out.err()
	if err == nil || !strings.Contains(err.Error(), "a1") || !strings.Contains(err.Error(), `"N/a.md": nothing changed`) {
		t.Errorf("%v", err)
	}
	if err := (&outcome{}).err(); err != nil {
		t.Errorf("of nothing: %v", err)
	}
}

// Of a note that is one long line, a suggestion's context is a bounded part.
func TestContextOfALongLine(t *testing.T) {
	long := strings.Repeat("語 ", 100_000)
	f := bridgetest.New(t, map[string]string{"N/a.md": long + "{++new++}" + long})
	q, cancel := newLocalQueue(f.Workspace)
	defer cancel()
	list, err := q.list(t.Context(), true)
	if err != nil || len(list) != 1 {
		t.Fatalf("%d suggestions, %v", len(list), err)
	}
	before, after := list[0].Before, list[0].After
	if len(before) > maxContext+8 || !strings.HasPrefix(before, "… ") || !strings.HasSuffix(before, "語 ") || !utf8.ValidString(before) {
		t.Errorf("before: %d bytes, %.20q", len(before), before)
	}
	if len(after) > maxContext+8 || !strings.HasSuffix(after, " …") || !strings.HasPrefix(after, "語 ") || !utf8.ValidString(after) {
		t.Errorf("after: %d bytes, %.20q", len(after), after)
	}
}
