package align

import (
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/relayfs/relayfs/diffwrap/internal/markdown"
	"github.com/relayfs/relayfs/diffwrap/internal/span"
	"github.com/relayfs/relayfs/tests/randomtest"
)

var (
	words = strings.Split("the a fox grows, stands. waits 漢 字 ไทย don't 3.14 **bold** (x) [[Link]] `code` {>>note<<} {>>two\nlines<<}", " ")
	gaps  = []string{" ", " ", "", "|"}
	heads = []string{"", "", "", "", "- ", "1. ", "2. ", "## ", "> ", "  ", "| ", "```", "$$", "- [ ] ", "---"}
)

// drawLine makes a line of a few words, or a blank one.
func drawLine(rnd *rand.Rand) string {
	line := randomtest.Pick(rnd, heads...)
	return line + strings.Join(randomtest.Some(rnd, 0, 6, words...), randomtest.Pick(rnd, gaps...))
}

// drawTexts makes a text and another one that has much in common with it.
func drawTexts(rnd *rand.Rand) (old, new Side) {
	var a, b []string
	for range randomtest.Between(rnd, 0, 10) {
		line := drawLine(rnd)
		switch randomtest.Between(rnd, 0, 7) {
		case 0:
			b = append(b, line)
		case 1:
			a = append(a, line)
		case 2:
			a, b = append(a, line), append(b, drawLine(rnd))
		case 3:
			fields := strings.Split(line, " ")
			fields[randomtest.Between(rnd, 0, len(fields)-1)] = randomtest.Pick(rnd, words...)
			a, b = append(a, line), append(b, strings.Join(fields, " "))
		default:
			a, b = append(a, line), append(b, line)
		}
	}
	breaks := randomtest.Pick(rnd, "\n", "\n", "\n", "\r\n")
	end := func() string { return randomtest.Pick(rnd, "", "\n", "\n\n") }
	return side(strings.Join(a, "\n") + end()), side(strings.Join(b, breaks) + end())
}

var comment = regexp.MustCompile(`(?s)\{>>.*?<<\}`)

func side(text string) Side {
	s := Side{Text: text}
	for _, at := range comment.FindAllStringIndex(text, -1) {
		s.Comments = append(s.Comments, span.New(at[0], at[1]))
	}
	return s
}

// drawPages makes two pages as compare does.
func drawPages(rnd *rand.Rand) (r *Comparer, o, n *lineText) {
	old, new := drawTexts(rnd)
	m := mode{exact: rnd.IntN(2) == 0}
	h := differing(old, new)
	return &Comparer{}, newLineText(old, h.Old, m), newLineText(new, h.New, m)
}

// checkHunks wants hunks that are sorted, apart, not empty, and turn old into new.
func checkHunks(t testing.TB, name string, old, new Side, hunks []Hunk) {
	t.Helper()
	at := Hunk{}
	for _, h := range append(slices.Clone(hunks), Hunk{span.New(len(old.Text), len(old.Text)), span.New(len(new.Text), len(new.Text))}) {
		between := Hunk{span.New(at.Old.End, h.Old.Start), span.New(at.New.End, h.New.Start)}
		if between.Old.Len() < 0 || between.New.Len() < 0 || between.Old.Of(old.Text) != between.New.Of(new.Text) {
			t.Fatalf("%s of %q and %q: between %v and %v the texts differ, or the hunks overlap", name, old.Text, new.Text, at, h)
		}
		at = h
	}
	for _, h := range hunks {
		if h.Old.Empty() && h.New.Empty() {
			t.Fatalf("%s of %q and %q: hunk %v is empty", name, old.Text, new.Text, h)
		}
	}
}

// checkComments wants hunks that cut no comment. Those of Exact do where two comments begin or end alike.
func checkComments(t testing.TB, old, new Side, hunks []Hunk) {
	t.Helper()
	for _, h := range hunks {
		if cutsComment(old, new, h.Old.Start, h.New.Start) || cutsComment(old, new, h.Old.End, h.New.End) {
			t.Fatalf("hunk %v of %q and %q cuts a comment", h, old.Text, new.Text)
		}
	}
}

// commonComments pairs the comments that both texts have in the same order.
func commonComments(old, new Side) (pairs []Hunk) {
	r := &Comparer{}
	for k, partner := range r.Match(intern(r, nil, old.Text, old.Comments), intern(r, nil, new.Text, new.Comments)) {
		if partner >= 0 {
			pairs = append(pairs, Hunk{old.Comments[k], new.Comments[partner]})
		}
	}
	return pairs
}

func TestHunks(t *testing.T) {
	randomtest.Check(t, 1000, func(t testing.TB, rnd *rand.Rand) {
		old, new := drawTexts(rnd)
		checkHunks(t, "Exact", old, new, (&Comparer{}).Exact(old, new))
		fragment := rnd.IntN(2) == 0
		checkHunks(t, "Readable", old, new, (&Comparer{}).Readable(old, new, fragment, nil))
		readable := (&Comparer{}).Readable(old, new, fragment, nil)
		checkComments(t, old, new, readable)
		if fragment && len(readable) > 1 && readable[0].Old.End == 0 && readable[1].Old.Start == 0 {
			t.Fatalf("Readable of %q and %q: %v are two changes before the rest of a line", old.Text, new.Text, readable)
		}
		pairs := commonComments(old, new)
		hunks := (&Comparer{}).Readable(old, new, fragment, pairs)
		checkHunks(t, "Readable with pairs", old, new, hunks)
		if touchesOld(hunks, pairs) {
			t.Fatalf("Readable of %q and %q: %v touches a comment of %v", old.Text, new.Text, hunks, pairs)
		}
	})
}

func TestScripts(t *testing.T) {
	randomtest.Check(t, 1000, func(t testing.TB, rnd *rand.Rand) {
		old, new := drawTexts(rnd)
		for name, edits := range map[string][]span.Edit{"Diff": Diff(old.Text, new.Text), "Words": Words(old.Text, new.Text)} {
			if got := span.Apply(old.Text, edits); got != new.Text {
				t.Fatalf("%s of %q and %q makes %q", name, old.Text, new.Text, got)
			}
		}
	})
}

func TestDiffering(t *testing.T) {
	randomtest.Check(t, 1000, func(t testing.TB, rnd *rand.Rand) {
		old, new := drawTexts(rnd)
		h := differing(old, new)
		checkHunks(t, "differing", old, new, add(nil, old, new, h))
		checkComments(t, old, new, []Hunk{h})
		if !atLineEnd(old.Text, h.Old.Start) && h.Old.Start > 0 || !atLineEnd(old.Text, h.Old.End) || !atLineEnd(new.Text, h.New.End) {
			t.Fatalf("differing of %q and %q: %v are not whole lines", old.Text, new.Text, h)
		}
	})
}

func TestSplitLines(t *testing.T) {
	randomtest.Check(t, 1000, func(t testing.TB, rnd *rand.Rand) {
		old, _ := drawTexts(rnd)
		at := 0
		for i, l := range splitLines(old.Text, 0, len(old.Text), old.Comments) {
			if brk := old.Text[l.breakOff:l.Start]; l.breakOff != at || (span.BreakLen(brk) == len(brk)) != (i > 0) && brk != "" || i > 0 && brk == "" {
				t.Fatalf("line %d of %q starts with %q at %d, want a line break at %d", i, old.Text, brk, l.breakOff, at)
			}
			if s := comment.ReplaceAllLiteralString(l.Of(old.Text), ""); strings.Contains(s, "\n") {
				t.Fatalf("line %d of %q is %q", i, old.Text, s)
			}
			at = l.End
		}
		if at != len(old.Text) {
			t.Fatalf("the lines of %q end at %d", old.Text, at)
		}
	})
}

func TestMatchLines(t *testing.T) {
	randomtest.Check(t, 1000, func(t testing.TB, rnd *rand.Rand) {
		r, o, n := drawPages(rnd)
		last := -1
		for i, j := range matchLines(r, o, n) {
			if j < 0 {
				continue
			}
			if j <= last || o.text(i) != n.text(j) {
				t.Fatalf("lines of %q and %q: %d is matched with %d, after %d", o.Text, n.Text, i, j, last)
			}
			last = j
		}
	})
}

// drawSteps makes the script of lines of two pages, before and after its gaps are paired.
func drawSteps(rnd *rand.Rand) (r *Comparer, o, n *lineText, gaps, paired []step) {
	r, o, n = drawPages(rnd)
	gaps = lineScript(o, matchLines(r, o, n), len(n.lines))
	for _, s := range gaps {
		paired = pairGap(r, paired, o, n, s)
	}
	return r, o, n, gaps, paired
}

func TestSteps(t *testing.T) {
	randomtest.Check(t, 1000, func(t testing.TB, rnd *rand.Rand) {
		_, o, n, gaps, paired := drawSteps(rnd)
		for _, steps := range [][]step{gaps, paired} {
			at := step{}
			for _, s := range steps {
				if s.old.Start != at.old.End || s.new.Start != at.new.End {
					t.Fatalf("steps of %q and %q: %v comes after %v", o.Text, n.Text, s, at)
				}
				if (s.kind == stepSame || s.kind == stepChanged) && s.old.Len() != s.new.Len() || s.kind == stepChanged && s.old.Len() != 1 {
					t.Fatalf("steps of %q and %q: the lines of %v do not face each other", o.Text, n.Text, s)
				}
				for k := range s.old.Len() {
					if s.kind == stepSame && o.text(s.old.Start+k) != n.text(s.new.Start+k) {
						t.Fatalf("steps of %q and %q: line %d of %v changed", o.Text, n.Text, k, s)
					}
				}
				at = s
			}
			if at.old.End != len(o.lines) || at.new.End != len(n.lines) {
				t.Fatalf("steps of %q and %q end at %v", o.Text, n.Text, at)
			}
		}
		if slices.ContainsFunc(paired, func(s step) bool { return s.kind == stepGap }) {
			t.Fatalf("steps of %q and %q: a gap is left in %v", o.Text, n.Text, paired)
		}
	})
}

// The hunks of a step stay within it, but for the break after a gap on top.
func TestStepHunks(t *testing.T) {
	randomtest.Check(t, 1000, func(t testing.TB, rnd *rand.Rand) {
		r, o, n, _, paired := drawSteps(rnd)
		for _, s := range paired {
			whole := wholeLines(o, n, s)
			for _, h := range stepHunks(r, nil, o, n, s) {
				if h.Old.Start < whole.Old.Start || h.Old.End > whole.Old.End || h.New.Start < whole.New.Start || h.New.End > whole.New.End {
					t.Fatalf("step %v of %q and %q has hunk %v, want it within %v", s, o.Text, n.Text, h, whole)
				}
			}
		}
	})
}

func TestBlockCuts(t *testing.T) {
	randomtest.Check(t, 1000, func(t testing.TB, rnd *rand.Rand) {
		text := strings.Join(randomtest.Some(rnd, 1, 12, "", "a", "```", "> ~~~"), "\n")
		o := newLineText(Side{Text: text}, span.New(0, len(text)), mode{})
		from := randomtest.Between(rnd, 0, len(o.lines))
		lines := span.New(from, randomtest.Between(rnd, from, len(o.lines)))
		at := -1
		for _, cut := range blockCuts(o, lines, false) {
			i := slices.IndexFunc(o.lines, func(l line) bool { return l.breakOff == cut })
			if cut <= at || i <= lines.Start || i >= lines.End || o.lines[i].inFence || o.lines[lines.Start].inFence || !o.blank(i) && !o.blank(i-1) {
				t.Fatalf("lines %v of %q are cut at %d, line %d", lines, o.Text, cut, i)
			}
			at = cut
		}
	})
}

// drawWording makes a script of tokens.
func drawWording(rnd *rand.Rand) (*tokenDiff, []change) {
	old, new := drawTexts(rnd)
	w := tokenScript(&Comparer{}, old, new, Hunk{span.New(0, len(old.Text)), span.New(0, len(new.Text))})
	w.survival = randomtest.Pick(rnd, 0, lineSurvival, 100)
	return &w, w.changes()
}

// checkChanges wants changes that are sorted, with equal tokens between them.
func checkChanges(t testing.TB, name string, w *tokenDiff, changes []change) {
	t.Helper()
	at := change{}
	end := change{span.New(len(w.old.ids), len(w.old.ids)), span.New(len(w.new.ids), len(w.new.ids))}
	for _, c := range append(slices.Clone(changes), end) {
		apart := c.old.Start >= at.old.End && c.new.Start >= at.new.End
		if !apart || !slices.Equal(w.old.ids[at.old.End:c.old.Start], w.new.ids[at.new.End:c.new.Start]) {
			t.Fatalf("%s of %q and %q: between %v and %v the texts differ", name, w.old.text, w.new.text, at, c)
		}
		at = c
	}
}

func TestTokenScript(t *testing.T) {
	randomtest.Check(t, 1000, func(t testing.TB, rnd *rand.Rand) {
		w, changes := drawWording(rnd)
		checkChanges(t, "tokenScript", w, changes)
		for _, side := range []*tokens{w.old, w.new} {
			if side.of(span.New(0, len(side.list))) != side.text {
				t.Fatalf("the tokens of %q are %v", side.text, side.list)
			}
		}
	})
}

// A rule only joins: each change that it makes holds changes that were there.
func TestFolds(t *testing.T) {
	randomtest.Check(t, 1000, func(t testing.TB, rnd *rand.Rand) {
		w, changes := drawWording(rnd)
		steps := slices.Clone(MergeRules)
		for _, i := range CoalesceRules {
			steps = append(steps, MergeRule{i.Name, func(w *tokenDiff, changes []change) []change {
				return join(changes, func(left, right change) bool { return joinsOver(w, left, right, []CoalesceRule{i}) })
			}})
		}
		for _, k := range rnd.Perm(len(steps)) {
			f := steps[k]
			before := slices.Clone(changes)
			changes = f.fold(w, changes)
			checkChanges(t, f.Name, w, changes)
			for _, c := range changes {
				n := 0
				for n < len(before) && before[n].old.End <= c.old.End && before[n].new.End <= c.new.End {
					n++
				}
				if n == 0 || before[0].through(before[n-1]) != c {
					t.Fatalf("%s of %q and %q makes %v of %v", f.Name, w.old.text, w.new.text, c, before)
				}
				before = before[n:]
			}
			if len(before) > 0 {
				t.Fatalf("%s of %q and %q forgets %v", f.Name, w.old.text, w.new.text, before)
			}
		}
	})
}

// What is trimmed off both ends is equal, and nothing more can be.
func TestTrim(t *testing.T) {
	randomtest.Check(t, 1000, func(t testing.TB, rnd *rand.Rand) {
		old, new := drawTexts(rnd)
		h := trimClusters(old.Text, new.Text, Hunk{span.New(0, len(old.Text)), span.New(0, len(new.Text))})
		checkHunks(t, "trimClusters", Side{Text: old.Text}, Side{Text: new.Text}, add(nil, old, new, h))
		if again := trimClusters(old.Text, new.Text, h); again != h {
			t.Fatalf("%q and %q are trimmed to %v, and that to %v", old.Text, new.Text, h, again)
		}
		w, changes := drawWording(rnd)
		for k, c := range changes {
			changes[k] = trimBlanks(w, c)
		}
		checkChanges(t, "trimBlanks", w, changes)
	})
}

// Equal stretches, and no others, have one number.
func TestIntern(t *testing.T) {
	randomtest.Check(t, 1000, func(t testing.TB, rnd *rand.Rand) {
		old, _ := drawTexts(rnd)
		list := slices.Collect(markdown.Tokens(old.Text, span.New(0, len(old.Text)), old.Comments))
		r := &Comparer{}
		ids := append(intern(r, nil, old.Text, list), intern(r, nil, old.Text, list)...)
		list = append(list, list...)
		for i := range list {
			for j := range list {
				if (ids[i] == ids[j]) != (list[i].Of(old.Text) == list[j].Of(old.Text)) {
					t.Fatalf("%q and %q are %d and %d", list[i].Of(old.Text), list[j].Of(old.Text), ids[i], ids[j])
				}
			}
		}
	})
}

// Each of very many tokens is a rune of its own that is the same after it was in a string.
func TestTokensAreRunes(t *testing.T) {
	runes := make([]rune, 70_000)
	for i := range runes {
		runes[i] = asRune(i + 1)
	}
	if got := []rune(string(runes)); !slices.Equal(got, runes) {
		t.Errorf("%d tokens are other runes after they were in a string", len(runes))
	}
	if distinct := slices.Compact(slices.Sorted(slices.Values(runes))); len(distinct) != len(runes) {
		t.Errorf("%d tokens are %d runes", len(runes), len(distinct))
	}
}

func TestSentenceEnd(t *testing.T) {
	for text, want := range map[string]string{
		"One 3.14 two. Three.": "One 3.14 two. ",
		"Is it? Yes":           "Is it? ",
		"一。二":                  "一。",
		"none":                 "none",
	} {
		w := tokenScript(&Comparer{}, side(text), side(""), Hunk{span.New(0, len(text)), span.New(0, 0)})
		got := ""
		for _, token := range w.old.list[:sentenceEnd(w.old, 0)] {
			got += token.Of(text)
		}
		if got != want {
			t.Errorf("the first sentence of %q is %q, want %q", text, got, want)
		}
	}
}

// A change in one place deletes no word outside of that place, also if several lines have that word, unless a smaller
// change has the same result.
func TestAChangeInOnePlaceKeepsTheOtherWords(t *testing.T) {
	randomtest.Check(t, 2000, func(t testing.TB, r *rand.Rand) {
		draw := func(n int) (text string) {
			for range n {
				text += randomtest.Pick(r, "a", "b", "c", "d", "e") + randomtest.Pick(r, " ", " ", " ", "\n", "\n- ", " | ")
			}
			return text
		}
		head, deleted, typed, tail := draw(r.IntN(8)), draw(r.IntN(4)), draw(r.IntN(3)), draw(r.IntN(8))
		old, new := head+deleted+tail, head+typed+tail
		words := func(s string) int {
			return len(strings.FieldsFunc(s, func(c rune) bool { return !markdown.InWord(c) }))
		}
		n, size := 0, 0
		for _, e := range DiffKeepingWords(old, new, true) {
			n, size = n+words(old[e.Off:e.Off+e.Len]), size+e.Len+len(e.New)
		}
		if n > words(deleted) && size >= len(deleted)+len(typed) {
			t.Fatalf("%q -> %q: %d words are deleted, want at most %d: %+v", old, new, n, words(deleted), DiffKeepingWords(old, new, true))
		}
	})
}

// A hunk that cuts no word stays as it is if one of its sides is empty, also if its text has the word next to it.
func TestKeepWordsKeepsWholeInsertionsAndDeletions(t *testing.T) {
	randomtest.Check(t, 2000, func(t testing.TB, r *rand.Rand) {
		word := func() string { return randomtest.Pick(r, "a", "bb", "ä", "👍") }
		head, tail := word()+" ", word()+"\n"
		part := randomtest.Pick(r, "{>>"+word()+"<<}", "("+word()+") ", word()+" ", " "+word()+" -")
		old, new := head+tail, head+part+tail
		hunk := Hunk{span.New(len(head), len(head)), span.New(len(head), len(head)+len(part))}
		if r.IntN(2) == 0 {
			old, new, hunk = new, old, Hunk{hunk.New, hunk.Old}
		}
		if got := (&Comparer{}).KeepWords(Side{Text: old}, Side{Text: new}, []Hunk{hunk}, true); !slices.Equal(got, []Hunk{hunk}) {
			t.Fatalf("%q -> %q: %v, want %v", old, new, got, hunk)
		}
	})
}
