package textmerge_test

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/relayfs/relayfs/bridge/textmerge"
	"github.com/relayfs/relayfs/diffwrap"
	"github.com/relayfs/relayfs/tests/randomtest"
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
func drawMarks(r *rand.Rand, letters string) []suggested {
	marks := make([]suggested, randomtest.Between(r, 1, 3))
	for i := range marks {
		marks[i].form = randomtest.Pick(r, "{++%s++}", "{--%s--}", "{++\n%s\n++}", "{~~%s~>%s~~}")
		for range strings.Count(marks[i].form, "%s") {
			marks[i].words = append(marks[i].words, drawWord(r, letters))
		}
	}
	return marks
}

func drawWord(r *rand.Rand, letters string) string {
	return string(randomtest.Some(r, 1, 4, []rune(letters)...))
}

// A save that changes what stands between the delimiters of one mark keeps these. Marks with new words that take the
// place of others in any other way share nothing with them.
func TestMarksAreTypedIntoOrReplaced(t *testing.T) {
	randomtest.Check(t, 1000, func(t testing.TB, r *rand.Rand) {
		old := drawMarks(r, "abc")
		is := drawMarks(r, "xyz")
		typed := r.IntN(2) == 0
		if typed {
			at := randomtest.Between(r, 0, len(old)-1)
			is = slices.Clone(old)
			is[at].words = slices.Clone(is[at].words)
			is[at].words[randomtest.Between(r, 0, len(is[at].words)-1)] = drawWord(r, "xyz ")
		}
		group := func(marks []suggested) (text string) {
			for _, m := range marks {
				text += m.String()
			}
			return text
		}
		const head, tail = "head ", " tail\n"
		before, after := head+group(old)+tail, head+group(is)+tail
		edits := textmerge.DiffSave(before, after)
		if got := diffwrap.Apply(before, edits); got != after {
			t.Fatalf("%+v make %q of %q, want %q", edits, got, before, after)
		}
		one := len(old) == 1 && len(is) == 1 && len(is[0].words) == 1 && old[0].form[:3] == is[0].form[:3]
		kept := 0
		for _, s := range textmerge.Unchanged(len(before), edits) {
			kept += max(0, min(s.B+s.Len, len(after)-len(tail))-max(s.B, len(head)))
		}
		want := 0
		switch {
		case typed, one && old[0].form == is[0].form:
			want = len(group(is))
			for k := range is {
				for i, w := range is[k].words {
					if w != old[k].words[i] {
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

var wholeComment = regexp.MustCompile(`(?s)\{>>.*?<<\}`)

// A mark that is typed beside others takes nothing of these.
func TestMarksAreTypedBesideOthers(t *testing.T) {
	randomtest.Check(t, 1000, func(t testing.TB, r *rand.Rand) {
		marks := drawMarks(r, "abc")
		at := randomtest.Between(r, 0, len(marks))
		before, after := "head ", "head "
		for i, m := range append(marks, suggested{form: " tail\n"}) {
			if i == at {
				after += "{++x++}"
			}
			before, after = before+m.String(), after+m.String()
		}
		got := textmerge.DiffExternal(before, after, nil)
		if len(got.Edits) != 1 || got.Edits[0].Len > 0 || got.Edits[0].New != "{++x++}" || len(got.Plain)+len(got.Broken)+len(got.Moved) > 0 {
			t.Errorf("%q -> %q: got %+v", before, after, got)
		}
	})
}

// Whatever lines some saves delete, move and sort, and wherever they cut a mark: no delimiter of a mark stays without the
// other one, unless that was put somewhere else. None is left in the text that no mark has and that is not said to be
// broken. No mark comes to be around lines that were elsewhere. Text that leaves all marks is plain. All of the marks are
// recorded: they count wherever they stand.
func TestDelimitersGoTogether(t *testing.T) { randomtest.Check(t, 2000, delimitersGoTogether) }

// TestDelimitersThatFailed runs sequences that failed in the past.
func TestDelimitersThatFailed(t *testing.T) {
	for _, seed := range []string{"892438252490", "221664521654", "502013342", "242491920511"} {
		t.Setenv("RELAYFS_SEED", seed)
		randomtest.Check(t, 1, delimitersGoTogether)
	}
}

func delimitersGoTogether(t testing.TB, r *rand.Rand) {
	before, word := "", 0
	line := func() string {
		word++
		return fmt.Sprintf("- w%d", word)
	}
	for range randomtest.Between(r, 2, 6) {
		before += randomtest.Pick(r, "%s\n", "%s\n", "%s{++\n%s++}\n", "%s\n{++\n%s++}{--\n--}{++\n++}%s\n", "%s{--\n%s--}\n", "{++%s\n%s\n++}%s\n", "%s {--%s--}{++%s++} %s\n", "{~~%s~>%s~~}\n", "{--%s\n%s--}{++%s++}{--\n%s--}\n", "%s {>>%s<<} %s\n", "%s {++%s++}{>>%s\n%s<<} %s\n", "%s\r\n", "%s\r\n{++\r\n%s++}{--\r\n--}{++\n++}%s\r\n", "%s{++ %s ++}%s{--\n\n%s--}{++\n%s++}{++\n%s++}\n\n", "\n", "%s ++} %s ---} %s\n", "%s{--\n%s  {---}{-------}{--}\n%s--}{++\n\n%s  {-++}{++---}\n++}%s\n")
	}
	literal := strings.Contains(before, "++} ") || strings.Contains(before, "{---}") // the views have braces
	for strings.Contains(before, "%s") {
		before = strings.Replace(before, "%s", line(), 1)
	}
	var torn []diffwrap.Span
	for range randomtest.Between(r, 1, 3) {
		lines := strings.SplitAfter(strings.TrimSuffix(before, "\n"), "\n")
		lines[len(lines)-1] += "\n"
		for range randomtest.Between(r, 1, 2) {
			i, j := r.IntN(len(lines)), r.IntN(len(lines))
			switch r.IntN(6) {
			case 0:
				slices.Sort(lines)
			case 1:
				moved := lines[i]
				lines = slices.Insert(slices.Delete(lines, i, i+1), j, moved)
			case 2:
				lines = slices.Insert(lines, i, line()+"\n")
			case 3:
				if len(lines) > 1 {
					lines = slices.Delete(lines, i, i+1)
				}
			case 4: // a word is typed
				words := strings.SplitAfter(lines[i], " ")
				words = slices.Insert(words, r.IntN(len(words)), strings.TrimPrefix(line(), "- ")+" ")
				lines[i] = strings.Join(words, "")
			case 5: // half of a mark is deleted
				lines[i] = strings.Replace(lines[i], randomtest.Pick(r, "{++", "++}", "{--", "--}"), "", 1)
			}
		}
		after := strings.Join(lines, "")
		got := textmerge.DiffExternal(before, after, torn)
		if text := diffwrap.Apply(before, got.Edits); text != after {
			t.Fatalf("%+v make %q of %q, want %q", got.Edits, text, before, after)
		}
		where := textmerge.SwapSides(textmerge.Unchanged(len(before), got.Edits))
		marks, _, _ := diffwrap.Everything.Layout(textmerge.Without(before, torn))
		for _, m := range marks {
			_, opens := textmerge.MapBack(where, diffwrap.Span{Start: m.Start, End: m.Start + 3})
			_, closes := textmerge.MapBack(where, diffwrap.Span{Start: m.End - 3, End: m.End})
			if opens != closes && len(got.Moved) == 0 {
				t.Errorf("%q, torn %v -> %q: of %q one delimiter stays: %+v", before, torn, after, m.Of(before), got)
			}
		}
		broken := brokenAfter(torn, where, got)
		text := textmerge.Without(after, broken)
		for _, view := range []diffwrap.View{diffwrap.AcceptedView, diffwrap.OriginalView} {
			if shown := wholeComment.ReplaceAllString(diffwrap.Everything.Render(text, view), ""); !literal && strings.ContainsAny(shown, "{}") {
				t.Errorf("%q, torn %v -> %q: shown is %q with %+v", before, torn, after, shown, got)
			}
		}
		for _, s := range got.Plain {
			if mark := before[s.Start-3 : s.End+3]; mark[0] == '{' && strings.HasSuffix(mark, "}") && strings.Contains(mark, "w") && strings.Contains(after, mark) {
				t.Errorf("%q, torn %v -> %q: the mark %q is whole, but plain text", before, torn, after, mark)
			}
		}
		back := textmerge.Unchanged(len(before), got.Edits)
		now, shown, _ := diffwrap.Everything.Layout(text)
		for _, m := range marks {
			for at := m.Start + 3; at < m.End-3 && !m.Comment; at++ {
				one := diffwrap.Span{Start: at, End: at + 1}
				current, stays := textmerge.MapBack(where, one)
				has := func(s diffwrap.Span) bool { return s.Start <= at && at < s.End }
				isPlain := func(c diffwrap.Content) bool { return c.Mark < 0 && c.Start <= current.Start && current.Start < c.End }
				if stays && slices.ContainsFunc(shown, isPlain) && !slices.ContainsFunc(got.Plain, has) {
					t.Fatalf("%q, torn %v -> %q: %q of %q is in no mark, but not plain: %+v", before, torn, after, one.Of(before), m.Of(before), got)
				}
			}
		}
		for _, m := range now {
			_, stays := textmerge.MapBack(back, diffwrap.Span{Start: m.Start, End: m.Start + 3})
			moved := slices.ContainsFunc(got.Moved, func(x textmerge.MovedSpan) bool { return x.To.Start == m.Start })
			isNew := func(word string) bool { return !strings.Contains(before, word) }
			typed := slices.ContainsFunc(strings.FieldsFunc(m.Of(after), func(c rune) bool { return !textmerge.InWord(c) }), isNew)
			broken := strings.Contains(before, m.Of(after)) && !strings.Contains(textmerge.Without(before, torn), m.Of(after))
			made := m.Of(after) == "{----}" && !strings.Contains(before, "{----}")
			// A broken mark that is whole again elsewhere is a mark of the user, and so is one made of two braces by a deletion.
			if !stays && !moved && !typed && !broken && !made {
				t.Errorf("%q, torn %v -> %q: %q is a new mark: %+v", before, torn, after, m.Of(after), got)
			}
		}
		before, torn = after, broken
	}
}

// Half of a highlight that a save puts before a mark or into it changes nothing of the mark: no view has a delimiter, also
// after a later save, and what moved as a whole is not broken.
func TestHalvesOfHighlightsBreakNoMarks(t *testing.T) {
	randomtest.Check(t, 1000, func(t testing.TB, r *rand.Rand) {
		blocks := []string{"- a {==b{--x--}\n- c==}{++y++} d\n- m{--x==}--}\n", "- e{++\n- f++}\n", "- g\n{--- h\n- i\n--}{++j++}\n", "- k\n"}
		r.Shuffle(len(blocks), func(i, j int) { blocks[i], blocks[j] = blocks[j], blocks[i] })
		before := strings.Join(blocks, "")
		var broken []diffwrap.Span
		for range 2 {
			lines := strings.SplitAfter(strings.TrimSuffix(before, "\n"), "\n")
			lines[len(lines)-1] += "\n"
			i := r.IntN(len(lines))
			lines = slices.Insert(slices.Delete(slices.Clone(lines), i, i+1), r.IntN(len(lines)), lines[i])
			after := strings.Join(lines, "")
			got := textmerge.DiffExternal(before, after, broken)
			where := textmerge.SwapSides(textmerge.Unchanged(len(before), got.Edits))
			now := brokenAfter(broken, where, got)
			for _, m := range got.Broken {
				for _, whole := range []string{"{--x==}--}", "{++y++}"} {
					if at := strings.Index(before, whole); at <= m.From.Start && m.From.Start < at+len(whole) {
						t.Errorf("%q, torn %v -> %q: the mark %q is broken: %+v", before, broken, after, whole, got)
					}
				}
			}
			text := textmerge.Without(after, now)
			for _, v := range []diffwrap.View{diffwrap.AcceptedView, diffwrap.OriginalView} {
				shown := strings.NewReplacer("{==", "", "==}", "").Replace(diffwrap.Everything.Render(text, v))
				if strings.ContainsAny(shown, "{}") {
					t.Errorf("%q, torn %v -> %q: shown is %q with %+v", before, broken, after, shown, got)
				}
			}
			before, broken = after, now
		}
	})
}

// brokenAfter returns the broken delimiters of a text after a save, in order. torn are those of the old text, and where maps
// spans of the old text to the new one.
func brokenAfter(torn []diffwrap.Span, where []textmerge.Match, c textmerge.ExternalChange) (now []diffwrap.Span) {
	for _, s := range torn {
		if current, stays := textmerge.MapBack(where, s); stays {
			now = append(now, current)
		}
	}
	for _, m := range c.Broken {
		now = append(now, m.To)
	}
	slices.SortFunc(now, func(x, y diffwrap.Span) int { return x.Start - y.Start })
	return now
}

// shownAfter returns the two views of a text after a save. It takes all marks for an agent's, so text that the save types in
// them is plain.
func shownAfter(before, after string, c textmerge.ExternalChange) (o, a string) {
	where := textmerge.SwapSides(textmerge.Unchanged(len(before), c.Edits))
	pending := make([]bool, len(after))
	_, text, _ := diffwrap.Everything.Layout(before)
	for _, x := range text {
		for at := x.Start; at < x.End && x.Mark >= 0; at++ {
			has := func(s diffwrap.Span) bool { return s.Start <= at && at < s.End }
			if current, stays := textmerge.MapBack(where, diffwrap.Span{Start: at, End: at + 1}); stays && !slices.ContainsFunc(c.Plain, has) {
				pending[current.Start] = true
			}
			for _, m := range c.Moved {
				if has(m.From) {
					pending[m.To.Start+at-m.From.Start] = true
				}
			}
		}
	}
	var broken []diffwrap.Span
	for _, m := range c.Broken {
		broken = append(broken, m.To)
	}
	whole := textmerge.Without(after, broken)
	_, text, _ = diffwrap.Everything.Layout(whole)
	for _, x := range text {
		for at := x.Start; at < x.End; at++ {
			waits := x.Mark >= 0 && pending[at]
			if whole[at] != 0 && (!waits || x.Deleted) {
				o += whole[at : at+1]
			}
			if whole[at] != 0 && (!waits || x.Added) {
				a += whole[at : at+1]
			}
		}
	}
	return o, a
}

// An agent that moves or deletes a comment cuts its opener, so that the comment is in two marks. A save that breaks one of
// them takes the comment out of the other one, too: no view has a part of a comment. What else the other one has stays there.
func TestCommentsInTwoMarksStayWhole(t *testing.T) {
	randomtest.Check(t, 1000, func(t testing.TB, r *rand.Rand) {
		edge := randomtest.Pick(r, "++", "--")
		before := "- a\n- b {" + edge + "c\n- d {>" + edge + "}{" + edge + ">e<<} f\n- g" + edge + "} h\n- i\n"
		lines := strings.SplitAfter(before, "\n")
		i, j := r.IntN(len(lines)-1), r.IntN(len(lines)-1)
		switch line := lines[i]; r.IntN(4) {
		case 0:
			lines = slices.Delete(lines, i, i+1)
		case 1:
			lines = slices.Insert(slices.Delete(lines, i, i+1), j, line)
		case 2:
			lines[i] = strings.Replace(line, randomtest.Pick(r, "{"+edge, edge+"}"), "", 1)
		case 3: // the delimiters of a mark are deleted
			text := strings.Split(before, "{"+edge)
			k := randomtest.Between(r, 1, 2)
			text[k-1] += strings.Replace(text[k], edge+"}", "", 1)
			lines = []string{strings.Join(slices.Delete(text, k, k+1), "{"+edge)}
		}
		after := strings.Join(lines, "")
		got := textmerge.DiffExternal(before, after, nil)
		o, a := shownAfter(before, after, got)
		if was := strings.Index(before, "f\n"); strings.Contains(after, "{"+edge+">e<<} f\n- g"+edge+"}") && slices.ContainsFunc(got.Plain, func(s diffwrap.Span) bool { return s.Start <= was && was < s.End }) {
			t.Errorf("%q -> %q: text that stays in its mark is plain: %+v", before, after, got)
		}
		for _, shown := range []string{o, a} {
			if text := wholeComment.ReplaceAllString(shown, ""); strings.ContainsAny(text, "{<>}") {
				t.Errorf("%q -> %q: shown is %q with %+v", before, after, shown, got)
			}
		}
	})
}

// A mark that a save moves has moved, whatever its text is: its delimiters are not taken for those of another mark.
func TestMarksMoveWithTheirLines(t *testing.T) {
	for _, moved := range []string{"{++++}", "{----}", "{++ ++}", "{--\n--}", "{++new++}"} {
		for _, other := range []string{"{++\n- x\n++}", "{--\n- x\n--}"} {
			line := "- a " + moved + " b\n"
			before, after := line+"- c"+other+"\n", "- c"+other[:len(other)-3]+line+other[len(other)-3:]+"\n"
			at := strings.Index(after, moved)
			got := textmerge.DiffExternal(before, after, nil)
			moves := func(m textmerge.MovedSpan) bool { return m.To.Start == at && m.From.Start == len("- a ") }
			if !slices.ContainsFunc(got.Moved, moves) || slices.ContainsFunc(got.Broken, func(m textmerge.MovedSpan) bool { return m.From.Start < len(line) }) {
				t.Errorf("%q -> %q: got %+v", before, after, got)
			}
		}
	}
}

// A user types in a mark. Broken delimiters elsewhere have the text that the mark had, but the mark has not moved there.
func TestAMarkDoesNotMoveToBrokenDelimiters(t *testing.T) {
	before, after := "{++\n++}{--one--}\ntwo {++\n++}\n", "{++\n new ++}{--one--}\ntwo {++\n++}\n"
	opener := strings.LastIndex(before, "{++")
	torn := []diffwrap.Span{{Start: opener, End: opener + 3}, {Start: opener + 4, End: opener + 7}}
	if got := textmerge.DiffExternal(before, after, torn); len(got.Moved)+len(got.Broken) > 0 || len(got.Edits) != 1 || got.Edits[0].New != " new " {
		t.Errorf("got %+v", got)
	}
}

// A mark that is typed around old words where another one is deleted takes nothing of it.
func TestMarksAreTypedAroundOldWords(t *testing.T) {
	for _, mark := range []string{"{++%s++}", "{--%s--}"} {
		before := "- a " + fmt.Sprintf(mark, "x") + " b\n- c d\n"
		for _, word := range []string{"a", "d"} {
			after := "- a b\n- c " + fmt.Sprintf(mark, word) + "\n"
			if got := textmerge.DiffExternal(before, after, nil); len(got.Broken)+len(got.Moved) > 0 {
				t.Errorf("%q -> %q: got %+v", before, after, got)
			}
		}
	}
}

// A delimiter that lost the other one is the one of its line: whether it is an agent's depends on that.
func TestBrokenDelimitersMoveWithTheirLines(t *testing.T) {
	lineAt := func(text string, s diffwrap.Span) string {
		line, _, _ := strings.Cut(text[strings.LastIndexByte(text[:s.Start], '\n')+1:], "\n")
		return line
	}
	for _, before := range []string{
		"- a{++\n- b++}\n- c{++\n- d++}\n{++- e\n- f\n++}- h\n{++- i\n- j\n++}- g\n",
		"{++- w1\n- w2\n++}- w3\n- w4\n- w5{++\n- w6++}\n- w7{++\n- w8++}\n- w9\n- w10 {--- w11--}{++- w12++} - w13\n",
		"{--a {+--}{--+++}b--}\n{++\n\n- c++}\n",
	} {
		lines := strings.SplitAfter(before, "\n")
		slices.Sort(lines)
		after := strings.Join(lines, "")
		got := textmerge.DiffExternal(before, after, nil)
		for _, m := range got.Broken {
			if was, is := lineAt(before, m.From), lineAt(after, m.To); was != is {
				t.Errorf("%q -> %q: a delimiter of the line %q is broken in the line %q", before, after, was, is)
			}
		}
		for _, s := range got.Plain {
			if mark := before[s.Start-3 : s.End+3]; strings.Contains(after, mark) {
				t.Errorf("%q -> %q: the mark %q is whole, but plain text", before, after, mark)
			}
		}
		if len(got.Broken) == 0 {
			t.Errorf("%q -> %q: no delimiter is broken", before, after)
		}
	}
}

// A delimiter that moved with its line completes no mark of another line.
func TestADelimiterCompletesNoMarkOfAnotherLine(t *testing.T) {
	const before = "# {++a ++}\nd e\n f g\n\nh i j\n\nl m n\n## {++o ++}\n p {--\nk--}{++\n\nb c++}{--\n--}{++ ++}"
	lines := strings.SplitAfter(before, "\n")
	slices.Sort(lines)
	after := strings.Join(lines, "")
	got := textmerge.DiffExternal(before, after, nil)
	open := strings.Index(before, "{--\nk")
	if slices.ContainsFunc(got.Moved, func(m textmerge.MovedSpan) bool { return m.From.Start == open }) {
		t.Errorf("%q -> %q: the opener of another line is that of %q: %+v", before, after, "{--\nk--}", got)
	}
}

// A line that is typed among those of a mark takes the break that parts it from the line before, or behind it, as these do.
func TestLinesAreTypedBesideBreaks(t *testing.T) {
	for _, tt := range []struct{ before, after, typed string }{
		{"- a{++\n- x\n- y++}\n- b\n", "- a{++\n- mine\n- x\n- y++}\n- b\n", "\n- mine"},
		{"- a{++\n- x\n- y++}\n- b\n", "- a{++\n- x\n- mine\n- y++}\n- b\n", "\n- mine"},
		{"- a\n{++- x\n- y\n++}- b\n", "- a\n{++- x\n- mine\n- y\n++}- b\n", "- mine\n"},
		{"- a\n{++- x\n- y\n++}- b\n", "- a\n{++- mine\n- x\n- y\n++}- b\n", "- mine\n"},
		{"- a\n- b\n", "- a\n- mine\n- b\n", "- mine\n"},
		{"a{--\n--}{++ ++}b\n", "a{--\nmine\n--}{++ ++}b\n", "\nmine"}, // else a decision makes "amine"
		{"a{++ b\nc++}\n", "a{++ b\nmine\nc++}\n", "\nmine"},
		{"a {++\n++}b\n", "a {++\nmine\n++}b\n", "mine\n"},
		{"| a |{++\r\n| x |\r\n| y |++}\r\n", "| a |{++\r\n| x |\r\n| mine |\r\n| y |++}\r\n", "\r\n| mine |"},
	} {
		edits := textmerge.DiffSave(tt.before, tt.after)
		if len(edits) != 1 || edits[0].Len > 0 || edits[0].New != tt.typed {
			t.Errorf("%q -> %q: got %+v, want %q typed", tt.before, tt.after, edits, tt.typed)
		}
	}
}

// A save with text that was typed in several lines, and maybe other bullets, deletes no word and no mark, also if some lines
// have no words, or the same words as others.
func TestTypingInSeveralLinesKeepsThem(t *testing.T) {
	randomtest.Check(t, 1000, func(t testing.TB, r *rand.Rand) {
		word, repeats, bullet := 0, r.IntN(2) == 0, randomtest.Pick(r, "- ", "* ")
		next := func() string {
			word++
			return fmt.Sprintf("w%d", word)
		}
		old := func() string {
			if repeats && r.IntN(2) == 0 {
				return randomtest.Pick(r, "a", "b")
			}
			return next()
		}
		var before, after strings.Builder
		for range randomtest.Between(r, 3, 8) {
			if r.IntN(3) > 0 {
				for k := range randomtest.Between(r, 2, 4) {
					text := randomtest.Pick(r, "%s ", "%s ", "{++%s ++}", "{--%s--} ")
					if k == 0 {
						text = "%s "
					} else if r.IntN(3) == 0 {
						fmt.Fprintf(&after, "%s ", next())
					}
					text = fmt.Sprintf(text, old())
					before.WriteString(text)
					after.WriteString(text)
				}
			} else {
				lines := []string{old()}
				for repeats && r.IntN(4) > 0 {
					lines = append(lines, "\n", "- "+old()+" "+old())
				}
				moved := slices.Concat([]string{"{--"}, lines, []string{"\nx\n", "--}{++\nx\n"}, lines, []string{"++}"})
				for k, text := range randomtest.Pick(r, []string{""}, []string{"|---|"}, []string{"{--\n", "--}"}, []string{"{--\n", "  --}"}, moved) {
					if k > 0 && r.IntN(2) == 0 {
						fmt.Fprintf(&after, " %s ", next())
					}
					before.WriteString(text)
					after.WriteString(strings.ReplaceAll(text, "- ", bullet))
				}
				if r.IntN(2) == 0 {
					after.WriteString(" " + next())
				}
			}
			before.WriteString("\n")
			after.WriteString("\n")
		}
		got := textmerge.DiffExternal(before.String(), after.String(), nil)
		deletes := func(e diffwrap.Edit) bool {
			return strings.ContainsFunc(before.String()[e.Off:e.Off+e.Len], textmerge.InWord)
		}
		if slices.ContainsFunc(got.Edits, deletes) || len(got.Plain)+len(got.Broken)+len(got.Moved) > 0 {
			t.Errorf("%q -> %q: got %+v", before.String(), after.String(), got)
		}
	})
}

// A save that puts comments beside others, or takes some away, cuts none of those that stay.
func TestCommentsStayWhole(t *testing.T) {
	randomtest.Check(t, 1000, func(t testing.TB, r *rand.Rand) {
		longer := randomtest.Some(r, 1, 8, "{>>a<<}", "{>>ab<<}", "{>>b<<}", "{>>{ba<<}", "a", "b ", "\n")
		from := randomtest.Between(r, 0, len(longer)-1)
		to := randomtest.Between(r, from+1, len(longer))
		before, after := strings.Join(longer, ""), strings.Join(slices.Delete(slices.Clone(longer), from, to), "")
		shorter := after
		if r.IntN(2) == 0 {
			before, after = after, before
		}
		edits := textmerge.DiffSave(before, after)
		if got := diffwrap.Apply(before, edits); got != after {
			t.Fatalf("%+v make %q of %q, want %q", edits, got, before, after)
		}
		if len(edits) > 1 {
			return // the comparison sees more than one place
		}
		for _, e := range edits {
			for _, c := range (diffwrap.Known{}).Comments(shorter) {
				if c.Start < e.Off && e.Off < c.End {
					t.Errorf("%q -> %q: %+v cuts the comment at %d", before, after, e, c.Start)
				}
			}
		}
	})
}

// A mark whose one delimiter moves past a user's lines stays a mark.
func TestAMarkAroundMovedLinesStays(t *testing.T) {
	const before, after = "{++- x\n- y\n++}- b\n- some longer line of a user\n", "{++- x\n- y\n- some longer line of a user\n++}- b\n"
	if got := textmerge.DiffExternal(before, after, nil); len(got.Broken)+len(got.Plain) > 0 || len(got.Moved) != 1 {
		t.Errorf("%q -> %q: got %+v", before, after, got)
	}
}

// A save that only moves lines changes no word: none is made of a part of another one.
func TestMovedLinesKeepTheirWords(t *testing.T) {
	randomtest.Check(t, 1000, func(t testing.TB, r *rand.Rand) {
		lines := make([]string, randomtest.Between(r, 3, 10))
		for i := range lines {
			words := make([]string, randomtest.Between(r, 1, 3))
			for k := range words {
				words[k] = "w" + string(randomtest.Some(r, 1, 4, []rune("12")...)) + "q"
			}
			lines[i] = randomtest.Pick(r, "", "- ") + strings.Join(words, " ") + "\n"
		}
		before := strings.Join(lines, "")
		if r.IntN(2) == 0 {
			slices.Sort(lines)
		} else {
			i := r.IntN(len(lines))
			lines = slices.Insert(slices.Delete(slices.Clone(lines), i, i+1), r.IntN(len(lines)), lines[i])
		}
		after := strings.Join(lines, "")
		for _, e := range textmerge.DiffExternal(before, after, nil).Edits {
			cuts := func(at int) bool {
				return at > 0 && at < len(before) && textmerge.InWord(rune(before[at-1])) && textmerge.InWord(rune(before[at]))
			}
			if cuts(e.Off) || cuts(e.Off+e.Len) {
				t.Fatalf("%q -> %q: %+v cuts a word", before, after, e)
			}
		}
	})
}
