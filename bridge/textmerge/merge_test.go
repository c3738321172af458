package textmerge

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/relayfs/relayfs/bridge/ycrdt"
	"github.com/relayfs/relayfs/diffwrap"
	"github.com/relayfs/relayfs/tests/randomtest"
)

// docOf makes a document with the given text and the version it is in.
func docOf(raw string) (*ycrdt.Doc, *ycrdt.Text, Side) {
	doc := ycrdt.NewDoc(ycrdt.Options{})
	text := doc.Text("contents")
	doc.Transact(func(txn *ycrdt.Txn) { text.Insert(txn, 0, raw) })
	return doc, text, sideOf(text)
}

func sideOf(text *ycrdt.Text) Side {
	raw := text.String()
	return Side{Raw: raw, Canonical: raw, Text: diffwrap.Accepted(raw), Runs: text.Runs()}
}

func edit(doc *ycrdt.Doc, text *ycrdt.Text, raw string) Side {
	have := text.String()
	doc.Transact(func(txn *ycrdt.Txn) { ApplyEdits(txn, text, have, DiffSave(have, raw)) })
	return sideOf(text)
}

func TestMergeView(t *testing.T) {
	tests := []struct{ name, base, cur, text, want string }{
		{"nothing between", "a b c", "a b c", "a B c", "a B c"},
		{"writer changed nothing", "a b c", "a b c d", "a b c", "a b c d"},
		{"far apart", "one\ntwo\nthree\n", "ONE\ntwo\nthree\n", "one\ntwo\nTHREE\n", "ONE\ntwo\nTHREE\n"},
		{"beside", "alpha beta\n", "alpha new beta\n", "ALPHA beta\n", "ALPHA new beta\n"},
		{"inside what the writer drops", "keep alpha beta gamma end", "keep alpha typed beta gamma end", "keep end", "keep typed end"},
		{"same word replaced alike", "I teh end", "I the end", "I the end", "I the end"},
		{"same word replaced differently", "the green door", "the blue door", "the red door", "the blue red door"},
		{"same words replaced differently", "the old gate is here", "the PERSON gate is here", "the red and new gate is here", "the PERSON red and new gate is here"},
		{"typed at both ends of what the writer replaces", "a old b", "a xold b", "a new b", "a x new b"},
		{"typed in the middle of what the writer replaces", "one two three\nend\n", "one two typed three\nend\n", "new\nend\n", "new typed \nend\n"},
		{"added behind what the person replaced", "one two end", "one 2 end", "one two, three end", "one 2, three end"},
		{"added at the end behind what the person replaced", "one two", "one 2\nand more", "1 two, three", "1 2\nand more, three"},
		{"a line break that others replaced", "one two\n\nend\n", "one two\nmore \nend\n", "one red\n\nend\n", "one red\nmore \nend\n"},
		{"lines between and behind what the writer takes away", "one\ntwo\nthree\nfour\n", "one\ntwo\nthree\ntyped\nfour\nat the end\n", "one\ntwo\n", "one\ntwo\ntyped\nat the end\n"},
		{"a word that the writer takes away and others replace", "p2 p3 ", "p13 p3 ", "p3 ", "p13 p3 "},
		{"a word that the writer takes away and others type in", "p2 p3 ", "p42 p3 ", "p3 ", "p42 p3 "},
		{"a word in the middle that the writer takes away and others replace", "one two three", "one 2 three", "one three", "one 2 three"},
		{"a blank that the writer takes away", "one two", "one two three", "onetwo", "onetwo three"},
		{"a word that others have before another one, and the writer replaces", "p1 p2 p3 ", "p2 p9 p3 ", "p1 a1 p3 ", "a1 p9 p3 "},
		{"a letter in a word that others take away", "A7q A8q end", "new end", "A17q A8q end", "new A17q end"},
		{"append to a longer text", "log\n", "log\nperson\n", "log\nagent\n", "log\nperson\nagent\n"},
		{"a line added after the last one, which the writer takes away", "a\nb\n", "a\nb\nc\n", "a\n", "a\nc\n"},
		{"a line added in the middle of what the writer takes away", "a\nb\nc\n", "a\nb\nx\nc\n", "a\nc\n", "a\nx\nc\n"},
		{"a line that the other side deletes with the other line break", "a\nb\nc\n", "a\nc\n", "a\nc\n", "a\nc\n"},
		{"a line that the writer replaces and others take away", "a\nb\n", "b\n", "x\nb\n", "x\nb\n"},
		{"a line before one that others take away", "a\nb\nc\n", "a\nb\n", "a\nb\nx\nc\n", "a\nb\nx\n"},
		{"append to a line whose line break others take away", "a\nb\n", "a\nb c", "a\nb\nd\n", "a\nb c\nd\n"},
		{"typed in the last line, which the writer takes away", "a\nb\n", "a\nb typed\n", "a\n", "a\n typed\n"},
		{"typed in a line that the writer takes away", "a\nb\n- c\n", "a\nb typed\n- c\n", "a\n- c\n", "a\n typed\n- c\n"},
		{"typed in a line with a carriage return that the writer takes away", "a\r\nb\r\n- c\r\n", "a\r\nb typed\r\n- c\r\n", "a\r\n- c\r\n", "a\r\n typed\r\n- c\r\n"},
		{"typed in a line that others take away", "a\nb\n- c\n", "a\n- c\n", "a\nb typed\n- c\n", "a\n typed\n- c\n"},
		{"words replaced in a line that others take away", "a\nb x y z\n- c\n", "a\n- c\n", "a\nB x Y z\n- c\n", "a\nB Y\n- c\n"},
		{"words replaced in two lines that others take away", "a\nb x\nc y\n- d\n", "a\n- d\n", "a\nB x\nC y\n- d\n", "a\nB\nC\n- d\n"},
		{"typed in a line that others take away with its line breaks", "a\nb\nc\n", "a c\n", "a\nb typed\nc\n", "a typed c\n"},
		{"typed in the last line, which others take away", "a\nb\n", "a\n", "a\nb typed\n", "a\n typed\n"},
		{"append after a repeated last line", "log\n", "log\nperson\n", "log\nlog\nagent\n", "log\nperson\nlog\nagent\n"},
		{"two equal appends are two", "log\n", "log\ntick\n", "log\ntick\n", "log\ntick\ntick\n"},
		{"emoji before the change", "😀 one two", "😀 one typed two", "😀 ONE two", "😀 ONE typed two"},
		{"person removed the line", "a\nb\nc\n", "a\nc\n", "a\nb\nC\n", "a\nC\n"},
		{"emptied by the person", "a\nb\n", "", "a\nb\nc\n", "c\n"},
		{"marks in both", "x {++new++} y\n", "x {++new++} y typed\n", "x newer y\n", "x newer y typed\n"},
		{"person accepted the mark", "x {--old--}{++new++} y\n", "x new y\n", "x new Y\n", "x new Y\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			doc, text, base := docOf(tt.base)
			current := edit(doc, text, tt.cur)
			if got := Merge(base, current, tt.text); got != tt.want {
				t.Errorf("by identity: got %q, want %q", got, tt.want)
			}
			base.Runs = nil
			if got := Merge(base, current, tt.text); got != tt.want {
				t.Errorf("by diff: got %q, want %q", got, tt.want)
			}
		})
	}
}

// A write deletes what it has deleted, although text that no view shows stands before it now, and stood after it.
func TestMergeComparesViews(t *testing.T) {
	side := func(raw string, runs ...ycrdt.Run) Side {
		return Side{Raw: raw, Canonical: raw, Text: diffwrap.Accepted(raw), Runs: runs}
	}
	run := func(clock uint64, n int) ycrdt.Run { return ycrdt.Run{ID: ycrdt.ID{Client: 1, Clock: clock}, Len: n} }
	old := side("one {++two ++}three four five\n", run(0, 30))
	is := side("one {--three four five--}{++new ++}{++two ++}\n", run(0, 4), run(100, 3), run(14, 15), run(103, 13), run(4, 10), run(29, 1))
	if got := Merge(old, is, "one three four five\n"); got != "one new \n" {
		t.Errorf("got %q", got)
	}
}

// Nothing goes into a comment that has only a part of the comment that the writer read.
func TestMergePutsNoTextIntoAComment(t *testing.T) {
	doc, text, base := docOf("{>>c<<} one two\n")
	doc.Transact(func(txn *ycrdt.Txn) {
		text.Insert(txn, len("{>>c<<} one two"), "--}")
		text.Insert(txn, len("{>>c<<}"), "--}{--")
		text.Insert(txn, len("{>>c"), " new<<}{--{>--}{-->c")
	})
	current := sideOf(text)
	if current.Text != "{>>c new<<}\n" {
		t.Fatalf("the view is %q", current.Text)
	}
	if got := Merge(base, current, "{>>c<<} one more two\n"); !strings.Contains(got, "{>>c new<<}") || !strings.Contains(got, "more") {
		t.Errorf("got %q", got)
	}
}

// An agent deletes the text from one comment to another, and writes a comment there. A comparison of characters keeps the
// opener of the first and the closer of the second comment. What a user has typed between them is in no comment.
func TestMergeTakesACommentForOneWord(t *testing.T) {
	doc, text, base := docOf("one {>>why<<} two {>>so<<} three\n")
	current := edit(doc, text, "one {>>why<<} two mine {>>so<<} three\n")
	for _, agent := range []string{"one {>>new<<} three\n", "one three\n", "{>>so<<} three\n", "one {>>new why<<} three {>>more<<}\n"} {
		got := Merge(base, current, agent)
		if outside := diffwrap.Everything.Comments(got); !strings.Contains(got, "mine") || slices.ContainsFunc(outside, func(c diffwrap.Suggestion) bool { return strings.Contains(c.New, "mine") }) {
			t.Errorf("%q: got %q", agent, got)
		}
	}
}

// An agent puts a word that it keeps into a comment. What a user has typed beside the word is in no comment.
func TestMergePutsOnlyTheWritersTextIntoANewComment(t *testing.T) {
	doc, text, base := docOf("one two three {>>two<<}\n")
	for _, user := range []string{"one mine two three {>>two<<}\n", "one two mine three {>>two<<}\n", "one mine three {>>two<<}\n"} {
		current := edit(doc, text, user)
		for _, agent := range []string{"one {>>two<<} three\n", "one {>>two<<}\n", "one new {>>two three<<}\n", "{>>one two<<} three {>>two<<}\n"} {
			got := Merge(base, current, agent)
			if strings.Contains(wholeComment.ReplaceAllString(got, ""), "mine") {
				continue
			}
			t.Errorf("a user writes %q, an agent %q: got %q", user, agent, got)
		}
	}
}

var wholeComment = regexp.MustCompile(`\{>>.*?<<\}`)

// TestMergeSeparatesWords replaces text in which others have typed two words. The deletion of the text between these
// words must not make them one word.
func TestMergeSeparatesWords(t *testing.T) {
	doc, text, base := docOf("one two\nend\n")
	current := edit(doc, text, "one two x\ny end\n")
	if got, want := Merge(base, current, "one new end\n"), "one new  x y end\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestMergeKeepsLines merges changes of whole lines. The line breaks are as each writer wrote them, whether the document
// has the line break before or the one after a line as inserted or deleted.
func TestMergeKeepsLines(t *testing.T) {
	for _, tt := range []struct{ base, current, text, want string }{
		{"a\nb\n", "a\nNEW\nb\n", "b\n", "NEW\nb\n"},
		{"a\nb\nc\n", "a\nb\n", "a\nc\n", "a\n"},
		{"a\nb\nc\n", "a\nNEW\nc\n", "a\nc\n", "a\nNEW\nc\n"},
		{"a\nb\n", "a\n", "a\nNEW\n", "a\nNEW\n"},
	} {
		for _, end := range []string{"\n", "\r\n"} {
			lines := func(text string) string { return strings.ReplaceAll(text, "\n", end) }
			before, after := lines(tt.base), lines(tt.current)
			first := diffwrap.Diff(before, after)[0]
			for off := 0; off+first.Len <= len(before); off++ {
				e := diffwrap.Edit{Off: off, Len: first.Len, New: after[off:min(off+len(first.New), len(after))]}
				if !border(before, off) || !border(before, off+e.Len) || diffwrap.Apply(before, []diffwrap.Edit{e}) != after {
					continue
				}
				doc, text, base := docOf(before)
				doc.Transact(func(txn *ycrdt.Txn) { ApplyEdits(txn, text, before, []diffwrap.Edit{e}) })
				if got := Merge(base, sideOf(text), lines(tt.text)); got != lines(tt.want) {
					t.Errorf("%q becomes %q by %v, and %q: got %q, want %q", before, after, e, lines(tt.text), got, lines(tt.want))
				}
			}
		}
	}
}

// TestMergeKeepsEverybodysWords merges random changes of a person and a writer
// to the same base and looks for each unique word.
func TestMergeKeepsEverybodysWords(t *testing.T) {
	randomtest.Check(t, 3000, func(t testing.TB, rng *rand.Rand) {
		base := randomWords(rng, "base", 3+rng.IntN(30))
		doc, text, old := docOf(strings.Join(base, ""))
		person := scramble(rng, base, "person")
		current := edit(doc, text, strings.Join(person, ""))
		writer := scramble(rng, base, "writer")
		got := Merge(old, current, strings.Join(writer, ""))
		for _, w := range append(person, writer...) {
			w = strings.TrimSpace(w)
			own := !strings.HasPrefix(w, "base")
			if own && strings.Count(got, w) != 1 {
				t.Fatalf("%q is %d times in %q\nbase   %q\nperson %q\nwriter %q",
					w, strings.Count(got, w), got, base, person, writer)
			}
		}
	})
}

// randomWords are distinct words, some followed by a newline.
func randomWords(rng *rand.Rand, prefix string, n int) []string {
	words := make([]string, n)
	for i := range words {
		words[i] = fmt.Sprintf("%s%dé ", prefix, i)
		if rng.IntN(4) == 0 {
			words[i] = fmt.Sprintf("%s%d😀\n", prefix, i)
		}
	}
	return words
}

// scramble drops some words and puts some of its own in.
func scramble(rng *rand.Rand, base []string, who string) []string {
	var out []string
	for i, w := range base {
		switch rng.IntN(6) {
		case 0:
		case 1:
			out = append(out, w, fmt.Sprintf("%s%dü ", who, i))
		default:
			out = append(out, w)
		}
	}
	return out
}

// What a person and a stale writer change in the text below front matter that both leave alone
// does not get into its last line, whichever paragraphs they take away or put there.
func TestMergeLeavesFrontMatterAlone(t *testing.T) {
	for _, nl := range []string{"\n", "\r\n"} {
		front := strings.ReplaceAll("---\nTitle: Kept\n---\n", "\n", nl)
		note := func(paragraphs []string) string { return front + strings.Join(paragraphs, nl+nl) + nl }
		randomtest.Check(t, 3000, func(t testing.TB, rng *rand.Rand) {
			var base []string
			for i := range 1 + rng.IntN(4) {
				base = append(base, fmt.Sprintf("p%d00 p%d01 p%d02", i, i, i)[:5*(1+rng.IntN(3))-1])
			}
			person, writer := note(editParagraphs(rng, base, "h")), note(editParagraphs(rng, base, "a"))
			doc, text, old := docOf(note(base))
			current := edit(doc, text, person)
			if got := Merge(old, current, writer); !strings.HasPrefix(got, front) {
				t.Fatalf("base %q, person %q, writer %q: %q", old.Text, person, writer, got)
			}
		})
	}
}

// editParagraphs changes one or two of them.
func editParagraphs(rng *rand.Rand, base []string, who string) []string {
	out := slices.Clone(base)
	for range 1 + rng.IntN(2) {
		word := fmt.Sprint(who, 100+rng.IntN(900))
		if len(out) == 0 {
			return []string{word}
		}
		i := rng.IntN(len(out))
		words := strings.Fields(out[i])
		switch rng.IntN(5) {
		case 0:
			out = slices.Delete(out, i, i+1)
		case 1:
			out = slices.Insert(out, i, word)
		case 2:
			out[i] = word + " " + out[i]
		case 3:
			words[rng.IntN(len(words))] = word
			out[i] = strings.Join(words, " ")
		case 4:
			if out[i] = strings.Join(words[1:], " "); out[i] == "" {
				out = slices.Delete(out, i, i+1)
			}
		}
	}
	return out
}

// A word that a stale writer replaces is replaced as a whole: letters that the old and the
// new one share do not end up in a word that somebody else has put there since.
func TestWholeWords(t *testing.T) {
	tests := []struct{ old, new, want string }{
		{"a004 x", "a010 x", "[a004]{a010} x"},
		{"one two", "one, two", "one{,} two"},
		{"harbour", "harbor", "harbo[u]r"},
		{"see harbour bell", "see harbor bells", "see harbo[u]r bell{s}"},
		{"well-known", "well-Known", "well-[known]{Known}"},
		{"früh 王国", "froh 王宮", "[früh]{froh} 王[国]{宮}"},
		{"abcdefgh", "abcd, eXgh", "[abcdefgh]{abcd, eXgh}"},
		{"p001 p002", "p011 p012", "[p001]{p011} [p002]{p012}"},
		{"p10q a8q x", "p1q x", "[p10q a8q]{p1q} x"},
		{"one two", "onetwo", "one[ ]two"},
	}
	for _, tt := range tests {
		edits := wholeWords(tt.old, diffwrap.Diff(tt.old, tt.new), nil)
		if got := diffwrap.Apply(tt.old, edits); got != tt.new {
			t.Errorf("%q: the edits make %q, want %q", tt.old, got, tt.new)
		}
		got, at := "", 0
		for _, e := range edits {
			got += tt.old[at:e.Off]
			if e.Len > 0 {
				got += "[" + tt.old[e.Off:e.Off+e.Len] + "]"
			}
			if e.New != "" {
				got += "{" + e.New + "}"
			}
			at = e.Off + e.Len
		}
		if got += tt.old[at:]; got != tt.want {
			t.Errorf("%q -> %q: %s, want %s", tt.old, tt.new, got, tt.want)
		}
	}
}

// What two states share is the same whole characters in both, whatever peers do to the
// note in between: also when they cut a surrogate pair, whose halves keep their identities.
func TestSharedViewIsTheSameText(t *testing.T) {
	randomtest.Check(t, 3000, func(t testing.TB, rng *rand.Rand) {
		doc, text, _ := docOf(strings.Join(randomWords(rng, "🦊王{++ü++}", 1+rng.IntN(8)), ""))
		churn(rng, doc, text, rng.IntN(4))
		base := sideOf(text)
		churn(rng, doc, text, 1+rng.IntN(12))
		current := sideOf(text)
		at := Match{}
		for _, s := range sharedView(base, current) {
			if s.Len <= 0 || s.A < at.A+at.Len || s.B < at.B+at.Len {
				t.Fatalf("span %v comes after %v", s, at)
			}
			if s.A+s.Len > len(base.Text) || s.B+s.Len > len(current.Text) {
				t.Fatalf("span %v of %q and %q", s, base.Text, current.Text)
			}
			old, is := base.Text[s.A:s.A+s.Len], current.Text[s.B:s.B+s.Len]
			if old != is || !utf8.ValidString(old) {
				t.Fatalf("%q is shared with %q\nbase %q\ncur  %q", old, is, base.Text, current.Text)
			}
			at = s
		}
	})
}

// churn changes a text as peers do: it puts text next to any unit, be it half a surrogate
// pair, and takes some away.
func churn(rng *rand.Rand, doc *ycrdt.Doc, text *ycrdt.Text, times int) {
	for range times {
		pos := rng.IntN(text.Len() + 1)
		at, ok := idAt(text, pos)
		doc.Transact(func(txn *ycrdt.Txn) {
			if rng.IntN(3) == 0 {
				text.Delete(txn, pos, 1+rng.IntN(4))
				return
			}
			word := []string{"a", "Bc ", "🦊", "é\n", "宮", "👩‍🚀", "e\u0301"}[rng.IntN(7)]
			if ok {
				text.InsertAt(txn, at, ycrdt.After, word)
			}
		})
	}
}

// idAt is the identity of the unit at a position; not ok at the end.
func idAt(text *ycrdt.Text, pos int) (id ycrdt.ID, ok bool) {
	for _, run := range text.Runs() {
		if pos < run.Len {
			return ycrdt.ID{Client: run.ID.Client, Clock: run.ID.Clock + uint64(pos)}, true
		}
		pos -= run.Len
	}
	return id, false
}
