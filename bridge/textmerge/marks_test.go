package textmerge_test

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/relayfs/relayfs/bridge/textmerge"
	"github.com/relayfs/relayfs/diffwrap"
)

// suggested is a mark, by the form that it has and the words in it.
type suggested struct {
	form  string // %s for words
	words []string
}

func (s suggested) String() string {
	text := s.form
	for _, w := range s.words {
		text = strings.Replace(text, "%s", w, 1)
	}
	return text
}

// drawMarks are some marks that touch, with words of those letters.
func drawMarks(t *rapid.T, letters, label string) []suggested {
	word := rapid.StringOfN(rapid.RuneFrom([]rune(letters)), 1, 4, -1)
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) suggested {
		form := rapid.SampledFrom([]string{"{++%s++}", "{--%s--}", "{++\n%s\n++}", "{~~%s~>%s~~}"}).Draw(t, "form")
		return suggested{form, rapid.SliceOfN(word, strings.Count(form, "%s"), strings.Count(form, "%s")).Draw(t, "words")}
	}), 1, 3).Draw(t, label)
}

// A save that changes what stands between the delimiters of one mark keeps these. Marks with new words that take the
// place of others in any other way share nothing with them.
func TestMarksAreTypedIntoOrReplaced(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		was := drawMarks(t, "abc", "was")
		is := drawMarks(t, "xyz", "is")
		typed := rapid.Bool().Draw(t, "types into one")
		if typed {
			at := rapid.IntRange(0, len(was)-1).Draw(t, "mark")
			is = slices.Clone(was)
			is[at].words = slices.Clone(is[at].words)
			is[at].words[rapid.IntRange(0, len(is[at].words)-1).Draw(t, "half")] = rapid.StringOfN(rapid.RuneFrom([]rune("xyz ")), 1, 4, -1).Draw(t, "typed")
		}
		group := func(marks []suggested) (text string) {
			for _, m := range marks {
				text += m.String()
			}
			return text
		}
		const head, tail = "head ", " tail\n"
		before, after := head+group(was)+tail, head+group(is)+tail
		edits := textmerge.SavedEdits(before, after)
		if got := diffwrap.Apply(before, edits); got != after {
			t.Fatalf("%+v make %q of %q, want %q", edits, got, before, after)
		}
		one := len(was) == 1 && len(is) == 1 && len(is[0].words) == 1 && was[0].form[:3] == is[0].form[:3]
		kept := 0
		for _, s := range textmerge.Kept(len(before), edits) {
			kept += max(0, min(s.B+s.N, len(after)-len(tail))-max(s.B, len(head)))
		}
		want := 0
		switch {
		case typed, one && was[0].form == is[0].form:
			want = len(group(is))
			for k := range is {
				for i, w := range is[k].words {
					if w != was[k].words[i] {
						want -= len(w)
					}
				}
			}
		case one:
			want = len("{++++}")
		}
		if kept != want {
			t.Errorf("%q -> %q: %d bytes of the marks are kept, want %d: %+v", before, after, kept, want, edits)
		}
	})
}

// A save that puts comments beside others, or takes some away, cuts none of those that stay.
func TestCommentsStayWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		piece := rapid.SampledFrom([]string{"{>>a<<}", "{>>ab<<}", "{>>b<<}", "{>>{ba<<}", "a", "b ", "\n"})
		longer := rapid.SliceOfN(piece, 1, 8).Draw(t, "text")
		from := rapid.IntRange(0, len(longer)-1).Draw(t, "from")
		to := rapid.IntRange(from+1, len(longer)).Draw(t, "to")
		before, after := strings.Join(longer, ""), strings.Join(slices.Delete(slices.Clone(longer), from, to), "")
		shorter := after
		if rapid.Bool().Draw(t, "put there") {
			before, after = after, before
		}
		edits := textmerge.SavedEdits(before, after)
		if got := diffwrap.Apply(before, edits); got != after {
			t.Fatalf("%+v make %q of %q, want %q", edits, got, before, after)
		}
		if len(edits) > 1 {
			return // the comparison sees more than one place
		}
		for _, e := range edits {
			for _, c := range diffwrap.Comments(shorter) {
				if c.Start < e.Off && e.Off < c.End {
					t.Errorf("%q -> %q: %+v cuts the comment at %d", before, after, e, c.Start)
				}
			}
		}
	})
}
