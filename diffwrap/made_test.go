package diffwrap

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/relayfs/relayfs/diffwrap/internal/critic"
	"github.com/relayfs/relayfs/diffwrap/internal/span"
	"github.com/relayfs/relayfs/tests/randomtest"
)

// book keeps a note, and whose its marks are, as a caller of Put does: by what each Put says that it made.
type book struct {
	raw    string
	owners map[int]Owner
	made   int
}

// openBook gives each suggestion of raw a name. Marks that nobody else has signed are the writer's.
func openBook(raw string) *book {
	b := &book{raw: raw, owners: make(map[int]Owner)}
	doc := critic.Parse(raw, critic.Everything)
	for _, g := range doc.Groups() {
		b.made++
		for _, c := range doc.Cells[g.First : g.Last+1] {
			access := Own
			if c.By().Author == "Bob" {
				access = Foreign
			}
			b.owners[c.Start] = Owner{Suggestion: fmt.Sprintf("s%d", b.made), Access: access}
		}
	}
	return b
}

// content is a byte of a raw text that a suggestion deletes or adds.
type content struct {
	mark  int // where its mark begins
	added bool
}

func contentsOf(raw string) map[int]content {
	all := make(map[int]content)
	doc := critic.Parse(raw, critic.Everything)
	for i := range doc.Cells {
		c := &doc.Cells[i]
		for _, s := range []Span{c.Deleted(), c.Added()} {
			for at := s.Start; c.IsSuggestion() && at < s.End; at++ {
				all[at] = content{c.Start, s == c.Added() && !s.Empty()}
			}
		}
	}
	return all
}

// write is the law of what a Put says that it made: each character of a suggestion that is pending afterwards is of one that was
// made, or of one that was there, and nothing of the latter has changed.
func (b *book) write(o Options, want string) error {
	o.Owners, o.Known = b.owners, Everything
	r, err := o.Put(b.raw, want)
	if err != nil {
		return nil
	}
	broken := func(format string, args ...any) error {
		return lawError("10, Made", b.raw, want, "stored %q, made %+v, moved %+v: %s", Apply(b.raw, r.Edits), r.Made, r.Moved, fmt.Sprintf(format, args...))
	}
	after := Apply(b.raw, r.Edits)
	origin := make([]int, len(after)) // of each byte, in b.raw
	for i := range origin {
		origin[i] = -1
	}
	at, delta, end := 0, 0, append(slices.Clone(r.Edits), Edit{Off: len(b.raw)})
	stayed := make([]bool, len(b.raw))
	for _, e := range end {
		for ; at < e.Off; at++ {
			origin[at+delta], stayed[at] = at, true
		}
		at, delta = e.Off+e.Len, delta+len(e.New)-e.Len
	}
	for _, m := range r.Moved {
		for i := range m.From.Len() {
			if stayed[m.From.Start+i] || origin[m.To.Start+i] >= 0 || b.raw[m.From.Start+i] != after[m.To.Start+i] {
				return broken("%+v did not move", m)
			}
			origin[m.To.Start+i], stayed[m.From.Start+i] = m.From.Start+i, true
		}
	}
	old, is := contentsOf(b.raw), contentsOf(after)
	made := make(map[int]int)
	changed := make(map[string]bool)
	comments := critic.Parse(after, critic.Everything)
	for k, m := range r.Made {
		for _, id := range m.From {
			changed[id] = true
		}
		if m.Comment {
			known := func(c critic.Cell) bool { return c.Kind == critic.Comment && c.Span == m.Add[0] }
			if len(m.Add) != 1 || len(m.Del) > 0 || !slices.ContainsFunc(comments.Cells, known) {
				return broken("%+v is no comment", m)
			}
			continue
		}
		for i, list := range [][]Span{m.Del, m.Add} {
			for _, s := range list {
				for at := s.Start; at < s.End; at++ {
					if _, twice := made[at]; twice {
						return broken("%d is in two", at)
					}
					if c, ok := is[at]; !ok || c.added != (i == 1) {
						return broken("%d is not in a mark of that kind", at)
					}
					made[at] = k
				}
			}
		}
	}
	owners, left := make(map[int]Owner), make(map[string]int)
	for _, at := range slices.Sorted(maps.Keys(is)) {
		owner := Owner{}
		if k, ok := made[at]; ok && r.Made[k].Same {
			owner = Owner{Suggestion: r.Made[k].From[0]}
		} else if ok {
			owner.Suggestion = fmt.Sprintf("s%d", b.made+k+1)
		} else if from := origin[at]; from < 0 || old[from].added != is[at].added || b.owners[old[from].mark].Suggestion == "" {
			return broken("nothing tells whose %d is", at)
		} else {
			owner = b.owners[old[from].mark]
			left[owner.Suggestion]++
		}
		if before, ok := owners[is[at].mark]; ok && before.Suggestion != owner.Suggestion {
			return broken("the mark at %d is of two", is[at].mark)
		}
		owners[is[at].mark] = owner
	}
	had := make(map[string]int)
	for _, c := range old {
		had[b.owners[c.mark].Suggestion]++
	}
	for id, n := range left {
		if n != had[id] || changed[id] {
			return broken("%d of %d characters of %s are left", n, had[id], id)
		}
	}
	b.raw, b.owners, b.made = after, owners, b.made+len(r.Made)
	return nil
}

func TestMade(t *testing.T) {
	for _, name := range []string{"prose", "braces", "markdown"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			letters := newAlphabet(t, name)
			randomtest.Check(t, rounds/4, func(t testing.TB, r *rand.Rand) {
				g := letters.generator(r)
				b := openBook(g.raw())
				o := g.options()
				for range 1 + g.IntN(3) {
					if err := b.write(o, g.edit(Everything.Accepted(b.raw))); err != nil {
						t.Fatal(err)
					}
				}
			})
		})
	}
}

// Each word that a writer has kept is there once whatever is decided: neither lost nor doubled because what the writer did was
// marked as several suggestions.
func TestDecidedApart(t *testing.T) {
	randomtest.Check(t, rounds/4, func(t testing.TB, r *rand.Rand) {
		word := 0
		fresh := func() string { word++; return fmt.Sprintf("w%d", word) }
		var tokens []string
		for range randomtest.Between(r, 3, 24) {
			tokens = append(tokens, fresh(), []string{" ", " ", " ", "\n", "\n\n", "\n- ", ". "}[r.IntN(7)])
		}
		text := strings.Join(tokens, "")
		tail, times := "", 1 // the words again, in another order, which the writer leaves as it is
		if r.IntN(2) == 0 {
			tail, times = "\n\nand", 2
			for _, k := range r.Perm(len(tokens) / 2) {
				tail += " " + tokens[2*k]
			}
		}
		b := openBook(text + tail)
		original := strings.Fields(text)
		var log []string
		for range 1 + r.IntN(3) {
			kept := splitWords(strings.TrimSuffix(Everything.Accepted(b.raw), tail))
			for range 1 + r.IntN(4) {
				i := r.IntN(len(kept))
				switch r.IntN(4) {
				case 0:
					kept = slices.Delete(kept, i, min(len(kept)-1, i+1+r.IntN(6)))
				case 1:
					kept = slices.Insert(kept, i, fresh(), []string{" ", "\n", "\n\n"}[r.IntN(3)])
				case 2:
					kept[i] = []string{" ", "\n", "\n\n", fresh()}[r.IntN(4)]
				default:
					kept[i] += fresh()
				}
			}
			before := b.raw
			if err := b.write(Options{}, strings.Join(kept, "")+tail); err != nil {
				t.Fatal(err)
			}
			log = append(log, fmt.Sprintf("%q to %q: %q", before, strings.Join(kept, ""), b.raw))
		}
		wrote := strings.TrimSuffix(Everything.Accepted(b.raw), tail)
		list := Everything.SuggestionsBy(b.raw, func(at int) Owner { return b.owners[at] })
		var accepted, rejected []Suggestion
		for _, s := range list {
			if r.IntN(2) == 0 {
				accepted = append(accepted, s)
			} else {
				rejected = append(rejected, s)
			}
		}
		both := append(Everything.Decide(b.raw, true, nil, accepted...), Everything.Decide(b.raw, false, nil, rejected...)...)
		slices.SortStableFunc(both, func(a, b Edit) int { return a.Off - b.Off })
		left := " " + strings.Join(splitWords(Apply(b.raw, both)), " ") + " "
		for _, w := range original {
			if w = strings.Trim(w, "-."); w != "" && hasWord(wrote, w) && strings.Count(left, " "+w+" ") != times {
				t.Fatalf("%q is there %d times in %q\n%s\nsuggestions %+v\naccepted %+v", w, strings.Count(left, " "+w+" "), left, strings.Join(log, "\n"), list, accepted)
			}
		}
	})
}

// splitWords cuts a text into words and what stands between them.
func splitWords(text string) (out []string) {
	at, in := 0, false
	for i, r := range text {
		if is := r == 'w' || '0' <= r && r <= '9'; is != in && i > at {
			out = append(out, text[at:i])
			at, in = i, is
		} else {
			in = is
		}
	}
	return append(out, text[at:])
}

func hasWord(text, word string) bool { return slices.Contains(splitWords(text), word) }

// TestMadeIs checks what a Put says that it made by examples. s1 and s3 are the writer's, s2 of an earlier session of the writer, b
// another's.
func TestMadeIs(t *testing.T) {
	names := map[string]Owner{"1": {Suggestion: "s1"}, "3": {Suggestion: "s3"}, "2": {Suggestion: "s2", Access: Earlier}, "b": {Suggestion: "b", Access: Foreign}}
	for _, tt := range []struct {
		raw, marks string // whose the marks are, in order
		want       string
		after      string
		made       string // "ids: -deleted +added", each
	}{
		{"one two\n", "", "one 2\n", "one {--two--}{++2++}\n", ": -two +2"},
		{"one {--two--}{++2++}\n", "11", "one 22\n", "one {--two--}{++22++}\n", "s1: -two +22"},
		{"one {--two--}{++2++} three\n", "11", "one 2 3\n", "one {--two three--}{++2 3++}\n", "s1: -two three +2 3"},
		{"one {--two--}{++2++} three\n", "22", "one 2 3\n", "one {--two--}{++2++} {--three--}{++3++}\n", ": -three +3"},
		{"one {--two--}{++2++} three\n", "11", "one Z three\n", "one {--two--}{++Z++} three\n", "s1: -two +Z"},
		{"one {++X ++}two\n", "1", "one Y two\n", "one {++Y ++}two\n", "s1: +Y "},
		{"one {++X ++}two\n", "1", "one two\n", "one two\n", ""},
		{"one {++X ++}two\n", "2", "one X Y two\n", "one {++X ++}{++Y ++}two\n", ": +Y "},
		{"one {++X ++}two\n", "b", "one X Y two\n", "one {++X ++}{++Y ++}two\n", ": +Y "},
		{"one {++X Z ++}two\n", "2", "one X Y Z two\n", "one {++X Y Z ++}two\n", "s2: +X Y Z "},
		{"one {--two --}three four\n", "2", "one four\n", "one {--two --}{--three --}four\n", ": -three "},
		{"one {--two three --}four\n", "2", "one two four\n", "one two {--three --}four\n", "s2: -three "},
		{"one {--two --}three\n", "2", "one X three\n", "one {++X ++}{--two --}three\n", ": +X "},
		{"one {=={++X++}==} two\n", "1", "one  two\n", "one  two\n", ""},
		{"one {=={\"author\":\"Ada\"}@@{++X++}==} two\n", "1", "one  two\n", "one  two\n", ""},
		{"{--w1 w2\n--}{--w3--}{++w1++} w4 w5\n", "222", "w16 w1 w5\n", "{++w16 ++}{--w1 w2\n--}{--w3--}{++w1++} {--w4 --}w5\n", ": +w16 ; : -w4 "},
		{"{++one two\n++}{--old --}three four\nfive six\n", "22", "one two\nthree fifteen six\n", "{++one two\n++}{--old --}three {--four--}{++fifteen six++}{--\nfive six--}\n", ": -four\nfive six +fifteen six"},
		{"{++a\n++}{--c--}{++ b++}\nd\n", "1b1", "a\n b\ne\nd\n", "{++a\n++}{--c--}{++ b\ne++}\nd\n", "s1: +a\n b\ne"},
		{"one{++\nx++}{++\ny++} two\nthree\n", "b1", "one\nx\ny two\nthree\nfour\n", "one{++\nx++}{++\ny++} two\nthree{++\nfour++}\n", ": +\nfour"},
		{"one{++\nx++}{++\ny++} two\n", "b1", "one\nx\ntwo\n", "one{++\nx++}{-- --}{++\n++}two\n", "s1: -  +\n"},
		{"one{--\n--}\ntwo\n", "2", "one two\n", "one{--\n--}{--\n--}{++ ++}two\n", ": -\n + "},
		{"one{--\n--}\ntwo\n", "2", "one\n- x\ntwo\n", "one{++\n- x++}{--\n--}\ntwo\n", ": +\n- x"},
		{"one{--\n--}\ntwo {++x ++}y\n", "22", "one\n\ntwo x y\n", "one\n\ntwo {++x ++}y\n", "s2: +x "},
		{"{++a x ++}one {--b--}{++c a++} two\n", "133", "one c a two\n", "one {--b--}{++c a++} two\n", ""},
		{"one{++\nx++} {--two--}{++2++}\n", "1bb", "new\none\nx 2\n", "{++new\n++}one{++\nx++} {--two--}{++2++}\n", ": +new\n"},
		{"one {--two--}{++2++} three {--four--}{++4++}\n", "2211", "one 2 three 5\n", "one {--two--}{++2++} three {--four--}{++5++}\n", "s1: -four +5"},
	} {
		b := openBook(tt.raw)
		starts := slices.Sorted(maps.Keys(b.owners))
		for i, start := range starts {
			b.owners[start] = names[tt.marks[i:i+1]]
		}
		r, err := Options{Known: Everything, Owners: b.owners}.Put(tt.raw, tt.want)
		if err != nil {
			t.Errorf("%q: %v", tt.raw, err)
			continue
		}
		after := Apply(tt.raw, r.Edits)
		var made []string
		for _, m := range r.Made {
			is := strings.Join(m.From, ",") + ":"
			for i, list := range [][]span.Span{m.Del, m.Add} {
				if len(list) > 0 {
					is += " " + "-+"[i:i+1]
				}
				for _, s := range list {
					is += s.Of(after)
				}
			}
			made = append(made, is)
		}
		if got := strings.Join(made, "; "); after != tt.after || got != tt.made {
			t.Errorf("%q to %q: stored %q, made %q; want %q, %q", tt.raw, tt.want, after, got, tt.after, tt.made)
		}
	}
}

// One hunk deletes a word and another one inserts it: decided apart, they would lose or double the word.
func TestAMovedWordIsInOneSuggestion(t *testing.T) {
	const raw = "| a | b |\n|---|---|\n| tea{++A7q++} | c |\nmore text\n"
	o := Options{Known: Everything, Owners: map[int]Owner{strings.Index(raw, "{++"): {Suggestion: "s"}}}
	r, err := o.Put(raw, "| a | b |\n|---|---|\ntea more text\n")
	if after := Apply(raw, r.Edits); err != nil || !strings.Contains(after, "{++tea ++}") || len(r.Made) != 1 || len(r.Made[0].Add) != 1 {
		t.Errorf("stored %q, made %+v, %v", after, r.Made, err)
	}
}

// The writer moves a word that only another author's mark parts from a word that the writer has deleted.
func TestAMovedWordBesideAnotherMarkIsInOneSuggestion(t *testing.T) {
	const raw = "- a{--\n| --}{--b --}{--|--}\n| {++b ++}c |\n\nd\n"
	o := Options{Known: Everything, Owners: map[int]Owner{
		strings.Index(raw, "{--\n"): {Suggestion: "f", Author: "Bob", Access: Foreign}, strings.Index(raw, "{--b"): {Suggestion: "s"},
		strings.Index(raw, "{--|"): {Suggestion: "f", Author: "Bob", Access: Foreign}, strings.Index(raw, "{++b"): {Suggestion: "s"},
	}}
	r, err := o.Put(raw, "| b c |\n\nd\n- a\n")
	if after := Apply(raw, r.Edits); err != nil || !strings.Contains(after, "{++\n- a++}") || len(r.Made) != 1 {
		t.Errorf("stored %q, made %+v, %v", after, r.Made, err)
	}
}

// A writer moves a line that its suggestion had moved before: the suggestion that deletes the line still adds it.
func TestALineThatMovesAgainStaysInItsSuggestion(t *testing.T) {
	const raw = "- a\n- {--b c\n- --}d {++y ++}{++\n- b c++}\n- e\n"
	o := Options{Known: Everything, Owners: map[int]Owner{
		strings.Index(raw, "{--b"): {Suggestion: "s"}, strings.Index(raw, "{++y"): {Suggestion: "f", Author: "Bob", Access: Foreign}, strings.Index(raw, "{++\n"): {Suggestion: "s"},
	}}
	for _, want := range []string{"- a\n- d y \n- e\n- b c\n", "- a\n- d y \n- e\n- new b c\n", "- b c\n- a\n- d y \n- e\n"} {
		r, err := o.Put(raw, want)
		stays := len(r.Made) == 0 && len(r.Moved) == 1 // the text moves with its facts
		if after := Apply(raw, r.Edits); err != nil || !stays && (len(r.Made) != 1 || len(r.Made[0].Add) == 0 || len(r.Made[0].Del) == 0) {
			t.Errorf("%q: stored %q, made %+v, %v", want, after, r.Made, err)
		}
	}
}

// A program that appends to a text without a final line break (echo more >>Note.md) makes one suggestion.
func TestAppendedLineIsOneSuggestion(t *testing.T) {
	for _, c := range []struct{ raw, shown, want string }{
		{"abc", "abc x\n", "abc{++ x++}{++\n++}"},
		{"abc", "abcx\n", "{--abc--}{++abcx++}{++\n++}"},
		{"- a\n- b", "- a\n- b.\n", "- a\n- b{++.++}{++\n++}"},
		{"# a", "# a b\n\n", "# a{++ b++}{++\n\n++}"},
		{"a\r\nb\r\n", "a\r\nb\r\nc\n", "a\r\nb{++\r\nc++}{--\r\n--}{++\n++}"},
	} {
		r, err := Options{}.Put(c.raw, c.shown)
		if after := Apply(c.raw, r.Edits); err != nil || after != c.want || len(r.Made) != 1 {
			t.Errorf("%q with %q: stored %q, made %+v, %v", c.raw, c.shown, after, r.Made, err)
		}
	}
}
