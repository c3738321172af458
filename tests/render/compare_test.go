package render

import (
	"encoding/json"
	"fmt"
	"hash/maphash"
	"slices"
	"strings"
	"testing"

	"github.com/relayfs/relayfs/diffwrap"
)

// block is one block of a page.
type block struct {
	kind     string
	from, to int    // its lines
	look     string // a hash of its HTML
	html     string // only if asked for
	source   uint64 // a hash of its lines
}

// UnmarshalJSON reads an answer of render.mjs.
func (b *block) UnmarshalJSON(data []byte) error {
	fields := []any{&b.kind, &b.from, &b.to, &b.look, &b.html}
	return json.Unmarshal(data, &fields)
}

// page is a text and what is seen of it.
type page struct {
	lines  []string
	blocks []block
}

var seed = maphash.MakeSeed()

func newPage(text string, blocks []block) page {
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(strings.TrimPrefix(text, diffwrap.ByteOrderMark))
	p := page{strings.Split(text, "\n"), blocks}
	for i := range blocks {
		blocks[i].source = maphash.String(seed, p.source(blocks[i]))
	}
	return p
}

// source is the text of a block without blank lines at its end.
func (p page) source(b block) string {
	return strings.TrimRight(strings.Join(p.lines[b.from:min(b.to, len(p.lines))], "\n"), " \t\n")
}

// same says whether a block did not change.
func same(a, b block) bool { return a.look == b.look && a.source == b.source }

// weight says how much it matters that a block stays: its lines, and the blank one behind it.
func (b block) weight() int { return b.to - b.from + 1 }

// verdict is what a pending page does to a page.
type verdict struct {
	unchanged int     // blocks that did not change
	broken    []block // those of them, of the original page, that are seen otherwise
	lost      map[string]int
}

func (v verdict) stands() bool { return len(v.broken) == 0 && len(v.lost) == 0 }

// constructs are the kinds of blocks that are counted on whole pages.
var constructs = []string{"table", "code", "math", "callout", "html", "comment"}

// compare judges a pending page; see the documentation of the package.
func compare(original, accepted, pending page, raw string) verdict {
	v := verdict{lost: make(map[string]int)}
	stay := common(original.blocks, accepted.blocks, same)
	v.unchanged = len(stay)
	looks := func(a, b block) bool { return a.look == b.look }
	if seen := common(stay, pending.blocks, looks); len(seen) < len(stay) && !allStay(original.blocks, accepted.blocks, pending.blocks, stay) {
		v.broken = without(stay, seen)
		if inAnyOrder(original.blocks, accepted.blocks, same) > len(stay) {
			v.broken = slices.DeleteFunc(v.broken, func(b block) bool { return moved(raw, original.source(b)) })
		}
	}
	for _, kind := range constructs {
		if n := min(count(original, kind), count(accepted, kind)) - count(pending, kind); n > 0 {
			v.lost[kind] = n
		}
	}
	return v
}

// common returns the blocks of a that are in a heaviest common subsequence of a and b.
func common(a, b []block, same func(a, b block) bool) []block {
	head := 0
	for head < len(a) && head < len(b) && same(a[head], b[head]) {
		head++
	}
	tail := 0
	for tail < len(a)-head && tail < len(b)-head && same(a[len(a)-1-tail], b[len(b)-1-tail]) {
		tail++
	}
	out := slices.Clone(a[:head])
	x, y := a[head:len(a)-tail], b[head:len(b)-tail]
	weights := make([][]int, len(x)+1)
	for i := range weights {
		weights[i] = make([]int, len(y)+1)
	}
	for i := len(x) - 1; i >= 0; i-- {
		for j := len(y) - 1; j >= 0; j-- {
			weights[i][j] = max(weights[i+1][j], weights[i][j+1])
			if same(x[i], y[j]) {
				weights[i][j] = max(weights[i][j], weights[i+1][j+1]+x[i].weight())
			}
		}
	}
	for i, j := 0, 0; i < len(x) && j < len(y); {
		switch {
		case same(x[i], y[j]) && weights[i][j] == weights[i+1][j+1]+x[i].weight():
			out = append(out, x[i])
			i, j = i+1, j+1
		case weights[i][j] == weights[i+1][j]:
			i++
		default:
			j++
		}
	}
	return append(out, a[len(a)-tail:]...)
}

// maxCube bounds the comparison of three pages.
const maxCube = 4 << 20

// allStay reports whether some heaviest common subsequence of the original and the accepted page, of which stay is one, is
// on the pending page as well.
func allStay(original, accepted, pending, stay []block) bool {
	for len(original) > 0 && len(accepted) > 0 && len(pending) > 0 && same(original[0], accepted[0]) && original[0].look == pending[0].look {
		original, accepted, pending, stay = original[1:], accepted[1:], pending[1:], stay[1:]
	}
	a, b, c := len(original)+1, len(accepted)+1, len(pending)+1
	if a*b*c > maxCube {
		return false
	}
	weights := make([]int32, a*b*c)
	at := func(i, j, k int) *int32 { return &weights[(i*b+j)*c+k] }
	for i := a - 2; i >= 0; i-- {
		for j := b - 2; j >= 0; j-- {
			both := same(original[i], accepted[j])
			for k := c - 2; k >= 0; k-- {
				w := max(*at(i+1, j, k), *at(i, j+1, k), *at(i, j, k+1))
				if both && original[i].look == pending[k].look {
					w = max(w, *at(i+1, j+1, k+1)+int32(original[i].weight()))
				}
				*at(i, j, k) = w
			}
		}
	}
	total := 0
	for _, x := range stay {
		total += x.weight()
	}
	return int(weights[0]) >= total
}

// without returns the blocks of all that are not in some, which is a subsequence of it.
func without(all, some []block) (out []block) {
	for _, b := range all {
		if len(some) > 0 && some[0] == b {
			some = some[1:]
		} else {
			out = append(out, b)
		}
	}
	return out
}

// inAnyOrder counts the blocks that two pages have in common, wherever they stand.
func inAnyOrder(a, b []block, same func(a, b block) bool) (n int) {
	b = slices.Clone(b)
	for _, x := range a {
		if i := slices.IndexFunc(b, func(y block) bool { return same(x, y) }); i >= 0 {
			b = slices.Delete(b, i, i+1)
			n++
		}
	}
	return n
}

// moved reports whether raw has the lines of a block in one deletion and in one addition.
func moved(raw, source string) bool {
	raw, source = strings.ReplaceAll(raw, "\r\n", "\n"), "\n"+source+"\n"
	deleted, added := false, false
	marks, _, _ := diffwrap.Everything.Layout(raw)
	for _, m := range marks {
		deleted = deleted || strings.Contains("\n"+raw[m.Deleted.Start:m.Deleted.End]+"\n", source)
		added = added || strings.Contains("\n"+raw[m.Added.Start:m.Added.End]+"\n", source)
	}
	return deleted && added
}

func count(p page, kind string) (n int) {
	for _, b := range p.blocks {
		if b.kind == kind {
			n++
		}
	}
	return n
}

// Each case of the first kind must be found, and each of the second must not.
func TestCompare(t *testing.T) {
	r := newRenderer(t)
	fence := "Text.\n\n```\ncode\n```\n"
	table := "| a | b |\n|---|---|\n| 1 | 2 |\n"
	for _, c := range []struct {
		name, pending, broken, lost string
	}{
		{"behind a closing fence", strings.TrimSuffix(fence, "\n") + "{++\n\nNew.++}\n", "code", ""},
		{"behind an opening fence", "```{++js++}\ncode\n```\n\nText.\n", "", ""},
		{"in a delimiter row", "| a | b |{++ c |++}\n|---|---|{++---|++}\n| 1 | 2 |{++ 3 |++}\n", "", "table"},
		{"behind a table's only rows", "| a | b |\n|---|---|{++\n| 1 | 2 |++}\n", "", "table"},
		{"a rule that is deleted makes a heading", "Para\n{--\n---\n--}\nMore.\n", "paragraph", ""},
		{"a rule is deleted with the blank line above it", "Para{--\n\n---\n--}\n\nMore.\n", "", ""},
		{"two callouts are merged", "> [!tip] A\n> text\n{--\n> [!tip] B\n> more\n--}\n> [!note] C\n> text\n", "callout", "callout"},
		{"a callout is deleted with the blank line above it", "> [!tip] A\n> text{--\n\n> [!tip] B\n> more--}\n\n> [!note] C\n> text\n", "", ""},
		{"behind a heading", "# T{++\n\nNew.++}\n\nOld.\n", "heading", ""},
		{"below a heading", "# T\n{++\nNew.\n\n++}\nOld.\n", "", ""},
		{"glued to the next paragraph", "# T\n{++\nNew.\n++}\nOld.\n", "paragraph", ""},
		{"behind a setext heading", "T\n==={++\n\nNew.++}\n\nOld.\n", "heading", ""},
		{"behind a rule", "Old.\n\n---{++\n\nNew.++}\n", "rule", ""},
		{"behind a block id", "Old. ^abc{++\n\nNew.++}\n", "paragraph", ""},
		{"behind a formula", "$$\nx\n$${++\n\nNew.++}\n", "math", "math"},
		{"behind a comment", "%%\nx\n%%{++\n\nNew.++}\n", "comment", "comment"},
		{"behind a callout's header", "> [!tip] T{++\n> New.++}\n\nOld.\n", "", ""},
		{"behind a callout that has a header only", "> [!tip] T{++\n\nNew.++}\n\nOld.\n", "callout", ""},
		{"behind a tag line", "<div>\nx\n</div>{++\n\nNew.++}\n", "html", ""},
		{"behind a definition", "[a]\n\n[a]: b{++\n\nNew.++}\n", "paragraph", ""},
		{"behind a task", "- [ ] a\n- [ ]{++ b++}\n\nOld.\n", "", ""},
		{"behind a paragraph", "Old.{++\n\nNew.++}\n\nMore.\n", "", ""},
		{"before a paragraph", "{++New.\n\n++}Old.\n", "", ""},
		{"on lines of their own", "{++\nNew.\n\n++}\nOld.\n", "", ""},
		{"behind an item", "- Old.{++\n\nNew.++}\n\nMore.\n", "", ""},
		{"behind a row", table[:len(table)-1] + "{++\n\nNew.++}\n", "", ""},
		{"in a changed block", "Old {--text--}{++words++}.\n\n# T\n", "", ""},
		{"a heading moves behind a paragraph", "{--# T\n\n--}Old.{++\n\n# T++}\n", "", ""},
		{"a paragraph moves before a heading", "{++Old.\n\n++}# T\n{--\nOld.\n--}\n", "", ""},
		{"a deletion ends before an item", "- a\n{--\nMid.\n\n--}1. b\n", "list", ""},
		{"two lists are merged", "- a\n{--\nMid.\n--}\n- b\n", "", ""},
		{"two paragraphs that stay are written anew", "{--A.\n\nB.--}{++A.\n\nB.++}\n\n# T\n", "", ""},
		{"two headings that stay are written anew", "# T\n\n{--# A\n\n# B--}{++# A\n\n# B++}\n", "heading", ""},
		{"two headings change places, and the other one moves", "{--## A long one\n\n--}# B{++\n\n## A long one++}\n", "heading", ""},
		{"an opener swallows the next block", "Old.\n\n{++```\nx\n++}\nMore.\n\n```\ncode\n```\n", "", ""},
		{"front matter that is marked", "---\na: 1{++\nb: 2++}\n---\n\nOld.\n", "", ""},
		{"a mark before front matter", "{++New.\n++}---\na: 1\n---\n\nOld.\n", "", ""},
	} {
		texts := []string{diffwrap.Everything.Original(c.pending), diffwrap.Everything.Accepted(c.pending), c.pending}
		pages, err := r.pages(texts, func(int) bool { return false })
		if err != nil {
			t.Fatal(err)
		}
		v := compare(pages[0], pages[1], pages[2], c.pending)
		var broken, lost string
		if len(v.broken) > 0 {
			broken = v.broken[0].kind
		}
		for kind := range v.lost {
			lost = kind
		}
		if broken != c.broken || lost != c.lost {
			t.Errorf("%s: broken %q, want %q; lost %q, want %q\n%s", c.name, broken, c.broken, lost, c.lost, describe(r, texts))
		}
	}
}

// describe shows texts and their pages.
func describe(r *renderer, texts []string) string {
	var b strings.Builder
	for i, name := range []string{"original", "accepted", "pending"} {
		fmt.Fprintf(&b, "-- %s --\n%s\n-- its page --\n%s", name, texts[i], r.html(texts[i]))
	}
	return b.String()
}
