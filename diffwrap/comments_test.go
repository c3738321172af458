package diffwrap

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/relayfs/relayfs/diffwrap/internal/critic"
	"github.com/relayfs/relayfs/diffwrap/internal/span"
	"github.com/relayfs/relayfs/tests/need"
	"github.com/relayfs/relayfs/tests/randomtest"
)

// A comment that repeats a word beside it is written whole, also beside another author's text.
func TestCommentsThatRepeatAWordStayWhole(t *testing.T) {
	const raw = "a {--b--}{++c++} d\n"
	options := Options{Author: "ann", Owners: map[int]Owner{2: {Suggestion: "s", Author: "bob", Access: Foreign}, 9: {Suggestion: "s", Author: "bob", Access: Foreign}}}
	result, err := options.Put(raw, "a {>>c<<}c d\n")
	if got, want := Apply(raw, result.Edits), "a {>>c<<}{--b--}{++c++} d\n"; err != nil || got != want {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
}

// A comment that replaces text is no comment on the deletion of that text: then both would go when it is accepted.
func TestTextBecomesAComment(t *testing.T) {
	for raw, c := range map[string]struct{ shown, want string }{
		"a b c\n":   {"a {>>b<<} c\n", "a {>>b<<}{--b--} c\n"},
		"a\nb\nc\n": {"a\n{>>b<<}\nc\n", "a\n{>>b<<}{--b--}\nc\n"},
	} {
		result, err := Options{}.Put(raw, c.shown)
		after := Apply(raw, result.Edits)
		decided := Apply(after, Everything.Accept(after, Everything.Suggestions(after)...))
		if err != nil || after != c.want || decided != c.shown {
			t.Errorf("%q: stored %q, %v, and accepted %q; want %q and %q", c.shown, after, err, decided, c.want, c.shown)
		}
	}
}

// TestCommentsStay is law 7 for a line that was changed around its comments: those are left alone, byte for byte, and
// none is marked as resolved and written anew. In a change of some hundred thousand the comparison keeps a word that the
// comment has passed instead: the comment of "苹{>>TODO<<}果" moves if the new text is "苹果{>>TODO<<}" and goes on otherwise.
func TestCommentsStay(t *testing.T) {
	for _, alphabet := range []string{"prose", "braces"} {
		letters := newAlphabet(t, alphabet)
		changed, all := 0, 0
		randomtest.CheckFrom(t, 30000, rounds/5, func(t testing.TB, r *rand.Rand) {
			all++
			g := letters.generator(r)
			raw := g.commented()
			options := g.options()
			options.Known = g.known(raw)
			shown := options.Known.Accepted(raw)
			want := g.editAround(shown)
			if !slices.Equal(commentsIn(shown, Everything), commentsIn(want, Everything)) {
				return
			}
			result, err := options.Put(raw, want)
			if err != nil || result.FrontMatter != nil {
				return
			}
			changed++
			if err := commentsStay(exchange{raw, options.Known, want, Apply(raw, result.Edits), result}); err != nil {
				t.Fatalf("%s: %v", alphabet, err)
			}
		})
		if all > 100 && 10*changed < all {
			t.Errorf("%s: %d changes were checked in %d rounds, want a tenth at least", alphabet, changed, all)
		}
	}
}

// TestCommentsThatChanged is the law for comments that once changed: those that read as part of a longer one in the
// accepted view, and one whose break was taken for a break of the text.
func TestCommentsThatChanged(t *testing.T) {
	for _, tt := range []struct{ raw, want string }{
		{"a{{=={----}{++>++}==}>{>>why?<<}aaaaaaaaaa", "aa{>>{>>why?<<}aaaaaaaaaa"},
		{"one \r\n `{>>two\nlines<<}code` end", "one \rthe\n `{>>two\nlines<<}code` end"},
		{"one\r\n{>>two\nlines<<}code", "{>>two\nlines<<}code"},
		{`{==aaaaa{==}>>{{author="Bob" date="2026-07-13T07:01:55.123Z">>a<<}}aaaaaaaaa`, `aaaaaa{>>{{author="Bob" date="2026-07-13T07:01:55.123Z">>a<<}}aaaaaaaaa`},
	} {
		known := knownIn(tt.raw)
		result, err := Options{Known: known}.Put(tt.raw, tt.want)
		if err != nil {
			t.Fatal(err)
		}
		if err := commentsStay(exchange{tt.raw, known, tt.want, Apply(tt.raw, result.Edits), result}); err != nil {
			t.Error(err)
		}
	}
}

// TestOwnComments checks the laws for a writer whose comments are known: it changes them and takes them back without a
// mark, leaves everybody else's, and touches none that wait for a decision.
func TestOwnComments(t *testing.T) {
	for _, alphabet := range []string{"prose", "braces"} {
		letters := newAlphabet(t, alphabet)
		randomtest.Check(t, rounds/5, func(t testing.TB, r *rand.Rand) {
			g := letters.generator(r)
			raw := g.commented()
			var own, waiting []Span
			known := g.known(raw)
			for _, c := range known.Comments(raw) {
				if c.Author == "" && !strings.Contains(raw[c.Start:c.End], "\n") && g.IntN(2) == 0 {
					own = append(own, span.New(c.Start, c.End))
				} else if g.IntN(2) == 0 {
					waiting = append(waiting, span.New(c.Start, c.End))
				}
			}
			want := g.edit(known.Accepted(raw))
			if err := ownComments(raw, known, want, own, waiting); err != nil {
				t.Fatalf("%s: %v", alphabet, err)
			}
		})
	}
}

// TestOwnCommentInLiteral is the law for a comment without which the text around it is an opener.
func TestOwnCommentInLiteral(t *testing.T) {
	raw := "{{>>why?<<}++{++a++}aaaaaaaaaaaaaaaa"
	if err := ownComments(raw, Known{}, "", []Span{span.New(1, 11)}, nil); err != nil {
		t.Error(err)
	}
}

// A highlight that only additions of the writer fill goes with them, also if the writer has put a comment between them.
func TestACommentInAnAddedHighlightGoesWithIt(t *testing.T) {
	const raw, want = "a {=={++the++}==} b\n", "a t{>>sure?<<}he b\n"
	result, err := Options{}.Put(raw, want)
	got := Apply(raw, result.Edits)
	if err != nil || !leaves(undecided(got, result.Known), "a  b\n") {
		t.Errorf("stored %q, %v", got, err)
	}
	if left := Apply(got, result.Known.Decide(got, false, nil, result.Known.Suggestions(got)...)); left != "a  b\n" {
		t.Errorf("stored %q, rejected %q", got, left)
	}
}

// ownComments is the law for one change of a text in which the comments at own are the writer's.
func ownComments(raw string, known Known, want string, own, waiting []Span) error {
	options := Options{Known: known, Author: "AI", Owners: make(map[int]Owner)}
	for _, c := range own {
		options.Owners[c.Start] = Owner{Access: Own}
	}
	for _, c := range waiting {
		options.Owners[c.Start] = Owner{Access: Waiting}
	}
	result, err := options.Put(raw, want)
	if err != nil || result.FrontMatter != nil {
		return nil
	}
	for _, e := range result.Edits {
		if slices.ContainsFunc(waiting, func(c Span) bool { return e.Off < c.End && c.Start < e.Off+e.Len || c.Start < e.Off && e.Off < c.End }) {
			return lawError("7, furniture", raw, want, "%+v touches one of %v", e, waiting)
		}
	}
	if got := Apply(raw, result.Edits); !leaves(undecided(got, result.Known), strings.Join(undecided(raw, known, own...), "")) {
		return lawError("7, furniture", raw, want, "stored %q, own %v", got, own)
	}
	return nil
}

// TestManyOpeners bounds what is done to find out who signed what, in texts that are nothing but openers.
func TestManyOpeners(t *testing.T) {
	notes := ""
	for k := range 100 {
		notes += fmt.Sprintf("a {>>why %d?<<}\n", k)
	}
	for _, piece := range []string{`{>>{"`, `{{author="`, `{++{"a":"`, "{--{>--}", `{--{{`, "{{"} {
		text := strings.Repeat(piece, 200_000/len(piece)) + `"}@@<<}++}--}`
		start := time.Now()
		raw, known, err := Options{}.apply("a\n", text)
		if err == nil {
			_, _, _ = Options{Known: known}.apply(raw, "b\n")
		}
		_, _, _ = Options{}.apply(text, "b\n")
		_, _, _ = Options{}.apply(notes, "```\n"+text)
		if took := time.Since(start); took > need.Scaled(time.Minute) {
			t.Errorf("%q: %v", piece, took)
		} else {
			t.Logf("%q: %v", piece, took)
		}
	}
}

// commented makes a text with comments and other marks in it.
func (g *generator) commented() string {
	s := g.text()
	end := len(s)
	for range 1 + g.IntN(5) {
		from, to := g.spanIn(s[:end])
		mark := "{>>" + g.comment() + "<<}"
		switch g.IntN(6) {
		case 0:
			mark = `{>>{"done":true}@@` + g.comment() + "<<}"
		case 1, 2:
			mark = g.mark(s[from:to])
		default:
			to = from
		}
		s, end = s[:from]+mark+s[to:], from
	}
	return s
}

// comment makes what a comment says; few words, so that texts have several with one text.
func (g *generator) comment() string { return []string{"why?", "TODO", "a b", "two\nlines"}[g.IntN(4)] }

// editAround changes words of one line, but none of its comments.
func (g *generator) editAround(s string) string {
	breaks := []int{-1}
	for i, c := range []byte(s) {
		if c == '\n' {
			breaks = append(breaks, i)
		}
	}
	k := g.IntN(len(breaks))
	line := span.New(breaks[k]+1, len(s))
	if k+1 < len(breaks) {
		line.End = breaks[k+1]
	}
	text := line.Of(s)
	for range 1 + g.IntN(4) {
		from, to := g.spanIn(text)
		text = text[:from] + strings.Trim(g.word(), "\r\n") + text[to:]
	}
	return s[:line.Start] + text + s[line.End:]
}

// commentsIn lists the open comments of a text.
func commentsIn(text string, known Known) []string {
	var out []string
	doc := known.parse(text)
	for i := range doc.Cells {
		if c := &doc.Cells[i]; c.Kind == critic.Comment && !c.Resolved {
			out = append(out, c.Of(text))
		}
	}
	return out
}

// commentsStay checks that no edit touches an open comment of raw.
func commentsStay(x exchange) error {
	doc := x.known.parse(x.raw)
	for i := range doc.Cells {
		c := &doc.Cells[i]
		if c.Kind != critic.Comment || c.Resolved {
			continue
		}
		for _, e := range x.Edits {
			if e.Off < c.End && e.Off+e.Len > c.Start {
				return x.broken("7, comments stay", "stored %q, edit %v touches %q", x.got, e, c.Of(x.raw))
			}
		}
	}
	if len(commentsIn(x.got, x.Known)) != len(commentsIn(x.raw, x.known)) {
		return x.broken("7, comments stay", "stored %q", x.got)
	}
	return nil
}

// A deleted comment has two marks, for its opener and for the rest. No text goes between them: it would cut the comment.
func TestAnAdditionDoesNotCutADeletedComment(t *testing.T) {
	const raw = "a {>>why so<<}{--{>--}{-->why<<}--}  b {++c++}\n"
	options := Options{Known: Everything, Author: "ann", Owners: map[int]Owner{
		strings.Index(raw, "{>>"):   {Author: "ann"},
		strings.Index(raw, "{--{>"): {Suggestion: "s", Author: "ann", Access: Earlier},
		strings.Index(raw, "{-->"):  {Suggestion: "s", Author: "ann", Access: Earlier},
		strings.Index(raw, "{++"):   {Suggestion: "f", Author: "bob", Access: Foreign},
	}}
	result, err := options.Put(raw, "a {>>why so<<}new  words b c\n")
	if got, want := Apply(raw, result.Edits), "a {>>why so<<}{--{>--}{-->why<<}--}{++new++}  {++words ++}b {++c++}\n"; err != nil || got != want {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
}
