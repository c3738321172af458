package bridge_test

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/rivo/uniseg"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/bridgetest"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/ycrdt"
	"github.com/relayfs/relayfs/diffwrap"
	"github.com/relayfs/relayfs/tests/randomtest"
)

// cutPair has a peer put s between the two UTF-16 units of the character at pos, as
// clients in JavaScript may: Yjs makes U+FFFD of each of them then, which keeps its identity.
func cutPair(t testing.TB, live *bridgetest.Live, rel string, pos int, s string) {
	t.Helper()
	err := live.Peer(rel, func(doc *ycrdt.Doc) {
		text := doc.Text("contents")
		id := idAt(text, pos)
		doc.Transact(func(tx *ycrdt.Txn) { text.InsertAt(tx, id, ycrdt.After, s) })
	})
	if err == nil {
		err = live.Settle(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
}

// idAt is the identity of the unit at pos.
func idAt(text *ycrdt.Text, pos int) ycrdt.ID {
	for _, r := range text.Runs() {
		if pos < r.Len {
			return ycrdt.ID{Client: r.ID.Client, Clock: r.ID.Clock + uint64(pos)}
		}
		pos -= r.Len
	}
	return ycrdt.ID{}
}

// A character that a client has cut in two since a writer read the note does not move
// what the writer changes after it.
func TestLiveCutPair(t *testing.T) {
	const cut = "\uFFFDX\uFFFD"
	tests := []struct{ name, base, text, want string }{
		{"addition behind it", "🦊 one two\n", "🦊 one NEW two\n", cut + " one NEW two\n"},
		{"deletion behind it", "🦊 one two three\n", "🦊 one three\n", cut + " one three\n"},
		{"replacement behind it", "🦊 one two three\n", "🦊 one 2 three\n", cut + " one 2 three\n"},
		{"wide characters behind it", "🦊王国王宮日本\n", "🦊王国x王宮日本\n", cut + "王国x王宮日本\n"},
		{"right behind it", "🦊 one\n", "🦊NEW one\n", cut + "NEW one\n"},
		{"before it", "🦊 one\n", "NEW 🦊 one\n", "NEW " + cut + " one\n"},
		{"a character beyond it", "🦊🐸🐱 end\n", "🦊🐸x🐱 end\n", cut + "🐸x🐱 end\n"},
		{"the writer drops it", "🦊 one two\n", "one two\n", cut + "one two\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f, live := openLive(t, map[string]string{"Note.md": tt.base})
			base, err := f.Open(t.Context(), "Team/Note.md")
			if err != nil {
				t.Fatal(err)
			}
			cutPair(t, live, "Note.md", 0, "X")
			res, err := f.Write(t.Context(), "Team/Note.md", bridge.Write{
				Base: base, Text: tt.text, By: model.Author{Name: "ai"},
			})
			if err != nil {
				t.Fatal(err)
			}
			if got := res.Version.Text(); got != tt.want {
				t.Errorf("Write = %q, want %q", got, tt.want)
			}
		})
	}
}

// An undo brings back a character in one piece between whose halves a user has typed
// while it was gone, and later decisions leave alone what the user typed.
func TestUndoOfACutPair(t *testing.T) {
	tests := []struct{ name, base, text, undone, accepted, rejected string }{
		{"deletion", "a 🦊🐸 end\n", "a 🐸 end\n", "a typed{--🦊--}🐸 end\n", "a typed🐸 end\n", "a typed🦊🐸 end\n"},
		{"of more", "a 🦊🐸 end\n", "a end\n", "a typed{--🦊🐸 --}end\n", "a typedend\n", "a typed🦊🐸 end\n"},
		{"replacement", "a 🦊🐸 end\n", "a 🐱🐸 end\n", "a typed{--🦊--}{++🐱++}🐸 end\n", "a typed🐱🐸 end\n", "a typed🦊🐸 end\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f, live := openLive(t, map[string]string{"Note.md": tt.base})
			write(t, f.Workspace, "Team/Note.md", bridge.Write{Text: tt.text, By: ann})
			decideAll := func(verdict model.Verdict) {
				list, err := f.Suggestions(t.Context(), "Team")
				if err != nil {
					t.Fatal(err)
				}
				decide(t, f.Workspace, verdict, ids(list)...)
			}
			expect := func(want string) {
				t.Helper()
				if got := open(t, f.Workspace, "Team/Note.md").Raw(); got != want {
					t.Fatalf("note is %q, want %q", got, want)
				}
			}
			var fox ycrdt.ID
			if err := live.Peer("Note.md", func(doc *ycrdt.Doc) { fox = idAt(doc.Text("contents"), len("a {--")) }); err != nil {
				t.Fatal(err)
			}
			decideAll(model.Accepted)
			peer(t, live, "Note.md", func(tx *ycrdt.Txn, text *ycrdt.Text) { text.InsertAt(tx, fox, ycrdt.After, "typed") })
			undo(t, f.Workspace, "")
			expect(tt.undone)
			decideAll(model.Accepted)
			expect(tt.accepted)
			undo(t, f.Workspace, "")
			expect(tt.undone)
			decideAll(model.Rejected)
			expect(tt.rejected)
			undo(t, f.Workspace, "")
			expect(tt.undone)
		})
	}
}

// Writers who go by what they read some versions ago change a note in which people type
// at the same time: characters of every width, and next to the halves of others. Whatever
// somebody has put there stands there once, whole, and where they put it.
func TestLiveStaleWritersBesideTypists(t *testing.T) {
	for _, mode := range []bridge.Mode{bridge.Direct, bridge.Suggest} {
		randomtest.Check(t, 40, func(t testing.TB, r *rand.Rand) { typistsAndWriters(t, mode, r) })
	}
}

// token is what is looked for; it says who wrote it. Nobody types inside of one. What typists type and what writers write has no
// character in common that is a word by itself: a writer's text does not say which of two equal characters is the one that it kept.
var (
	token      = regexp.MustCompile("⟦[^⟧]*⟧|⟪[^⟫]*⟫")
	typedToken = regexp.MustCompile("⟦[^⟧]*⟧")
)

// A mark opens or closes at the place between two texts.
var (
	opens  = regexp.MustCompile(`^\{(\+\+|--|~~)`)
	closes = regexp.MustCompile(`(\+\+|--|~~)\}$`)
)

func typistsAndWriters(t testing.TB, mode bridge.Mode, rng *rand.Rand) {
	const note = "Team/Note.md"
	f, live := openLive(t, map[string]string{"Note.md": "start 🦊🐸 王国 é 👩‍🚀 end"}, func(o *bridge.Options) { o.Mode = mode })
	open := func() *model.Version {
		v, err := f.Open(t.Context(), note)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	number := 0
	made := func(format string, wide ...string) string {
		number++
		return fmt.Sprintf(format, number, wide[rng.IntN(len(wide))])
	}
	bases := []*model.Version{open()}
	for range 25 {
		for range rng.IntN(3) {
			cutPair(t, live, "Note.md", anyUnit(rng, open().Raw()), "🦊"+made("⟦typed%d%s⟧", "王", "ü", "e\u0301", "🐱", "👩‍🚀")+"🐸")
		}
		current := open()
		bases = append(bases, current)
		base := bases[max(0, len(bases)-1-rng.IntN(4))]
		word := made("⟪written%d%s⟫", "宮", "ö", "o\u0302", "🐶", "👨‍🔬")
		before, after := parted(rng, base.Text(), mode == bridge.Direct)
		w := bridge.Write{Base: base, Text: before + word + after, By: model.Author{Name: "ai"}}
		res, err := f.Write(t.Context(), note, w)
		if err != nil {
			t.Fatalf("%v\nbase %q\ntext %q\nnow  %q", err, base.Text(), w.Text, current.Text())
		}
		bases = append(bases, res.Version)
		why := damaged(word, current.Text(), res.Version.Text())
		if mode == bridge.Direct && why == "" { // else the lens may write anew what waits already
			why = misplaced(word, before, after, res.Version.Text())
		}
		if why != "" {
			t.Fatalf("%s\nbase   %q\ntext   %q\nnow    %q\nresult %q", why, base.Text(), w.Text, current.Text(), res.Version.Text())
		}
		if got := token.FindAllString(diffwrap.Original(res.Version.Raw()), -1); mode == bridge.Suggest && slices.ContainsFunc(got, isWritten) {
			t.Fatalf("written without a mark: %q", res.Version.Raw())
		}
	}
}

func isWritten(token string) bool { return strings.HasPrefix(token, "⟪") }

// anyUnit is the position of some UTF-16 unit of text, not of one in a token or a mark.
func anyUnit(rng *rand.Rand, text string) int {
	var free []int
	pos, inToken, inMark := 0, false, false
	for i, r := range text {
		inToken = (inToken || r == '⟦' || r == '⟪') && r != '⟧' && r != '⟫'
		inMark = inMark || opens.MatchString(text[i:])
		for range utf16.RuneLen(r) {
			if !inToken && !inMark {
				free = append(free, pos)
			}
			pos++
		}
		inMark = inMark && !closes.MatchString(text[max(0, i-2):i+1])
	}
	return free[rng.IntN(len(free))]
}

// parted cuts text at some place that is not in a token, nor in what is seen as one character. With drops it leaves out some
// characters there at times, but no part of a word: that counts as another word, in place of all of the old one.
func parted(rng *rand.Rand, text string, drops bool) (before, after string) {
	var free []int
	for g := uniseg.NewGraphemes(text); g.Next(); {
		from, _ := g.Positions()
		free = append(free, from)
	}
	for _, m := range token.FindAllStringIndex(text, -1) {
		free = slices.DeleteFunc(free, func(i int) bool { return m[0] < i && i < m[1] })
	}
	k := rng.IntN(len(free))
	to := free[min(k+rng.IntN(3), len(free)-1)]
	if dropped := text[free[k]:to]; !drops || token.MatchString(dropped) || strings.ContainsFunc(dropped, isLetter) {
		to = free[k]
	}
	return text[:free[k]], text[to:]
}

func isLetter(r rune) bool { return 'a' <= r && r <= 'z' }

// damaged says what is wrong with the text that was made of now by a writer of word.
func damaged(word, now, text string) string {
	typed := func(text string) []string { return typedToken.FindAllString(text, -1) }
	if !utf8.ValidString(text) {
		return "characters are cut"
	}
	if got, want := typed(text), typed(now); !slices.Equal(got, want) {
		return fmt.Sprintf("people typed %q, there is %q", want, got)
	}
	if n := strings.Count(text, strings.Trim(word, "⟪⟫")); n != 1 {
		return fmt.Sprintf("%q is there %d times", word, n)
	}
	return ""
}

// misplaced says where word is in text, if not between what is still there of before and
// after.
func misplaced(word, before, after, text string) string {
	all := token.FindAllString(text, -1)
	at := slices.Index(all, word)
	if at < 0 {
		return fmt.Sprintf("%q is not there", word)
	}
	for _, s := range token.FindAllString(before, -1) {
		if !slices.Contains(all[:at], s) {
			return fmt.Sprintf("%q is not behind %q", word, s)
		}
	}
	for _, s := range token.FindAllString(after, -1) {
		if !slices.Contains(all[at:], s) {
			return fmt.Sprintf("%q is not before %q", word, s)
		}
	}
	return ""
}
