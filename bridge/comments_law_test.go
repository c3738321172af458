package bridge_test

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/bridgetest"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/diffwrap"
)

var commentOrWord = regexp.MustCompile(`\{>>.*?<<\}|\w+|\s|[^\w\s]`)

// rewrite is one edit that an agent makes of a text, among its words and comments.
func rewrite(t *rapid.T, text string, fresh func() string) string {
	tokens := commentOrWord.FindAllString(text, -1)
	if len(tokens) < 2 {
		return fresh() + text
	}
	i := rapid.IntRange(0, len(tokens)-2).Draw(t, "token") // the last is the line's end
	switch rapid.SampledFrom([]string{"reword", "extend", "delete", "move", "add"}).Draw(t, "edit") {
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
		tokens = slices.Insert(tokens, rapid.IntRange(0, len(tokens)-1).Draw(t, "to"), token)
	case "add":
		word := fresh()
		tokens = slices.Insert(tokens, i, rapid.SampledFrom([]string{word, " " + word, "{>>" + word + "<<}", " {>>" + word + "<<}", word + "{>>r" + word + "<<}"}).Draw(t, "piece"))
	}
	return strings.Join(tokens, "")
}

// TestCommentsLaw: in whatever order two agents write, when everything is rejected at once, nothing is left that
// they wrote, comments included, and what people wrote stands as it stood; that is undone to the byte; and when
// everything is accepted, the note is what the agents saw, except for the remarks on suggestions.
func TestCommentsLaw(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		before := rapid.SampledFrom([]string{
			"p {>>c1<<} q\n", "p{>>c1<<} q r\n", "{>>c1<<} p\n", "p q {>>c1<<}\n", "p {>>c1<<}{>>c2<<} q\n", "p {>>c1<<} q{>>c2<<} r\n\ns {>>c3<<}\n",
		}).Draw(rt, "people's text")
		f := bridgetest.New(t, map[string]string{plan: before})
		made := 0
		fresh := func() string {
			made++
			return fmt.Sprintf("w%d", made)
		}
		write := func() {
			v := open(t, f.Workspace, plan)
			text := v.Text()
			for range rapid.IntRange(1, 3).Draw(rt, "edits") {
				text = rewrite(rt, text, fresh)
			}
			author := rapid.SampledFrom([]model.Author{ann, {Name: "bob", Session: "s"}}).Draw(rt, "agent")
			_, err := f.Write(t.Context(), plan, bridge.Write{Base: v, Text: text, By: author})
			if err != nil && !errors.Is(err, model.ErrRefused) {
				rt.Fatal(err)
			}
			rt.Logf("%s wrote %q: %q, %v", author.Name, text, open(t, f.Workspace, plan).Raw(), err)
		}
		is := func(what, want string) {
			if got := open(t, f.Workspace, plan).Raw(); got != want {
				rt.Fatalf("%s: %q, want %q", what, got, want)
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
				rt.Fatalf("%s: %+v, %v", verdict, out, err)
			}
			is(fmt.Sprintf("all %s of %q", verdict, raw), want)
			if left := pendingOf(t, f.Workspace); len(left) > 0 {
				rt.Fatalf("all %s of %q: pending %+v", verdict, raw, left)
			}
			return out.Batch
		}
		for range rapid.IntRange(1, 4).Draw(rt, "writes") {
			write()
		}
		v := open(t, f.Workspace, plan)
		batch := decide(model.Rejected, before)
		if v.Raw() != before {
			if _, err := f.Undo(t.Context(), batch, person); err != nil {
				rt.Fatal(err)
			}
			is("taken back", v.Raw())
			if rapid.Bool().Draw(rt, "more") {
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
