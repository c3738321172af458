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
const rounds = 10_000

// isMore reports whether n of all is a larger share than most, and more than chance explains.
func isMore(n, all int, most float64) bool {
	limit := most * float64(all)
	return float64(n) > limit+4*math.Sqrt(limit)+1
}

// tally counts what the rounds of one alphabet came to.
type tally struct{ rounds, ambiguous, foreign, other, steps, forked, fatter int }

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
			if isMore(sum.forked, sum.steps, 0.05) {
				t.Errorf("%d of %d changes came out otherwise in two steps, want at most 5 %%", sum.forked, sum.steps)
			}
			if isMore(sum.fatter, sum.steps, 0.001) {
				t.Errorf("%d of %d changes mark half as much again in two steps, want at most 0.1 %%", sum.fatter, sum.steps)
			}
		})
	}
}

// checkLaws makes one raw text and one change of it, and checks the laws on the result.
func checkLaws(g *generator, sum *tally) error {
	raw := g.raw()
	shown := Accepted(raw)
	want := g.edit(shown)
	options := g.options()
	sum.rounds++
	if r, err := options.Put(raw, shown); err != nil || len(r.Edits) > 0 {
		return lawError("2, GetPut", raw, shown, "%v %v", r.Edits, err)
	}
	result, err := options.Put(raw, want)
	if err != nil {
		return sum.refused(raw, want, err)
	}
	want = withMarkOf(raw, shown, want)
	if !equalButBreaks(shown, want) {
		want = withBreaksOf(shown+Original(raw), want)
	}
	got := Apply(raw, result.Edits)
	for _, law := range []func(raw, want, got string, r Result) error{putGet, base, safeRuns, furniture, minimal} {
		if err := law(raw, want, got, result); err != nil {
			return err
		}
	}
	if r, err := options.Put(got, want); err != nil || len(r.Edits) > 0 && Accepted(got) == want {
		return lawError("6, idempotence", raw, want, "stored %q, then %v %v", got, r.Edits, err)
	}
	if err := sum.takeBack(options, raw, shown, got, result); err != nil {
		return err
	}
	return sum.repeat(g, options, raw, want, got)
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
func putGet(raw, want, got string, r Result) error {
	if Accepted(got) == want || got == raw && equalButBreaks(Accepted(raw), want) {
		return nil
	}
	return lawError("1, PutGet", raw, want, "stored %q, shows %q", got, Accepted(got))
}

// equalButBreaks states the exception of law 1 in another way than the code does.
func equalButBreaks(a, b string) bool {
	norm := func(s string) string { return strings.TrimSuffix(strings.ReplaceAll(s, "\r\n", "\n"), "\n") }
	return norm(a) == norm(b)
}

// withMarkOf states the exception of law 1 for byte order marks in another way than the code does: the one at the start of
// what was shown stays, and none comes there.
func withMarkOf(raw, shown, want string) string {
	switch had, has := strings.HasPrefix(shown, ByteOrderMark), strings.HasPrefix(want, ByteOrderMark); {
	case has && !had:
		return want[len(ByteOrderMark):]
	case had && !has && strings.HasPrefix(raw, ByteOrderMark):
		return ByteOrderMark + want
	}
	return want
}

var anyBreak = regexp.MustCompile("\r?\n")

// withBreaksOf states the other exception of law 1 in another way than the code does.
func withBreaksOf(views, want string) string {
	kinds := make(map[string]bool)
	for _, text := range []string{views, want} {
		own := make(map[string]bool)
		for _, brk := range anyBreak.FindAllString(text, -1) {
			own[brk], kinds[brk] = true, true
		}
		if len(own) != 1 {
			return want
		}
	}
	if len(kinds) == 1 {
		return want
	}
	return anyBreak.ReplaceAllLiteralString(want, anyBreak.FindString(views))
}

// base is law 3.
func base(raw, want, got string, r Result) error {
	old := Original(raw)
	if r.FrontMatter != nil {
		old = r.FrontMatter.After + old[len(r.FrontMatter.Before):]
	}
	if Original(got) != old {
		return lawError("3, Base", raw, want, "stored %q\noriginal %q\nwas      %q", got, Original(got), old)
	}
	return nil
}

// safeRuns is law 4: the predicates on every run that was written. Runs that were there before may break them.
func safeRuns(raw, want, got string, r Result) error {
	known := make(map[string]int)
	before := critic.Parse(raw)
	for i := range before.Cells {
		known[before.Cells[i].Of(raw)]++
	}
	after := critic.Parse(got)
	for i := range after.Cells {
		c := &after.Cells[i]
		if c.Kind != critic.Addition && c.Kind != critic.Deletion {
			continue
		}
		law := brokenBy(after, i)
		if text := c.Of(got); law != "" && known[text] > 0 {
			known[text]--
		} else if law != "" {
			return lawError(law, raw, want, "stored %q has the run %q", got, text)
		}
	}
	return nil
}

// brokenBy names the part of law 4 that the run in cell i breaks, or is "".
func brokenBy(doc *critic.Document, i int) string {
	c := &doc.Cells[i]
	body := c.Body.Of(doc.Raw)
	switch own := doc.Raw[c.Body.End:c.Close]; {
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
		if b := &doc.Cells[i+1]; a.Author == b.Author || a.Author == "" && b.End > b.Close {
			i++
		}
	}
	return doc.IsMark(i+1, critic.Text)
}

// furniture is law 7: without the writer's own marks the raw text is what it was, byte for byte, highlights, comments and
// other authors' suggestions included. What came beside the marks is comments of one line that nobody else has signed.
func furniture(raw, want, got string, r Result) error {
	had := strings.Join(undecided(raw), "")
	if r.FrontMatter != nil {
		had = r.FrontMatter.After + had[len(r.FrontMatter.Before):]
	}
	if !leaves(undecided(got), had) {
		return lawError("7, furniture", raw, want, "stored %q, which is %q undecided, not %q", got, undecided(got), had)
	}
	return nil
}

// undecided lists the parts of a raw text without the writer's marks: comments, and the text between them. It leaves out the comments
// at own. It parses raw as it is, since the text around a comment may read as a mark once the comment is gone.
func undecided(raw string, own ...Span) []string {
	out := []string{""}
	doc := critic.Parse(raw)
	for i := range doc.Cells {
		switch c := &doc.Cells[i]; {
		case slices.Contains(own, c.Span):
		case c.Kind == critic.Comment:
			out = append(out, c.Of(raw), "")
		case c.IsSuggestion() && (c.Author == "" || strings.HasPrefix(c.Author, "AI ")):
			out[len(out)-1] += c.Deleted.Of(raw)
		default:
			out[len(out)-1] += c.Of(raw)
		}
	}
	return out
}

// leaves reports whether what is undecided is had, but for some comments that the writer may write.
func leaves(undecided []string, had string) bool {
	if len(undecided) > 100 {
		return true // there are too many ways
	}
	rest, ok := strings.CutPrefix(had, undecided[0])
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
	return !strings.ContainsAny(comment, "\r\n") && critic.Parse(comment).Cells[0].Author != "Bob" && leaves(undecided[2:], rest)
}

// minimal is law 8: the script is well formed and deletes nothing but delimiters, metadata and the writer's own
// additions.
func minimal(raw, want, got string, r Result) error {
	protected := make([]bool, len(raw))
	doc := critic.Parse(raw)
	for i := range doc.Cells {
		c := &doc.Cells[i]
		s := c.Span
		if c.Author == "" && c.IsSuggestion() {
			s = c.Deleted
		}
		for k := s.Start; k < s.End; k++ {
			protected[k] = true
		}
	}
	pos := 0
	for _, e := range r.Edits {
		switch end := e.Off + e.Len; {
		case e.Off < pos || end > len(raw) || e.Len == 0 && e.New == "":
			return lawError("8, form of the script", raw, want, "edits %v", r.Edits)
		case !atRune(raw, e.Off) || !atRune(raw, end) || !utf8.ValidString(e.New):
			return lawError("8, UTF-8", raw, want, "edits %v", r.Edits)
		case r.FrontMatter == nil && slices.Contains(protected[e.Off:end], true):
			return lawError("8, Minimal", raw, want, "edit %v deletes %q", e, raw[e.Off:end])
		}
		pos = e.Off + e.Len
	}
	return nil
}

func atRune(s string, off int) bool { return off == len(s) || utf8.RuneStart(s[off]) }

// apply is Put, carried out.
func (o Options) apply(raw, accepted string) (string, error) {
	r, err := o.Put(raw, accepted)
	return Apply(raw, r.Edits), err
}

// takeBack is law 5 for a text without marks: a change that is taken back leaves nothing behind, except a comment, which
// stays, resolved.
func (s *tally) takeBack(o Options, raw, shown, got string, r Result) error {
	if r.FrontMatter != nil || hasComment(got) || !critic.Parse(raw).Plain() || equalButBreaks(Accepted(got), shown) {
		return nil
	}
	back, err := o.apply(got, shown)
	if err != nil || back != raw {
		return lawError("5, Amend", raw, Accepted(got), "stored %q, taken back %q %v", got, back, err)
	}
	return nil
}

// repeat is law 6 for a text without marks: whether a change is made in one step or two, the marks come out the same.
// That is counted: where several lines change it may depend on the steps which line is taken for which. Hardly ever is half
// as much text again in the marks then.
func (s *tally) repeat(g *generator, o Options, raw, first, got string) error {
	if hasComment(got) || !critic.Parse(raw).Plain() {
		return nil
	}
	want := g.editOnce(first)
	step, err1 := o.apply(got, want)
	leap, err2 := o.apply(raw, want)
	if err1 != nil || err2 != nil || Accepted(step) != want || Accepted(leap) != want {
		return nil
	}
	s.steps++
	if step != leap {
		s.forked++
		if 2*markedBytes(step) > 3*markedBytes(leap) {
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
func markedBytes(raw string) (n int) {
	for _, c := range critic.Parse(raw).Cells {
		if c.IsSuggestion() {
			n += c.Deleted.Len() + c.Added.Len()
		}
	}
	return n
}

func hasComment(raw string) bool {
	return slices.ContainsFunc(critic.Parse(raw).Cells, func(c critic.Cell) bool { return c.Kind == critic.Comment })
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
			if !critic.Parse(raw).Plain() || lines[i] == "" || strings.Contains(raw, "\r") {
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
			first, err1 := Put(raw, via)
			got := Apply(raw, first)
			step, err2 := Put(got, want)
			leap, err3 := Put(raw, want)
			if err1 != nil || err2 != nil || err3 != nil || hasComment(got) {
				return
			}
			if a, b := Apply(got, step), Apply(raw, leap); a != b {
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
