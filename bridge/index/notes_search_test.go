package index

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/relayfs/relayfs/bridge/index/outline"
	"github.com/relayfs/relayfs/tests/randomtest"
)

// A search by a term finds every note that has the tag.
func TestTermsOfTags(t *testing.T) {
	randomtest.Check(t, 1000, func(t testing.TB, r *rand.Rand) {
		tag := func() string {
			return strings.Join(randomtest.Some(r, 1, 40, "#", "/", "/", "a", "A", "k", "\u212a", "ſ", "s", "7"), "")
		}
		n := NoteInfo{Outline: outline.Of("---\ntags: [\"" + tag() + "\", \"" + tag() + "\"]\n---\n#" + tag())}
		terms := n.terms()
		for range 5 {
			want := tag()
			if len(n.Tags) > 0 && r.IntN(2) == 0 {
				want = n.Tags[0][:r.IntN(len(n.Tags[0])+1)] + randomtest.Pick(r, "", "/")
			}
			if n.HasTag(want) && !slices.Contains(terms, term("Tag", want)) {
				t.Fatalf("%q has %q, but not its term: %q", n.Tags, want, terms)
			}
		}
	})
}
