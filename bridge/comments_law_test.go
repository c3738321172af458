package bridge_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/relayfs/relayfs/tests/randomtest"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/bridgetest"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/diffwrap"
)

var commentOrWord = regexp.MustCompile(`\{>>.*?<<\}|\w+|\s|[^\w\s]`)

// rewrite is one edit that an agent makes of a text, among its words and comments.
func rewrite(r *rand.Rand, text string, fresh func() string) string {
	tokens := commentOrWord.FindAllString(text, -1)
	if len(tokens) < 2 {
		return fresh() + text
	}
	i := randomtest.Between(r, 0, len(tokens)-2) // the last is the line's end
	switch randomtest.Pick(r, "reword", "extend", "delete", "move", "add") {
	case "reword":
		if strings.HasPrefix(tokens[i], "{>>") {
			tokens[i] = "{>>" + fresh() + "<<}"
		} else {
			tokens[i] = fresh()
		}
	case "extend":
		if body, ok := strings.CutSuffix(tokens[i], "<<}"); ok {
			tokens[i] = body + fresh() + "<<}"
		} else {
			tokens[i] += fresh()
		}
	case "delete":
		tokens = slices.Delete(tokens, i, i+1)
	case "move":
		token := tokens[i]
		tokens = slices.Delete(tokens, i, i+1)
		tokens = slices.Insert(tokens, r.IntN(len(tokens)), token)
	case "add":
		word := fresh()
		tokens = slices.Insert(tokens, i, randomtest.Pick(r, word, " "+word, "{>>"+word+"<<}", " {>>"+word+"<<}", word+"{>>r"+word+"<<}"))
	}
	return strings.Join(tokens, "")
}

// TestCommentsLaw: in whatever order two agents write, when everything is rejected at once, nothing is left that
// they wrote, comments included, and what people wrote stands as it stood; that is undone to the byte; and when
// everything is accepted, the note is what the agents saw, except for the remarks on suggestions.
func TestCommentsLaw(t *testing.T) {
	randomtest.Check(t, 100, func(t testing.TB, r *rand.Rand) {
		before := randomtest.Pick(r,
			"p {>>c1<<} q\n", "p{>>c1<<} q r\n", "{>>c1<<} p\n", "p q {>>c1<<}\n", "p {>>c1<<}{>>c2<<} q\n", "p {>>c1<<} q{>>c2<<} r\n\ns {>>c3<<}\n",
		)
		f := bridgetest.New(t, map[string]string{plan: before})
		made := 0
		fresh := func() string {
			made++
			return fmt.Sprintf("w%d", made)
		}
		write := func() {
			v := open(t, f.Workspace, plan)
			text := v.Text()
			for range randomtest.Between(r, 1, 3) {
				text = rewrite(r, text, fresh)
			}
			author := randomtest.Pick(r, ann, model.Author{Name: "bob", Session: "s"})
			_, err := f.Write(t.Context(), plan, bridge.Write{Base: v, Text: text, By: author})
			if err != nil && !errors.Is(err, model.ErrRefused) {
				t.Fatal(err)
			}
			t.Logf("%s wrote %q: %q, %v", author.Name, text, open(t, f.Workspace, plan).Raw(), err)
		}
		is := func(what, want string) {
			if got := open(t, f.Workspace, plan).Raw(); got != want {
				t.Fatalf("%s: %q, want %q", what, got, want)
			}
		}
		decide := func(verdict model.Verdict, want string) (batch string) {
			var ids []string
			for _, s := range pendingOf(t, f.Workspace) {
				ids = append(ids, s.ID)
			}
			raw := open(t, f.Workspace, plan).Raw()
			out, err := f.Decide(t.Context(), ids, verdict, person)
			if err != nil || len(out.Failed)+len(out.Missing) > 0 {
				t.Fatalf("%s: %+v, %v", verdict, out, err)
			}
			is(fmt.Sprintf("all %s of %q", verdict, raw), want)
			if left := pendingOf(t, f.Workspace); len(left) > 0 {
				t.Fatalf("all %s of %q: pending %+v", verdict, raw, left)
			}
			return out.Batch
		}
		for range randomtest.Between(r, 1, 4) {
			write()
		}
		v := open(t, f.Workspace, plan)
		batch := decide(model.Rejected, before)
		if v.Raw() != before {
			if _, err := f.Undo(t.Context(), batch, person); err != nil {
				t.Fatal(err)
			}
			is("taken back", v.Raw())
			if r.IntN(2) > 0 {
				write()
				decide(model.Rejected, before)
				return
			}
		}
		remarks := make(map[string]bool) // on suggestions
		for _, c := range (diffwrap.Known{}).Comments(v.Raw()) {
			remarks[c.New] = true
		}
		for _, s := range pendingOf(t, f.Workspace) {
			if s.Kind == diffwrap.Comment {
				delete(remarks, s.New)
			}
		}
		decide(model.Accepted, theirs.ReplaceAllStringFunc(v.Text(), func(comment string) string {
			if remarks[comment[3:len(comment)-3]] {
				return ""
			}
			return comment
		}))
	})
}

// theirs are comments that an agent wrote, or wrote in.
var theirs = regexp.MustCompile(`\{>>[^<]*w[^<]*<<\}`)

// TestRejectedAmongComments rejects everything after writes that the law failed on: a new comment that kept the brace of a
// mark, a remark that came to stand alone, and comments of people that were freed of a deletion, or came to touch a suggestion.
func TestRejectedAmongComments(t *testing.T) {
	for _, writes := range [][]string{
		{"p {>>c1<<} q\n", "p {>>c1<<} q1\n", "p {>>W<<} q1\n"},
		{"p {>>c1<<} q\n", "  {>>w1<<}{>>c1<<} q\n", "w2 {>>w1<<}{>>c1<<} q\n"},
		{"p {>>c1<<}{>>c2<<} q\n", "w1 {>>c2<<}{>>c1<<} q\n", "w1 {>>w2<<}{>>c1<<} q\n"},
		{"{>>c1<<} p\n", "{>>c1<<}w1p\n", "w1p {>>w3<<} {>>w2<<}{>>c1<<}\n", "w1p {>>w3<<}{>>w2<<}{>>c1<<}\n"},
		{"p {>>c1<<}{>>c2<<} q\n", "p {>>c1<<}{>>w1<<}{>>w2<<} q\n", "p {>>c1<<}{>>w2<<} q\n"},
	} {
		f := bridgetest.New(t, map[string]string{plan: writes[0]})
		for _, text := range writes[1:] {
			write(t, f.Workspace, plan, bridge.Write{Base: open(t, f.Workspace, plan), Text: text, By: ann})
		}
		raw := open(t, f.Workspace, plan).Raw()
		var ids []string
		for _, s := range pendingOf(t, f.Workspace) {
			ids = append(ids, s.ID)
		}
		if _, err := f.Decide(t.Context(), ids, model.Rejected, person); err != nil {
			t.Fatal(err)
		}
		if got := open(t, f.Workspace, plan).Raw(); got != writes[0] {
			t.Errorf("%q rejected: %q, want %q", raw, got, writes[0])
		}
	}
}
