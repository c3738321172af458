package diffwrap

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rivo/uniseg"

	"github.com/relayfs/relayfs/diffwrap/internal/critic"
)

// alphabet is what random texts are made of.
type alphabet struct {
	words  []string
	notes  []string // real notes that prose is cut from; nil for the other alphabets
	blocks []string // Markdown blocks with words for each "_"; nil for the other alphabets
	nest   bool     // marks may be put into marks
}

// generator makes random raw texts and random edits of them.
type generator struct {
	*alphabet
	*rand.Rand
}

func (a *alphabet) generator(r *rand.Rand) *generator { return &generator{a, r} }

// newAlphabet returns the alphabet of a name: prose, braces, hostile or markdown.
func newAlphabet(t testing.TB, name string) *alphabet {
	t.Helper()
	a := &alphabet{}
	switch name {
	case "prose":
		a.notes = realNotes(t)
		a.words = strings.Split("the a quick brown fox 苹果 我 שלום [[Wiki]] [link](http://a.com) `code` #tag $x^2$ 3.14 e\u0301 👩‍👧 Ada. - [ ] # > | 1. **bold** don't", " ")
		a.words = append(a.words, "\ufeff", "\n", "\n\n", "\r\n", "\n- ", "\n## ", "\n| a | b |\n", "\n- [ ] ", ", ", ". ")
	case "braces":
		a.words = strings.Split("a b { } + - ~ > < = @ \n é", " ")
		a.words = append(a.words, " ", "\r\n", "\ufeff")
	case "hostile":
		a.nest = true
		a.words = strings.Split("a b { } + - ~ > < = @ \n é 👩‍👧 {++ ++} {-- --} {~~ ~> ~~} {>> <<} {== ==} @@ {{ }} \r\n", " ")
		a.words = append(a.words, " ", "\ufeff", `{"author":"Bob"}@@`, `{{author="Bob">>`)
	case "markdown":
		a.words = strings.Split("the a quick fox 苹果 ภาษาไทย שלום [[Wiki]] [link](http://a.com) `code` #tag $x^2$ 3.14 👩‍👧 **bold** *it* ~~no~~ ==hi== [^1] don't ^id \\| <b>x</b> %%c%%", " ")
		a.words = append(a.words, "a b c", "(a) \"b\"", "end. Next", "\n", "\n\n", "\n> ", "\n- ", "\n```\n", "|", "\n---\n", "# ", "    ")
		a.blocks = []string{
			"_ _ _", "_ _\n_ _ _", "# _", "## _ _", "_\n===", "---", "- _\n- _ _\n  - _", "- [ ] _\n- [x] _ _", "1. _\n2. _\n3. _ _", "> _ _\n> _", "> [!tip] _\n> _ _",
			"| _ | _ |\n|---|:-:|\n| _ | _ _ |\n| _ | _ |", "_ | _\n--- | ---\n_ | _", "```js\n_\n\n_ _\n```", "~~~\n_\n~~~", "    _\n    _", "$$\n_\n$$", "%%\n_ _\n%%",
			"<div>\n_\n</div>", "<!-- _ -->", "[^1]: _ _", "[_]: http://a.com", "_ _ ^id", "![[_]]", "- _\n\n  _ _\n\n- _", "> ```\n> _\n> ```", "```dataview\nlist _\n```",
			"_ [_\n_](a.md) _", "_ `_\n_ _` _ %%_ _\n_%%", "- _ $_\n  _$\n- ![_\n  _](_)", "> _ <b\n> c=\"_\">_",
		}
	default:
		t.Fatalf("alphabet %q", name)
	}
	return a
}

// realNotes returns the notes of testdata/notes.
func realNotes(t testing.TB) []string {
	t.Helper()
	files, err := filepath.Glob("testdata/notes/*.md")
	if err != nil || len(files) == 0 {
		t.Fatalf("no notes in testdata: %v", err)
	}
	var notes []string
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		notes = append(notes, string(b))
	}
	return notes
}

// text makes an unmarked text.
func (g *generator) text() string {
	switch {
	case g.notes != nil && g.IntN(3) > 0:
		return g.excerpt()
	case g.blocks != nil && g.IntN(8) > 0:
		return g.page()
	}
	var b strings.Builder
	for range g.IntN(24) {
		b.WriteString(g.word())
		if (g.notes != nil || g.blocks != nil) && g.IntN(4) > 0 {
			b.WriteByte(' ')
		}
	}
	return b.String()
}

// excerpt cuts some lines out of a real note.
func (g *generator) excerpt() string {
	lines := strings.SplitAfter(g.notes[g.IntN(len(g.notes))], "\n")
	from := g.IntN(len(lines))
	return strings.Join(lines[from:min(len(lines), from+1+g.IntN(8))], "")
}

// page makes a text of some blocks, most of them parted by blank lines.
func (g *generator) page() string {
	var b strings.Builder
	for range 1 + g.IntN(6) {
		b.WriteString(g.block())
		b.WriteString([]string{"\n\n", "\n\n", "\n\n", "\n", "\n\n\n"}[g.IntN(5)])
	}
	return strings.TrimRight(b.String(), "\n") + []string{"", "\n", "\n\n"}[g.IntN(3)]
}

// block makes one block, with words in its places.
func (g *generator) block() string {
	parts := strings.Split(g.blocks[g.IntN(len(g.blocks))], "_")
	for k := range parts[1:] {
		parts[k] += strings.Trim(g.word(), "\n")
	}
	return strings.Join(parts, "")
}

func (g *generator) word() string { return g.words[g.IntN(len(g.words))] }

// raw makes a text with some marks in it: the writer's own, Bob's, comments, highlights. Half of the texts have none.
// Except in the hostile alphabet the marks do not run into one another.
// One text in eight starts with a byte order mark, one in eight with front matter.
func (g *generator) raw() string {
	return g.head() + g.marked()
}

// head makes what may stand before the body.
func (g *generator) head() string {
	var s string
	if g.IntN(8) == 0 {
		s = ByteOrderMark
	}
	if g.IntN(8) == 0 {
		s += "---\ntitle: a b\ntags: [x, y]\n---\n"
	}
	return s
}

func (g *generator) marked() string {
	s := g.text()
	if g.IntN(2) == 0 {
		return s
	}
	end := len(s)
	for range 1 + g.IntN(4) {
		from, to := g.spanIn(s[:end])
		s = s[:from] + g.mark(s[from:to]) + s[to:]
		if end = from; g.nest {
			end = len(s)
		}
	}
	return s
}

// known picks which marks of a text are known: none, or all.
func (g *generator) known(raw string) Known {
	if g.IntN(2) == 0 {
		return Known{}
	}
	return knownIn(raw)
}

// knownIn has every well-formed mark of a text.
func knownIn(raw string) Known {
	var offsets []int
	doc := Everything.parse(raw)
	for i := range doc.Cells {
		if c := &doc.Cells[i]; c.Kind != critic.Text && c.Kind != critic.HighlightClose && strings.HasPrefix(c.Of(raw), "{") {
			offsets = append(offsets, c.Start)
		}
	}
	return KnownAt(offsets)
}

// options picks the dialect that is written: plain half of the time.
func (g *generator) options() Options {
	switch g.IntN(4) {
	case 0:
		return Options{Dialect: Commentator, Author: "AI {++x++}@@", Now: time.Unix(1783926115, 0)}
	case 1:
		return Options{Dialect: RelayComments, Author: `AI "x" >>{--y--}`, Now: time.Unix(1783926115, 0)}
	}
	return Options{}
}

// mark wraps text in a mark.
func (g *generator) mark(s string) string {
	bob := ""
	if g.IntN(6) == 0 {
		bob = `{"author":"Bob"}@@`
	}
	switch g.IntN(11) {
	case 0, 1:
		return "{++" + bob + g.word() + "++}" + s
	case 2, 3:
		return "{--" + bob + s + "--}"
	case 4:
		return "{--" + bob + s + "--}{++" + bob + g.word() + "++}"
	case 5:
		return "{~~" + bob + s + "~>" + g.word() + "~~}"
	case 6:
		return s + "{>>" + bob + g.word() + "<<}"
	case 7:
		return "{==" + s + "==}{>>" + g.word() + "<<}"
	case 8:
		return "{==" + s + "==}"
	case 9:
		at, _ := g.spanIn(s)
		return "{==" + s[:at] + "{--" + s[at:] + "--}{++" + g.word() + "++}==}"
	}
	return s + `{{author="Bob" date="2026-07-13T07:01:55.123Z">>` + g.word() + "<<}}"
}

// spanIn picks a short span of s between grapheme clusters.
func (g *generator) spanIn(s string) (from, to int) {
	borders := clusterBorders(s)
	i := g.IntN(len(borders))
	j := min(len(borders)-1, i+g.IntN(12))
	return borders[i], borders[j]
}

// clusterBorders returns the offsets between the grapheme clusters of s, both ends included.
func clusterBorders(s string) []int {
	borders := []int{0}
	state, off := -1, 0
	for rest := s; rest != ""; {
		var c string
		c, rest, _, state = uniseg.FirstGraphemeClusterInString(rest, state)
		off += len(c)
		borders = append(borders, off)
	}
	return borders
}

// edit changes a text as a writer might: words, lines, spans, blocks.
func (g *generator) edit(s string) string {
	for range 1 + g.IntN(3) {
		s = g.editOnce(s)
	}
	return s
}

func (g *generator) editOnce(s string) string {
	lines := strings.Split(s, "\n")
	i := g.IntN(len(lines))
	from, to := g.spanIn(s)
	kinds := 9
	if g.blocks != nil {
		kinds = 13
	}
	switch g.IntN(kinds) {
	case 9, 10, 11, 12:
		return g.editBlock(s)
	case 0: // delete a line
		return strings.Join(append(lines[:i:i], lines[i+1:]...), "\n")
	case 1: // insert a line
		return strings.Join(append(lines[:i:i], append([]string{g.line()}, lines[i:]...)...), "\n")
	case 2: // move a line
		moved := lines[i]
		lines = append(lines[:i:i], lines[i+1:]...)
		j := g.IntN(len(lines) + 1)
		return strings.Join(append(lines[:j:j], append([]string{moved}, lines[j:]...)...), "\n")
	case 3: // replace a line
		lines[i] = g.line()
		return strings.Join(lines, "\n")
	case 4: // delete
		return s[:from] + s[to:]
	case 5: // insert
		insert := g.word()
		if g.IntN(6) == 0 {
			insert = "{>>sure?<<}"
		}
		return s[:from] + insert + s[from:]
	case 6: // everything anew
		if g.IntN(4) == 0 {
			return g.text()
		}
		return s + "\n\n" + g.line()
	}
	return s[:from] + g.word() + s[to:]
}

// editBlock deletes, inserts, moves or replaces what stands between two blank lines.
func (g *generator) editBlock(s string) string {
	blocks := strings.Split(s, "\n\n")
	i := g.IntN(len(blocks))
	rest := slices.Delete(slices.Clone(blocks), i, i+1)
	switch j := g.IntN(len(blocks)); g.IntN(4) {
	case 0:
		blocks = rest
	case 1:
		blocks = slices.Insert(blocks, i, g.block())
	case 2:
		blocks = slices.Insert(rest, j, blocks[i])
	default:
		blocks[i] = g.block()
	}
	return strings.Join(blocks, "\n\n")
}

func (g *generator) line() string {
	return strings.ReplaceAll(strings.ReplaceAll(g.text(), "\n", " "), "\r", "")
}
