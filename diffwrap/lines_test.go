package diffwrap

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/relayfs/relayfs/diffwrap/internal/critic"
	"github.com/relayfs/relayfs/tests/randomtest"
)

// TestLinesStayLines has three authors add lines to one text, also to each other's pending lines. Each line is a line
// whichever authors' additions are accepted, if the others' are rejected.
func TestLinesStayLines(t *testing.T) {
	randomtest.Check(t, 300, func(t testing.TB, r *rand.Rand) {
		raw, known := "W1\nW2\n", Known{}
		by := strings.Repeat("W", len(raw)) // the author of each byte
		log := []string{raw}
		for n := range 2 + r.IntN(4) {
			who := randomtest.Pick(r, "a", "b", "c")
			o := Options{Known: known, Owners: make(map[int]Owner)}
			for _, c := range known.parse(raw).Cells {
				if author := by[c.Body.Start : c.Body.Start+1]; c.IsSuggestion() && author != who {
					o.Owners[c.Start] = Owner{Suggestion: author, Author: author, Access: Foreign}
				}
			}
			lines := strings.Split(known.Accepted(raw), "\n")
			added := who + string(rune('0'+n))
			if r.IntN(4) == 0 {
				added += "\n"
			}
			res, err := o.Put(raw, strings.Join(slices.Insert(lines, r.IntN(len(lines)), added), "\n"))
			if errors.Is(err, ErrForeign) {
				continue
			} else if err != nil {
				t.Fatalf("%q: %v", log, err)
			}
			by = Apply(by, writtenBy(res.Edits, who))
			raw, known = Apply(raw, res.Edits), res.Known
			log = append(log, raw)
		}
		all := strings.Fields(known.Accepted(raw))
		for _, accepted := range []string{"", "a", "b", "c", "ab", "ac", "bc", "abc"} {
			var left strings.Builder
			for _, c := range known.parse(raw).Cells {
				if c.Kind == critic.Text || strings.Contains(accepted, by[c.Body.Start:c.Body.Start+1]) {
					left.WriteString(c.Added().Of(raw))
				}
			}
			want := slices.DeleteFunc(slices.Clone(all), func(line string) bool { return !strings.Contains("W"+accepted, line[:1]) })
			got := slices.DeleteFunc(strings.Split(left.String(), "\n"), func(line string) bool { return line == "" })
			if !slices.Equal(got, want) {
				t.Fatalf("%q: with the additions of %q it has the lines %q, want %q", log, accepted, got, want)
			}
		}
	})
}

// writtenBy returns edits of a text's authors that correspond to an author's edits of the text.
func writtenBy(edits []Edit, who string) []Edit {
	edits = slices.Clone(edits)
	for k := range edits {
		edits[k].New = strings.Repeat(who, len(edits[k].New))
	}
	return edits
}
