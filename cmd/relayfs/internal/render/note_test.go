package render

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/relayfs/relayfs/cmd/relayfs/internal/reviewqueue"
	"github.com/relayfs/relayfs/diffwrap"
	"github.com/relayfs/relayfs/tests/randomtest"
)

// places numbers the suggestions of a raw text from 1.
func places(raw string) map[string][]diffwrap.Span {
	out := make(map[string][]diffwrap.Span)
	for i, x := range diffwrap.Everything.Suggestions(raw) {
		out[fmt.Sprint(i+1)] = x.Stretches()
	}
	return out
}

// of draws a raw text, of which every mark counts.
func of(raw string) Note {
	n := &reviewqueue.Note{Text: raw}
	marks, _, _ := diffwrap.Everything.Layout(raw)
	for _, m := range marks {
		n.Known = append(n.Known, m.Start)
	}
	for id, spans := range places(raw) {
		n.Suggestions = append(n.Suggestions, reviewqueue.Suggestion{ID: id, Places: spans})
	}
	for _, c := range diffwrap.Everything.Comments(raw) {
		n.Threads = append(n.Threads, reviewqueue.Thread{Start: c.Start})
	}
	return NoteOf(n, false)
}

// write writes nodes for a person: (tag children), and what goes and comes with a sign.
func write(b *strings.Builder, list []*Node) {
	for _, n := range list {
		sign := map[Kind]string{Old: "-", New: "+"}[n.Kind]
		switch {
		case n.Tag == "" && sign == "":
			b.WriteString(n.Text)
		case n.Tag == "":
			fmt.Fprintf(b, "{%s%s}", sign, n.Text)
		default:
			fmt.Fprintf(b, "(%s%s", sign, n.Tag)
			if n.Attr != "" {
				b.WriteString("=" + n.Attr)
			}
			if len(n.Children) > 0 {
				b.WriteString(" ")
			}
			write(b, n.Children)
			b.WriteString(")")
		}
	}
}

func written(n Note) string {
	var b strings.Builder
	for _, x := range n.Blocks {
		write(&b, x.Nodes)
		for _, g := range x.Groups {
			fmt.Fprintf(&b, " %v", g)
		}
		if x.Source != nil {
			b.WriteString(" source ")
			write(&b, x.Source)
		}
		if x.Comments != nil {
			fmt.Fprintf(&b, " comments %v", x.Comments)
		}
		b.WriteString("\n")
	}
	return b.String()
}

// What is shown of the examples in docs/marks.md, and of what Obsidian knows besides.
func TestOf(t *testing.T) {
	for _, c := range []struct{ raw, want string }{
		{"a ==b {--c--}{++d++}== ==e\n", "(p a (mark b {-c}{+d}) ==e) [1]\n"},
		{"a[^1] [^2]: b{++c++}\n\n[^1]: {--May--}{++June++} 2026\n", "(p a(footnote 1) (footnote 2): b{+c}) [1]\n(p (footnote 1): {-May}{+June} 2026) [2]\n"},
		{"{--1--}{++5++}. a\n6. b\n", "(ol (li=5 (p a))) [1] source {-1}{+5}. a\n\n(ol (li=6 (p b)))\n"},
		{"The quick {--brown--}{++red++} fox {--jumps--}{++leaps++}.\n", "(p The quick {-brown}{+red} fox {-jumps}{+leaps}.) [1 2]\n"},
		{"Keep the {--Default--}{++**Default**++} value.\n", "(p Keep the {-Default}(+strong {+Default}) value.) [1]\n"},
		{"{--Alpha beta gamma delta--}{++Completely other words here now++}.\n", "(p {-Alpha beta gamma delta}{+Completely other words here now}.) [1]\n"},
		{"One.{-- --}{++\n\n++}Two.\n", "(p One.{- Two.})(+p {+Two.}) [1]\n"},
		{"A.{++\n\nNew.++}\n\nB.\n", "(p A.)\n(+p {+New.}) [1]\n(p B.)\n"},
		{"A.{++\n\nNew one.++}{++\n\nNew two.++}\n\nB.\n", "(p A.)\n(+p {+New one.}) [1]\n(+p {+New two.}) [2]\n(p B.)\n"},
		{"# T\n\n{++New.\n\n++}Old.\n", "(h1 T)\n(+p {+New.}) [1]\n(p Old.)\n"},
		{"Text.\n\n```dataview\nLIST\n```\n{++\nNew.\n++}\n", "(p Text.)\n(pre=dataview LIST\n)\n(+p {+New.}) [1]\n"},
		{"{--# T\n--}{++New.\n\n# T\n++}\nOld.\n", "(+p {+New.}) [1]\n(h1 T)\n(p Old.)\n"},
		{"# {--Old--}{++New++} title\n\nText.\n", "(h1 {-Old}{+New} title) [1]\n(p Text.)\n"},
		{"Intro.\n{--\n## Setup--}{++\n### Setup++}\n\nText.\n", "(p Intro.)\n(-h2 {-Setup})(+h3 {+Setup}) [1]\n(p Text.)\n"},
		{"- one{++\n- new++}\n- two\n", "(ul (li (p one)))\n(ul (+li (+p {+new}))) [1]\n(ul (li (p two)))\n"},
		{"Steps\n1. one{++\n2. new++}{--\n2. two--}{++\n3. two++}\n", "(p Steps)\n(ol (li=1 (p one)))\n(ol (+li=2 (+p {+new}))) [1]\n(ol (li=3 (p {-two}{+two}))) [2]\n"},
		{"# Day\n{--- [ ] call--}{++- [x] call++}{--\n- [ ] write--}{++\n- [x] write++}\n- [ ] rest\n", "(h1 Day)\n(ul (li (p (-checkbox)(+checkbox=x)call))) [1]\n(ul (li (p (-checkbox){-write}(+checkbox=x){+write}))) [2]\n(ul (li (p (checkbox)rest)))\n"},
		{"| a | b |\n|---|---|\n| 1 | {--2--}{++3++} |\n", "(table (tr (th a)(th b))(tr (td 1)(td {-2}{+3}))) [1]\n"},
		{"| a | b |\n|---|---|\n| {++0 | 1 |\n| ++}1 | 2 |\n\nB.\n", "(table (tr (th a)(th b))(+tr (+td {+0})(+td {+1}))(tr (td 1)(td 2))) [1]\n(p B.)\n"},
		{"A.\n{--\n| a | b |\n| --- | --- |\n| 1 | 2 |--}{++\n| a | b |\n| :-: | --- |\n| 1 | 2 |++}\n\nB.\n", "(p A.)\n(table (tr (th=center a)(th b))(tr (td=center 1)(td 2))) [1] source \n| a | b |{-\n| --- | --- |}{+\n| :-: | --- |}\n| 1 | 2 |\n\n(p B.)\n"},
		{"See {--[link](http://a.com)--}{++[link](http://b.com)++} there.\n", "(p See (-a=http://a.com {-link})(+a=http://b.com {+link}) there.) [1]\n"},
		{"A.\n{--\n$$x = 1$$\n--}{++\n$$y = 1$$\n++}\nB.\n", "(p A.)\n(p (-math=block {-x = 1})(+math=block {+y = 1})) [1]\n(p B.)\n"},
		{"A.\n$$\na &= *b* \\\\\n\nc_1\n$$\n{++B.++}\n", "(p A.)\n(math=block a &= *b* \\\\\n\nc_1\n)\n(+p {+B.}) [1]\n"},
		{"> $$x\n> y $$\n\n- $$\n  z\n  $$\n\n$$ a {++b++}\n\n$$c$$ d\n", "(blockquote (math=block x\ny ))\n(ul (li (math=block z\n)))\n(p $$ a{+ b}) [1]\n(p (math=block c) d)\n"},
		{"{++$$\nnew\n$$\n\n++}Old $$ {++$5++} more\n", "(+math=block {+new\n}) [1]\n(p Old $$ {+$5} more) [2]\n"},
		{"> [!tip] A\n> text{--\n\n> [!tip] B\n> more--}\n\n> [!note] C\n> text\n", "(blockquote (p [!tip] A(br)text))\n(-blockquote (-p {-[!tip] B}(-br){-more})) [1]\n(blockquote (p [!note] C(br)text))\n"},
		{"Para.{--\n\n-----}\n\nMore.\n", "(p Para.)\n(-hr) [1]\n(p More.)\n"},
		{"เราไปเที่ยว{--สวนสาธารณะ--}{++ทะเล++}เมื่อวานนี้\n", "(p เราไปเที่ยว{-สวนสาธารณะ}{+ทะเล}เมื่อวานนี้) [1]\n"},
		{"---\na: [1, 2]\n---\n# Title {--a--}{++b++}\n\nSee [[Plan{--s--}{++t++}|it]] and [x]({--http://a.b--}{++http://c.d++}) ![i](http://x/y.png) `code {--a--}{++b++}` $x_1 *a* y$.\n\n| a | b |\n|---|---|\n| 1 | {--2--}{++3++} |\n| \\* | &amp; [[a\\|b]] |\n\n{>>a remark<<}\n\n<script>alert({++1++})</script>\n\n- [{-- --}{++x++}] task\n- b\n  - c {++d++}\n", "(h1 Title {-a}{+b}) [1]\n(p See (-wikilink=Plans {-it})(+wikilink=Plant {+it}) and (-a=http://a.b {-x})(+a=http://c.d {+x}) (img=http://x/y.png i) (code code {-a}{+b}) (math x_1 *a* y).) [2 3 4]\n(table (tr (th a)(th b))(tr (td 1)(td {-2}{+3}))(tr (td *)(td & (wikilink=a b)))) [5] comments [0]\n(pre=html <script>alert({+1})</script>\n) [6]\n(ul (li (p (-checkbox)(+checkbox=x)task))) [7]\n(ul (li (p b)(ul (li (p c{+ d}))))) [8]\n"},
	} {
		if got := written(of(c.raw)); got != c.want {
			t.Errorf("%s\nis\n%swant\n%s", c.raw, got, c.want)
		}
	}
}

// Without what comes, the tree is that of the note before; without what goes, that of the note after.
func TestBothTreesAreThere(t *testing.T) {
	randomtest.Check(t, 300, func(t testing.TB, r *rand.Rand) {
		parts := []string{"a ", "b", "\n", "\n\n", "- ", "# ", "> ", "**", "| ", "|-|\n", "[x](y)", "[[z]]", "`", "1. ", "{--", "--}", "{++", "++}", "[ ] ", "$", "$$", "é"}
		raw := strings.Join(randomtest.Some(r, 0, 40, parts...), "")
		m, _ := merge(raw, diffwrap.Everything, places(raw))
		if len(m.runs) == 0 {
			return
		}
		before, after := m.without(New), m.without(Old)
		all := m.mergeLists(before.tree(0), after.tree(0))
		for _, side := range []struct {
			lacks Kind
			want  []*Node
		}{{New, before.tree(0)}, {Old, after.tree(0)}} {
			var got, want strings.Builder
			write(&got, without(all, side.lacks))
			write(&want, without(side.want, side.lacks))
			if numbers.ReplaceAllString(got.String(), "") != numbers.ReplaceAllString(want.String(), "") {
				t.Fatalf("%q without %s: %s, want %s", raw, side.lacks, got.String(), want.String())
			}
		}
	})
}

// numbers are those of the items of a list: they are the new ones.
var numbers = regexp.MustCompile(`\(li=\d+|\(t[dh]=\w+`)

// without returns nodes without those of a kind. What is left is of no kind.
func without(list []*Node, kind Kind) []*Node {
	var out []*Node
	for _, n := range list {
		if n.Kind != kind {
			e := *n
			e.Kind, e.Children = "", without(n.Children, kind)
			out = append(out, &e)
		}
	}
	return out
}

// Every suggestion can be decided on, wherever its marks stand.
func FuzzEverySuggestionIsShown(f *testing.F) {
	f.Add("a {++b++}\n\n| a |{--\n|-|--}{++\n|:-|++}\n")
	f.Add("[a]: {--http://a--}{++http://b++}\n---\n")
	f.Fuzz(func(t *testing.T, raw string) {
		want := places(raw)
		shown := make(map[string]int)
		for _, b := range of(raw).Blocks {
			for _, g := range b.Groups {
				for _, id := range g {
					shown[id]++
				}
			}
		}
		for id := range want {
			if shown[id] != 1 {
				t.Errorf("%q: suggestion %s is shown %d times", raw, id, shown[id])
			}
		}
		if len(shown) != len(want) {
			t.Errorf("%q: %d suggestions shown, want %d", raw, len(shown), len(want))
		}
	})
}

// What would take a parser minutes is shown as source, with its changes.
func TestHardTextsAreSource(t *testing.T) {
	for _, mark := range []string{"[", "_a*", "> ", "{++b++}[["} {
		n := of(strings.Repeat(mark, 50_000) + "{++a++}")
		if len(n.Blocks) == 0 || n.Blocks[0].Nodes[0].Attr != "source" || len(n.Blocks[0].Groups) == 0 {
			t.Errorf("%q many times: %d blocks", mark, len(n.Blocks))
		}
	}
	if n := of("a *b* [c](d) {++e++}\n"); n.Blocks[0].Nodes[0].Tag != "p" {
		t.Errorf("a plain text: %s", written(n))
	}
}
