package diffwrap

import (
	"math/rand/v2"
	"testing"

	"github.com/relayfs/relayfs/tests/randomtest"
)

// A composed script does what the two do one after the other.
func TestCompose(t *testing.T) {
	randomtest.Check(t, 20_000, func(t testing.TB, r *rand.Rand) {
		text := "abcdefghij"
		first := randomScript(r, len(text), "XYZ")
		between := Apply(text, first)
		second := randomScript(r, len(between), "123")
		want := Apply(between, second)
		if got := Apply(text, Compose(len(text), first, second)); got != want {
			t.Fatalf("%v and then %v make %q, composed %q", first, second, want, got)
		}
	})
}

func randomScript(r *rand.Rand, size int, letters string) (edits []Edit) {
	for at := r.IntN(4); at <= size; at += 1 + r.IntN(4) {
		e := Edit{Off: at, Len: min(r.IntN(4), size-at), New: letters[:r.IntN(4)]}
		if e.Len > 0 || e.New != "" {
			edits = append(edits, e)
		}
		at += e.Len
	}
	return edits
}

// Marks that touch are one suggestion only if they have one writer, and marks of one suggestion are one wherever they
// stand.
func TestSuggestionsBy(t *testing.T) {
	raw := "{--a--}{++b++} x {++c++}"
	by := func(first, second, third string) func(int) Owner {
		return func(at int) Owner { return Owner{Suggestion: map[int]string{0: first, 7: second, 17: third}[at]} }
	}
	if got := (Known{}).SuggestionsBy(raw, by("1", "2", "3")); len(got) != 3 {
		t.Errorf("three writers: %+v", got)
	}
	got := (Known{}).SuggestionsBy(raw, by("1", "2", "1"))
	if len(got) != 2 || got[0].Old != "a" || got[0].New != "c" || got[0].Kind != Replacement || len(got[0].Parts) != 2 {
		t.Fatalf("parts: %+v", got)
	}
	if text := Apply(raw, (Known{}).Accept(raw, got[0])); text != "{++b++} x c" {
		t.Errorf("the parts accepted: %q", text)
	}
	if text := Apply(raw, (Known{}).Decide(raw, false, nil, got[0])); text != "a{++b++} x " {
		t.Errorf("the parts rejected: %q", text)
	}
}

// A highlight of which nothing is left goes with what was in it.
func TestDecisionsEmptyAHighlight(t *testing.T) {
	for raw, want := range map[string]string{
		"a {=={--key--}==} b":     "a  b",
		"a {==x{--key--}==} b":    "a {==x==} b",
		"a {====} {--b--}":        "a {====} ",
		"{==old==}{--b--}{++c++}": "{==old==}c",
	} {
		if got := Apply(raw, (Known{}).Decide(raw, true, nil, Suggestion{End: len(raw)})); got != want {
			t.Errorf("%q accepted: %q, want %q", raw, got, want)
		}
	}
	for raw, want := range map[string]string{
		"a {=={++key++}==} b":  "a  b",
		"a {==x{++key++}==} b": "a {==x==} b",
		"a {====} {++b++}":     "a {====} ",
	} {
		if got := Apply(raw, (Known{}).Decide(raw, false, nil, Suggestion{End: len(raw)})); got != want {
			t.Errorf("%q rejected: %q, want %q", raw, got, want)
		}
	}
}
