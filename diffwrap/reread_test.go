package diffwrap

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/relayfs/relayfs/tests/randomtest"
)

// TestReread changes random texts, and parses each again from the parse of the text before the change: the result is that of a parse
// of the whole text. Most texts have only known marks, since others are parsed as a whole; what is typed may be anything.
func TestReread(t *testing.T) {
	tidy := []string{"a", "b c", "`", "\n", "\n\n", "é", "😀", "{++b++}", "{--c\n--}", "{~~d~>e~~}", "{>>f<<}", "{--g--}{++h++}", "{++{\"author\":\"A\"}@@i++}"}
	wild := append([]string{
		"{", "}", "{++", "++}", "{--", "--}", "{~~", "~>", "~~}", "{>>", "<<}", "{==", "==}", "{++++}", "{++}", "{{author=\"A\">>", "{{author=\"A", "\"", ">>",
		"<<}}", ">><<}}", "{{author=\"A\">><<}}", "{{author=\"A\">>j<<}}", "`", "```\n", "$", "%%", "---\n", "    ", "{--{>>k<<}--}", "{--{>--}{-->k<<}--}", "{==l==}",
	}, tidy...)
	names := append([]string{"{{author=\"A", "{{author=\"A", "\"", "\">>", ">><<}}", "<<}}", "++}", "--}"}, tidy...)
	parts := 0
	check := func(t testing.TB, old string, before Known, raw string, after Known, first, last int) {
		t.Helper()
		want := after.Read(raw)
		for _, planned := range []Known{after, want} {
			got, part := planned.Reread(raw, before.Read(old), first, last)
			if !reflect.DeepEqual(got, want) {
				t.Fatalf("%q with marks at %v becomes %q with marks at %v, parsed again in %v:\n%+v\n%+v", old, before.Offsets(), raw, after.Offsets(), part, got.doc, want.doc)
			}
			if part.Len() < len(raw) {
				parts++
			}
		}
	}
	const rest = "\n++}{{author=\"A\">><<}}" // the attribution follows a mark only after the change
	check(t, "x"+rest, KnownAt([]int{5}), "x{++"+rest, KnownAt([]int{1, 8}), 4, len(rest))
	randomtest.Check(t, 30_000, func(t testing.TB, rng *rand.Rand) {
		text := func(pieces []string, n int) string {
			var b strings.Builder
			for range rng.IntN(n) {
				b.WriteString(pieces[rng.IntN(len(pieces))])
			}
			return b.String()
		}
		old := text([][]string{tidy, tidy, names, wild}[rng.IntN(4)], 30)
		known := func(raw string, kept Known, others int) Known { // kept, and some of the other openers
			at := slices.Clone(kept.Offsets())
			for _, o := range MayBeMarks(raw) {
				if rng.IntN(others) > 0 {
					at = append(at, o)
				}
			}
			slices.Sort(at)
			return KnownAt(slices.Compact(at))
		}
		before := known(old, Known{}, []int{5, 50, 1000}[rng.IntN(3)])
		from := rng.IntN(len(old) + 1)
		typed := text([][]string{wild, names}[rng.IntN(2)], 4)
		edits := []Edit{{Off: from, Len: rng.IntN(min(len(old)-from, 20) + 1), New: typed}}
		raw := Apply(old, edits)
		after := before.AfterEdits(old, edits)
		if rng.IntN(3) > 0 {
			after = known(raw, after, 10)
		}
		first, last := len(raw), len(raw)
		if rng.IntN(4) == 0 {
			first, last = rng.IntN(len(raw)+1), rng.IntN(len(raw)+1)
		}
		check(t, old, before, raw, after, first, last)
	})
	t.Logf("%d texts were parsed in part", parts)
	if parts == 0 {
		t.Error("every text was parsed as a whole")
	}
}
