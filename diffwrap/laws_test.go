package diffwrap

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/relayfs/relayfs/diffwrap/internal/critic"
	"github.com/relayfs/relayfs/tests/randomtest"
)

// rounds is how many of each alphabet the laws are checked on; other tests of the package take a part of it.
const rounds = 3000

// isMore reports whether n of all is a larger share than most, and more than chance explains.
func isMore(n, all int, most float64) bool {
	limit := most * float64(all)
	return float64(n) > limit+4*math.Sqrt(limit)+1
}

// tally counts what the rounds of one alphabet came to.
type tally struct{ rounds, ambiguous, literal, foreign, other, steps, forked, fatter int }

func TestLaws(t *testing.T) {
	for _, tc := range []struct {
		alphabet     string
		maxAmbiguous float64 // share of rounds that may be refused as ambiguous
	}{
		{"prose", 0.00001}, // half of a comment may be left in front matter, which cannot be marked
		{"braces", 0.005},
		{"hostile", 0.25},
		{"markdown", 0.00001},
	} {
		t.Run(tc.alphabet, func(t *testing.T) {
			t.Parallel()
			var sum tally
			letters := newAlphabet(t, tc.alphabet)
			randomtest.Check(t, rounds, func(t testing.TB, r *rand.Rand) {
				if err := checkLaws(letters.generator(r), &sum); err != nil {
					t.Fatal(err)
				}
			})
			t.Logf("%+v", sum)
			if isMore(sum.ambiguous, sum.rounds, tc.maxAmbiguous) {
				t.Errorf("%d of %d rounds were refused as ambiguous, want at most %.3f %%", sum.ambiguous, sum.rounds, 100*tc.maxAmbiguous)
			}
			if isMore(sum.literal, sum.rounds, 0.1) {
				t.Errorf("%d of %d rounds with literal marks were refused as ambiguous, want at most a tenth", sum.literal, sum.rounds)
			}
			if isMore(sum.forked, sum.steps, 0.05) {
				t.Errorf("%d of %d changes came out otherwise in two steps, want at most 5 %%", sum.forked, sum.steps)
			}
			if isMore(sum.fatter, sum.steps, 0.001) {
				t.Errorf("%d of %d changes mark half as much again in two steps, want at most 0.1 %%", sum.fatter, sum.steps)
			}
		})
	}
}

// TestLawsThatFailed runs rounds that failed in the past.
func TestLawsThatFailed(t *testing.T) {
	for _, tc := range []struct{ alphabet, seed string }{
		{"markdown", "324171938285"},
	} {
		t.Setenv("RELAYFS_SEED", tc.seed)
		letters := newAlphabet(t, tc.alphabet)
		randomtest.Check(t, 1, func(t testing.TB, r *rand.Rand) {
			if err := checkLaws(letters.generator(r), &tally{}); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// checkLaws makes one raw text and one change of it, and checks the laws on the result.
func checkLaws(g *generator, sum *tally) error {
	raw := g.raw()
	options := g.options()
	options.Known = g.known(raw)
	shown := options.Known.Accepted(raw)
	want := g.edit(shown)
	sum.rounds++
	if r, err := options.Put(raw, shown); err != nil || len(r.Edits) > 0 {
		return lawError("2, GetPut", raw, shown, "%v %v", r.Edits, err)
	}
	result, err := options.Put(raw, want)
	if errors.Is(err, ErrAmbiguous) && len(options.Known.parse(raw).Literal) > 0 {
		sum.literal++ // an edit may bring out into prose what was literal
		sum.ambiguous--
	}
	if err != nil {
		return sum.refused(raw, want, err)
	}
	want = withMarkOf(raw, shown, want)
	if !equalButBreaks(shown, want) {
		want = withBreaksOf(raw, want, result.Known.Accepted(Apply(raw, result.Edits)))
	}
	x := exchange{raw, options.Known, want, Apply(raw, result.Edits), result}
	if err := x.check(); err != nil {
		return err
	}
	next := options
	next.Known = result.Known
	if r, err := next.Put(x.got, want); err != nil || len(r.Edits) > 0 && x.shown() == want {
		return lawError("6, idempotence", raw, want, "stored %q, then %v %v", x.got, r.Edits, err)
	}
	if err := sum.takeBack(next, x, shown); err != nil {
		return err
	}
	return sum.repeat(g, options, x)
}

// exchange is one Put: the text before, what was written, and the text after.
type exchange struct {
	raw   string
	known Known // of raw
	want  string
	got   string
	Result
}

// shown is what a reader of the text after is shown.
func (x exchange) shown() string { return x.Known.Accepted(x.got) }

// check checks the laws on each exchange.
func (x exchange) check() error {
	for _, law := range []func(exchange) error{putGet, base, safeRuns, furniture, minimal} {
		if err := law(x); err != nil {
			return err
		}
	}
	return nil
}

func (x exchange) broken(law, format string, args ...any) error {
	return lawError(law, x.raw, x.want, format, args...)
}

func lawError(law, raw, want, format string, args ...any) error {
	return &lawBroken{law: law, raw: raw, want: want, detail: fmt.Sprintf(format, args...)}
}

// refused checks law 9 and counts.
func (s *tally) refused(raw, want string, err error) error {
	var refusal *RefusedError
	if !errors.As(err, &refusal) || refusal.Line < 1 || refusal.Literal == "" {
		return lawError("9, refusals", raw, want, "error %#v", err)
	}
	switch {
	case errors.Is(err, ErrAmbiguous):
		s.ambiguous++
	case errors.Is(err, ErrForeign):
		s.foreign++
	case errors.Is(err, ErrMark), errors.Is(err, ErrFrontMatter), errors.Is(err, ErrComment), errors.Is(err, ErrSigned):
		s.other++
	default:
		return lawError("9, refusals", raw, want, "unexpected %v", err)
	}
	return nil
}

// putGet is law 1.
func putGet(x exchange) error {
	if x.shown() == x.want || x.got == x.raw && equalButBreaks(x.known.Accepted(x.raw), x.want) {
		return nil
	}
	return x.broken("1, PutGet", "stored %q, shows %q", x.got, x.shown())
}

// equalButBreaks states the exception of law 1 in another way than the code does.
func equalButBreaks(a, b string) bool {
	norm := func(s string) string { return strings.TrimSuffix(withLF(s), "\n") }
	return norm(a) == norm(b)
}

// withMarkOf states the exception of law 1 for byte order marks in another way than the code does: a written text starts
// with the byte order marks of the text that was shown.
func withMarkOf(raw, shown, want string) string {
	if !strings.HasPrefix(raw, ByteOrderMark) && !strings.HasPrefix(want, ByteOrderMark) {
		return want
	}
	for strings.HasPrefix(want, ByteOrderMark) {
		want = want[len(ByteOrderMark):]
	}
	for ; strings.HasPrefix(shown, ByteOrderMark); shown = shown[len(ByteOrderMark):] {
		want = ByteOrderMark + want
	}
	return want
}

var anyBreak = regexp.MustCompile("\r?\n")

// withBreaksOf states the other exception of law 1 in another way than the code does, for a want with breaks of one kind: if
// all breaks of the raw text are of one kind, it has those; else it is what the code says, but for the breaks.
// TestMixedBreaksStay tells more.
func withBreaksOf(raw, want, is string) string {
	kindsIn := func(text string) (kinds []string) {
		return slices.Compact(slices.Sorted(slices.Values(anyBreak.FindAllString(text, -1))))
	}
	kinds := kindsIn(raw)
	if len(kinds) == 0 || len(kindsIn(want)) != 1 {
		return want
	}
	if len(kinds) == 1 {
		return anyBreak.ReplaceAllLiteralString(want, kinds[0])
	}
	if anyBreak.ReplaceAllLiteralString(want, "\n") != anyBreak.ReplaceAllLiteralString(is, "\n") {
		return want // which it is not
	}
	return is
}

// base is law 3.
func base(x exchange) error {
	old := x.known.Original(x.raw)
	if x.FrontMatter != nil {
		old = x.FrontMatter.After + old[len(x.FrontMatter.Before):]
	}
	if is := x.Known.Original(x.got); is != old {
		return x.broken("3, Base", "stored %q\noriginal %q\nwas      %q", x.got, is, old)
	}
	return nil
}

// safeRuns is law 4: the predicates on every run that was written. Runs that were there before may break them.
func safeRuns(x exchange) error {
	known := make(map[string]int)
	before := x.known.parse(x.raw)
	for i := range before.Cells {
		known[before.Cells[i].Of(x.raw)]++
	}
	after := x.Known.parse(x.got)
	for i := range after.Cells {
		c := &after.Cells[i]
		if c.Kind != critic.Addition && c.Kind != critic.Deletion {
			continue
		}
		law := brokenBy(after, i)
		if text := c.Of(x.got); law != "" && known[text] > 0 {
			known[text]--
		} else if law != "" {
			return x.broken(law, "stored %q has the run %q", x.got, text)
		}
	}
	return nil
}

// brokenBy names the part of law 4 that the run in cell i breaks, or is "".
func brokenBy(doc *critic.Document, i int) string {
	c := &doc.Cells[i]
	body := c.Body.Of(doc.Raw)
	switch own := doc.Raw[c.Body.End : c.Body.End+critic.DelimiterLen]; {
	case body == "", critic.FirstOpener(body) >= 0, strings.Contains(body, own), strings.Contains(body, "@@"), strings.Contains(body, "~>"):
		return "4, safe runs"
	case critic.EndsOpen(body, own[0]) && textFollows(doc, i):
		return "4, closed ends"
	case strings.HasSuffix(body, "\r") && textFollows(doc, i) && strings.HasPrefix(doc.Raw[doc.Cells[i+1].Start:], "\n"):
		return "4, whole line breaks"
	}
	return ""
}

// textFollows reports whether plain text comes after the run in cell i, or after the addition that goes with it.
func textFollows(doc *critic.Document, i int) bool {
	if a := &doc.Cells[i]; a.Kind == critic.Deletion && doc.IsMark(i+1, critic.Addition) {
		if b := &doc.Cells[i+1]; a.By().Author == b.By().Author || a.By().Author == "" && b.End > b.Body.End+critic.DelimiterLen {
			i++
		}
	}
	return doc.IsMark(i+1, critic.Text)
}

// furniture is law 7: without the writer's own marks the raw text is what it was, byte for byte, highlights, comments and
// other authors' suggestions included. What came beside the marks is comments of one line that nobody else has signed.
func furniture(x exchange) error {
	oldText := strings.Join(undecided(x.raw, x.known), "")
	if x.FrontMatter != nil {
		oldText = x.FrontMatter.After + oldText[len(x.FrontMatter.Before):]
	}
	if is := undecided(x.got, x.Known); !leaves(is, oldText) {
		return x.broken("7, furniture", "stored %q, which is %q undecided, not %q", x.got, is, oldText)
	}
	return nil
}

// undecided lists the parts of a raw text without the writer's marks: comments, and the text between them. It leaves out the comments
// at own, and highlights of which nothing but marks of the writer is left. It parses raw as it is, since the text around a comment may read as a mark once the comment is gone.
func undecided(raw string, known Known, own ...Span) []string {
	out := []string{""}
	doc := known.parse(raw)
	parts, size, opener := 0, -1, 0 // where the last highlight opens
	for i := range doc.Cells {
		switch c := &doc.Cells[i]; {
		case slices.Contains(own, c.Span):
		case c.Kind == critic.HighlightClose && parts == len(out) && size+doc.Cells[opener].Len() == len(out[parts-1]) && i > opener+1:
			out[parts-1] = out[parts-1][:size]
		case c.Kind == critic.HighlightOpen:
			parts, size, opener = len(out), len(out[len(out)-1]), i
			out[len(out)-1] += c.Of(raw)
		case c.Kind == critic.Comment:
			out = append(out, c.Of(raw), "")
		case c.IsSuggestion() && (c.By().Author == "" || strings.HasPrefix(c.By().Author, "AI ")):
			out[len(out)-1] += c.Deleted().Of(raw)
		default:
			out[len(out)-1] += c.Of(raw)
		}
	}
	return out
}

// leaves reports whether what is undecided is had, but for some comments that the writer may write.
func leaves(undecided []string, oldText string) bool {
	if len(undecided) > 100 {
		return true // there are too many ways
	}
	if without, ok := withoutWritten(undecided); ok && leaves(without, oldText) {
		return true
	}
	rest, ok := strings.CutPrefix(oldText, undecided[0])
	switch {
	case !ok:
		return false
	case len(undecided) == 1:
		return rest == ""
	}
	comment := undecided[1]
	if after, same := strings.CutPrefix(rest, comment); same && leaves(undecided[2:], after) {
		return true
	}
	return isWritten(comment) && leaves(undecided[2:], rest)
}

func isWritten(comment string) bool {
	return !strings.ContainsAny(comment, "\r\n") && Everything.parse(comment).Cells[0].By().Author != "Bob"
}

var highlightOpens = regexp.MustCompile(`\{==(\{"[^}]*\}@@)?$`)

// withoutWritten leaves out a highlight that has nothing but comments of the writer. It must open at the end of the first
// part. A decision on the writer's marks in the highlight removes these comments, and then the highlight.
func withoutWritten(undecided []string) ([]string, bool) {
	opener := highlightOpens.FindStringIndex(undecided[0])
	for k := 2; opener != nil && k < len(undecided) && isWritten(undecided[k-1]); k += 2 {
		if after, closes := strings.CutPrefix(undecided[k], "==}"); closes {
			return append([]string{undecided[0][:opener[0]] + after}, undecided[k+1:]...), true
		} else if undecided[k] != "" {
			break
		}
	}
	return nil, false
}

// minimal is law 8: the script is well formed and deletes nothing but delimiters, metadata and the writer's own
// additions.
func minimal(x exchange) error {
	raw := x.raw
	protected := make([]bool, len(raw))
	doc := x.known.parse(raw)
	addition := func(c critic.Cell) bool { return c.By().Author == "" && c.IsSuggestion() && c.Deleted().Empty() }
	for i := range doc.Cells {
		c := &doc.Cells[i]
		s := c.Span
		if c.By().Author == "" && c.IsSuggestion() {
			s = c.Deleted()
		}
		first, last := i, i // the highlight that begins or ends here
		for c.Kind == critic.HighlightOpen && (last == i || addition(doc.Cells[last])) && last+1 < len(doc.Cells) {
			last++
		}
		for c.Kind == critic.HighlightClose && (first == i || addition(doc.Cells[first])) && first > 0 {
			first--
		}
		if last-first > 1 && doc.Cells[first].Kind == critic.HighlightOpen && doc.Cells[last].Kind == critic.HighlightClose {
			continue // it may go with the additions that are all of it
		}
		for k := s.Start; k < s.End; k++ {
			protected[k] = true
		}
	}
	old, new := delimitersOf(doc), delimitersOf(x.Known.parse(x.got))
	pos, shift := 0, 0
	for _, e := range x.Edits {
		switch end := e.Off + e.Len; {
		case e.Off < pos || end > len(raw) || e.Len == 0 && e.New == "":
			return x.broken("8, form of the script", "edits %v", x.Edits)
		case !atRune(raw, e.Off) || !atRune(raw, end) || !utf8.ValidString(e.New):
			return x.broken("8, UTF-8", "edits %v", x.Edits)
		case x.FrontMatter == nil && slices.Contains(protected[e.Off:end], true):
			return x.broken("8, Minimal", "edit %v deletes %q", e, raw[e.Off:end])
		case old[e.Off] || old[end] || e.New != "" && (new[e.Off+shift] || new[e.Off+shift+len(e.New)]):
			return x.broken("8, whole delimiters", "stored %q, edits %v", x.got, x.Edits)
		}
		pos, shift = e.Off+e.Len, shift+len(e.New)-e.Len
	}
	return nil
}

// delimitersOf has the offsets between the characters of each delimiter of a mark or highlight.
func delimitersOf(doc *critic.Document) map[int]bool {
	inside := make(map[int]bool)
	for i := range doc.Cells {
		if c := &doc.Cells[i]; c.IsSuggestion() {
			inside[c.Start+1], inside[c.Start+2] = true, true
			inside[c.Body.End+1], inside[c.Body.End+2] = true, true
		} else if c.Kind == critic.HighlightOpen || c.Kind == critic.HighlightClose {
			inside[c.Start+1], inside[c.Start+2] = true, true
		}
	}
	return inside
}

func atRune(s string, off int) bool { return off == len(s) || utf8.RuneStart(s[off]) }

// apply is Put, carried out, with the marks that are known then.
func (o Options) apply(raw, accepted string) (string, Known, error) {
	r, err := o.Put(raw, accepted)
	return Apply(raw, r.Edits), r.Known, err
}

// takeBack is law 5 for a text without marks: a change that is taken back leaves nothing behind, except a comment, which
// stays, resolved.
func (s *tally) takeBack(o Options, x exchange, shown string) error {
	if x.FrontMatter != nil || hasComment(x.got, x.Known) || !x.known.parse(x.raw).Plain() || equalButBreaks(x.shown(), shown) {
		return nil
	}
	back, _, err := o.apply(x.got, shown)
	if err != nil || back != x.raw {
		return lawError("5, Amend", x.raw, x.shown(), "stored %q, taken back %q %v", x.got, back, err)
	}
	return nil
}

// repeat is law 6 for a text without marks: whether a change is made in one step or two, the marks come out the same.
// That is counted: where several lines change it may depend on the steps which line is taken for which. Hardly ever is half
// as much text again in the marks then.
func (s *tally) repeat(g *generator, o Options, x exchange) error {
	if hasComment(x.got, x.Known) || !x.known.parse(x.raw).Plain() {
		return nil
	}
	want := g.editOnce(x.want)
	leap, leapt, err1 := o.apply(x.raw, want)
	o.Known = x.Known
	step, stepped, err2 := o.apply(x.got, want)
	if err1 != nil || err2 != nil || stepped.Accepted(step) != want || leapt.Accepted(leap) != want {
		return nil
	}
	s.steps++
	if step != leap {
		s.forked++
		if 2*markedBytes(step, stepped) > 3*markedBytes(leap, leapt) {
			s.fatter++
		}
	}
	return nil
}

// lawBroken is a counterexample.
type lawBroken struct{ law, raw, want, detail string }

func (e *lawBroken) Error() string {
	return fmt.Sprintf("law %s\nraw  %q\nwant %q\n%s", e.law, e.raw, e.want, e.detail)
}

// markedBytes is how much text stands in the suggestions of a raw text.
func markedBytes(raw string, known Known) (n int) {
	for _, c := range known.parse(raw).Cells {
		if c.IsSuggestion() {
			n += c.Deleted().Len() + c.Added().Len()
		}
	}
	return n
}

func hasComment(raw string, known Known) bool {
	return slices.ContainsFunc(known.parse(raw).Cells, func(c critic.Cell) bool { return c.Kind == critic.Comment })
}

// TestLineHistory is law 6 for one line: its marks depend on the original line and the new line only, not on what the
// line was in between.
func TestLineHistory(t *testing.T) {
	for _, tc := range []struct {
		alphabet string
		maxApart float64 // share of rounds
	}{
		{"prose", 0},
		{"braces", 0.0001}, // where the raw text has an opener by chance, an edge moves
	} {
		letters, apart, all := newAlphabet(t, tc.alphabet), 0, 0
		randomtest.Check(t, rounds/5, func(t testing.TB, r *rand.Rand) {
			all++
			g := letters.generator(r)
			raw := g.text()
			lines := strings.Split(raw, "\n")
			i := g.IntN(len(lines))
			if !Everything.parse(raw).Plain() || lines[i] == "" || strings.Contains(raw, "\r") {
				return
			}
			change := func() string {
				changed := slices.Clone(lines)
				for range 1 + g.IntN(3) {
					from, to := g.spanIn(changed[i])
					changed[i] = changed[i][:from] + strings.Trim(g.word(), "\r\n") + changed[i][to:]
				}
				return strings.Join(changed, "\n")
			}
			via, want := change(), change()
			got, known, err1 := Options{}.apply(raw, via)
			a, _, err2 := Options{Known: known}.apply(got, want)
			b, _, err3 := Options{}.apply(raw, want)
			if err1 != nil || err2 != nil || err3 != nil || hasComment(got, known) {
				return
			}
			if a != b {
				if apart++; tc.maxApart > 0 && !isMore(apart, all, tc.maxApart) {
					return
				}
				t.Fatalf("%s: raw %q\nvia  %q\nwant %q\nstored first %q\nin two steps %q\nin one step  %q", tc.alphabet, raw, via, want, got, a, b)
			}
		})
	}
}

// TestWritersApart changes words of a line by one write after the other, with kept words between them: each stays a
// suggestion of its own, and none touches those before it.
func TestWritersApart(t *testing.T) {
	words := strings.Split("Grey herons wait, still as reeds, where shallow water slows", " ")
	for first := range len(words) - 4 {
		for second := first + 2; second < len(words)-2; second++ {
			for third := second + 2; third < len(words); third++ {
				for _, length := range []int{third + 1, len(words)} {
					checkApart(t, words[:length], []int{second, third, first})
				}
			}
		}
	}
}

// checkApart changes the words at the given places in their order.
func checkApart(t *testing.T, words []string, places []int) {
	t.Helper()
	written, marked := slices.Clone(words), slices.Clone(words)
	raw := strings.Join(words, " ")
	for n, at := range places {
		old := strings.TrimRight(words[at], ",")
		new := fmt.Sprintf("new%d", n)
		written[at] = strings.Replace(words[at], old, new, 1)
		marked[at] = strings.Replace(words[at], old, "{--"+old+"--}{++"+new+"++}", 1)
		edits, err := Put(raw, strings.Join(written, " "))
		if err != nil {
			t.Fatal(err)
		}
		if raw = Apply(raw, edits); raw != strings.Join(marked, " ") {
			t.Errorf("stored %q\nwant   %q", raw, strings.Join(marked, " "))
		}
	}
}

// A byte order mark changes nothing about the marks after it.
func TestByteOrderMark(t *testing.T) {
	letters := newAlphabet(t, "markdown")
	randomtest.Check(t, rounds/5, func(t testing.TB, r *rand.Rand) {
		g := letters.generator(r)
		raw := strings.TrimLeft(g.raw(), ByteOrderMark)
		written := strings.TrimLeft(g.edit(Accepted(raw)), ByteOrderMark)
		edits, err := Put(raw, written)
		after, refused := Put(ByteOrderMark+raw, []string{"", ByteOrderMark}[g.IntN(2)]+written)
		if (err == nil) != (refused == nil) || Apply(ByteOrderMark+raw, after) != ByteOrderMark+Apply(raw, edits) {
			t.Fatalf("Put(%q, %q) is %v, %v, and after a byte order mark %v, %v", raw, written, edits, err, after, refused)
		}
	})
}
