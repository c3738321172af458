package bridge_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/tests/randomtest"
)

// writersWord is a word of a user (u) or of an agent (a).
var writersWord = regexp.MustCompile(`[ua][b-t]{4}x`)

// freshWord returns a word that has few letters in common with the words of other numbers.
func freshWord(by string, n int) string {
	code, word := uint32(n)*2654435761, by
	for range 4 {
		word += string(rune('b' + code%19))
		code /= 19
	}
	return word + "x"
}

// A user's program reads a note, agents change what they have suggested, and then the program saves what it read, with a
// change. No agent's word in that save is accepted by it, whether the agents still suggest it or not, and a restarted process
// shows the same.
func TestSavesOfAnOldTextAcceptNothing(t *testing.T) {
	randomtest.Check(t, 300, func(t testing.TB, rng *rand.Rand) {
		n := 0
		fresh := func(by string) string { n++; return freshWord(by, n) }
		between := func() string { return randomtest.Pick(rng, " ", " ", " ", "\n", "\n\n") }
		// change adds a word to text, or replaces or removes a word of the given writer.
		change := func(text, by string) string {
			var all, own [][]int
			for _, at := range writersWord.FindAllStringIndex(text, -1) {
				if all = append(all, at); text[at[0]:at[0]+1] == by {
					own = append(own, at)
				}
			}
			if len(own) > 0 && rng.IntN(2) == 0 {
				at := randomtest.Pick(rng, own...)
				if rng.IntN(2) == 0 {
					return text[:at[0]] + fresh(by) + text[at[1]:]
				}
				return text[:at[0]] + strings.TrimLeft(text[at[1]:], " ")
			}
			if len(all) == 0 {
				return fresh(by) + between() + text
			}
			at := randomtest.Pick(rng, all...)
			if rng.IntN(2) == 0 {
				return text[:at[0]] + fresh(by) + between() + text[at[0]:]
			}
			return text[:at[1]] + between() + fresh(by) + text[at[1]:]
		}
		text := fresh("u")
		for range rng.IntN(5) {
			text += between() + fresh("u")
		}
		r := newReturning(t, text+"\n")
		defer func() { r.stop() }()
		session := 1
		write := func() {
			text := change(r.note().Text(), "a")
			by := model.Author{Name: "ann", Session: fmt.Sprint(session)}
			if _, err := r.ws.Write(t.Context(), "Notes/N.md", bridge.Write{Text: text, By: by}); err != nil && !errors.Is(err, model.ErrRefused) {
				t.Fatal(err)
			}
			t.Logf("agent %d: %q is %q", session, text, r.note().Raw())
		}
		for range randomtest.Between(rng, 1, 4) {
			write()
		}
		for range randomtest.Between(rng, 1, 3) {
			read := r.note().Raw()
			session += rng.IntN(2)
			for range randomtest.Between(rng, 1, 2) {
				write()
			}
			r.saves(change(read, "u"))
			v := r.note()
			t.Logf("saved: %q is %q", v.Raw(), v.Canonical())
			for _, w := range writersWord.FindAllString(v.Known().Original(v.Canonical()), -1) {
				if w[0] == 'a' {
					t.Fatalf("%s is not pending", w)
				}
			}
			waiting := fmt.Sprint(pendingOf(t, r.ws))
			r.restarts()
			if got := r.note().Canonical(); got != v.Canonical() {
				t.Fatalf("after a restart %q", got)
			}
			if got := fmt.Sprint(pendingOf(t, r.ws)); got != waiting {
				t.Fatalf("after a restart the suggestions are %s, before %s", got, waiting)
			}
		}
	})
}

// The old text has the mark of one suggestion where the note has two, with the opener of one and the closer of the other.
func TestSaveOfAnOldTextOverASplitMark(t *testing.T) {
	r := newReturning(t, "one\n")
	defer func() { r.stop() }()
	r.writes("a", "one a1 a2\n\na3\n")
	read := r.note().Raw()
	r.writes("a", "one a4 a2\n\na3\n")
	r.saves("p1 " + read)
	for range 2 {
		v := r.note()
		if got := v.Known().Original(v.Canonical()); got != "p1 one\n" || v.Text() != "p1 one a1 a2\n\na3\n" {
			t.Errorf("%q: the views are %q and %q", v.Canonical(), got, v.Text())
		}
		if list := pendingOf(t, r.ws); slices.ContainsFunc(list, func(s model.Suggestion) bool { return s.Author != "a" }) {
			t.Errorf("the suggestions are %+v", list)
		}
		r.restarts()
	}
}
