package diffwrap

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/relayfs/relayfs/diffwrap/internal/critic"
	"github.com/relayfs/relayfs/tests/randomtest"
)

// TestDiff checks on random texts that a script leads from the old text to the new one and cuts no grapheme cluster
// of either.
func TestDiff(t *testing.T) {
	for _, alphabet := range []string{"prose", "braces", "hostile"} {
		letters := newAlphabet(t, alphabet)
		randomtest.Check(t, rounds/5, func(t testing.TB, r *rand.Rand) {
			g := letters.generator(r)
			old := g.text()
			new := g.edit(old)
			if err := checkDiff(old, new); err != nil {
				t.Fatalf("%s: %v", alphabet, err)
			}
		})
	}
}

func checkDiff(old, new string) error {
	edits := Diff(old, new)
	if got := Apply(old, edits); got != new {
		return fmt.Errorf("old %q new %q: %v makes %q", old, new, edits, got)
	}
	oldBorders, newBorders := clusterBorders(old), clusterBorders(new)
	if one := oneEdit(old, new, oldBorders, newBorders); size(edits) > one.Len+len(one.New) {
		return fmt.Errorf("old %q new %q: %v is larger than %v", old, new, edits, one)
	}
	pos, shift := 0, 0
	for _, e := range edits {
		if e.Off < pos || e.Len == 0 && e.New == "" {
			return fmt.Errorf("old %q new %q: malformed %v", old, new, edits)
		}
		for _, off := range []int{e.Off, e.Off + e.Len} {
			if _, ok := slices.BinarySearch(oldBorders, off); !ok {
				return fmt.Errorf("old %q new %q: %v cuts the old text at %d", old, new, edits, off)
			}
		}
		for _, off := range []int{e.Off + shift, e.Off + shift + len(e.New)} {
			if _, ok := slices.BinarySearch(newBorders, off); !ok {
				return fmt.Errorf("old %q new %q: %v cuts the new text at %d", old, new, edits, off)
			}
		}
		pos = e.Off + e.Len
		shift += len(e.New) - e.Len
	}
	return nil
}

func size(edits []Edit) (n int) {
	for _, e := range edits {
		n += e.Len + len(e.New)
	}
	return n
}

// oneEdit is a single edit that turns old into new, and takes whole clusters.
func oneEdit(old, new string, oldBorders, newBorders []int) Edit {
	head, tail := 0, 0
	for i := 1; i < min(len(oldBorders), len(newBorders)) && oldBorders[i] == newBorders[i] && old[head:oldBorders[i]] == new[head:newBorders[i]]; i++ {
		head = oldBorders[i]
	}
	for i, j := len(oldBorders)-2, len(newBorders)-2; i >= 0 && j >= 0 && oldBorders[i] >= head && newBorders[j] >= head; i, j = i-1, j-1 {
		if old[oldBorders[i]:len(old)-tail] != new[newBorders[j]:len(new)-tail] {
			break
		}
		tail = len(old) - oldBorders[i]
	}
	return Edit{Off: head, Len: len(old) - head - tail, New: new[head : len(new)-tail]}
}

func TestDiffSmall(t *testing.T) {
	tests := []struct {
		name, old, new string
		want           []Edit
	}{
		{"equal", "a b\n", "a b\n", nil},
		{"letters", "I teh best", "I the best", []Edit{{Off: 3, Len: 2, New: "he"}}},
		{"from nothing", "", "a\n\nb\n", []Edit{{Off: 0, Len: 0, New: "a\n\nb\n"}}},
		{"to nothing", "a\n\nb\n", "", []Edit{{Off: 0, Len: 5, New: ""}}},
		{"line", "a\nb\nc\n", "a\nc\n", []Edit{{Off: 1, Len: 2, New: ""}}},
		{"cluster", "x 👩‍👧 y", "x 👩‍👦 y", []Edit{{Off: 2, Len: 11, New: "👩‍👦"}}},
		{"combining mark", "cafe", "cafe\u0301", []Edit{{Off: 3, Len: 1, New: "e\u0301"}}},
		{"break", "a\nb", "a\r\nb", []Edit{{Off: 1, Len: 1, New: "\r\n"}}},
		{"final break", "a", "a\n", []Edit{{Off: 1, Len: 0, New: "\n"}}},
		{"last line", "a\nb", "a\n", []Edit{{Off: 2, Len: 1, New: ""}}},
		{"last line, from nothing", "a\n", "a\nb", []Edit{{Off: 2, Len: 0, New: "b"}}},
		{"last line, breaks of two", "a\r\nb", "a\r\n", []Edit{{Off: 3, Len: 1, New: ""}}},
		{"lines of one", "a b\nc", "a b x\n\ny\nc", []Edit{{Off: 3, Len: 0, New: " x\n\ny"}}},
		{"lines typed in a line", "{++#\n++}{--# T--}{++T++}\n\nold", "{++#\n++}{--\n\n# T--}{++T++}\n\nold", []Edit{{Off: 11, Len: 0, New: "\n\n"}}},
		{"lines with other breaks", "-\n{--the\r\n\r\n--}noon{--\r\n--}", "-\nnoon{--\r\n--}", []Edit{{Off: 2, Len: 13, New: ""}}},
		{"a word in a word like it", "see HU\n", "see H{++HU++}U\n", []Edit{{Off: 5, Len: 0, New: "{++HU++}"}}},
		{"typed in a short line, and below it", "- one two\n", "- three four one five six seven two\nx", []Edit{{Off: 2, New: "three four "}, {Off: 6, New: "five six seven "}, {Off: 10, New: "x"}}},
		{"marks mean nothing", "{++a++}", "{++b++}", []Edit{{Off: 3, Len: 1, New: "b"}}},
	}
	for _, tc := range tests {
		if got := Diff(tc.old, tc.new); !slices.Equal(got, tc.want) {
			t.Errorf("%s: Diff(%q, %q) = %v, want %v", tc.name, tc.old, tc.new, got, tc.want)
		}
	}
}

// TestDiffLarge changes texts that are too large to be compared in full; the unique lines in them still hold the
// unchanged parts apart.
func TestDiffLarge(t *testing.T) {
	var old, new strings.Builder
	for i := range 6000 {
		fmt.Fprintf(&old, "line %d\n", i)
		switch {
		case i%1000 == 7:
			fmt.Fprintf(&new, "changed %d\n", i)
		case i%1000 != 500:
			fmt.Fprintf(&new, "line %d\n", i)
		}
	}
	edits := Diff(old.String(), new.String())
	if got := Apply(old.String(), edits); got != new.String() {
		t.Fatal("the script does not make the new text")
	}
	changed := 0
	for _, e := range edits {
		changed += e.Len + len(e.New)
	}
	if len(edits) != 12 || changed > 12*20 {
		t.Errorf("%d edits of %d bytes, want 12 of at most 20 bytes", len(edits), changed)
	}
}

// TestDecisions checks on random texts that accepting and rejecting all comes to the views, and that one decision
// leaves the rest alone.
func TestDecisions(t *testing.T) {
	letters := newAlphabet(t, "prose")
	randomtest.Check(t, rounds/5, func(t testing.TB, r *rand.Rand) {
		g := letters.generator(r)
		if err := checkDecisions(g, g.raw()); err != nil {
			t.Fatal(err)
		}
	})
}

func checkDecisions(g *generator, raw string) error {
	known := knownIn(raw)
	doc := known.parse(raw)
	if slices.ContainsFunc(doc.Cells, func(c critic.Cell) bool {
		return c.Kind >= critic.Comment || c.IsSuggestion() && c.Added().Empty() && c.Deleted().Empty() ||
			c.Kind == critic.Substitution && (c.Added().Empty() || c.Deleted().Empty())
	}) {
		return nil // the views differ from the decisions in comments and highlights, and empty marks vanish
	}
	if got := Apply(raw, known.Decide(raw, true, nil, Suggestion{End: len(raw)})); got != known.Accepted(raw) {
		return fmt.Errorf("raw %q: all accepted %q, accepted view %q", raw, got, known.Accepted(raw))
	}
	if got := Apply(raw, known.Decide(raw, false, nil, Suggestion{End: len(raw)})); got != known.Original(raw) {
		return fmt.Errorf("raw %q: all rejected %q, original view %q", raw, got, known.Original(raw))
	}
	all := known.Suggestions(raw)
	if len(all) == 0 {
		return nil
	}
	i := g.IntN(len(all))
	s := all[i]
	// Marks that touch and have one author are one suggestion in a text without records. So are those on both sides of
	// what was decided, if nothing is left between them.
	joins := i > 0 && i+1 < len(all) && all[i-1].End == s.Start && s.End == all[i+1].Start && all[i-1].Author == all[i+1].Author
	others := func(n int) bool { return n == len(all)-1 || joins && n == len(all)-2 }
	edits := known.Accept(raw, s)
	got, left := Apply(raw, edits), known.AfterEdits(raw, edits)
	if rest := left.Suggestions(got); !others(len(rest)) || left.Accepted(got) != known.Accepted(raw) {
		return fmt.Errorf("raw %q: %+v accepted leaves %q", raw, s, got)
	}
	edits = known.Decide(raw, false, nil, s)
	got, left = Apply(raw, edits), known.AfterEdits(raw, edits)
	if rest := left.Suggestions(got); !others(len(rest)) || left.Original(got) != known.Original(raw) {
		return fmt.Errorf("raw %q: %+v rejected leaves %q", raw, s, got)
	}
	return nil
}
