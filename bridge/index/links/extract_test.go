package links_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/relayfs/relayfs/bridge/index/links"
	"github.com/relayfs/relayfs/tests/need"
)

// show writes a link as kind:target+subpath.
func show(l links.Link) string {
	kind := map[links.Kind]string{links.Wikilink: "w", links.Embed: "e", links.Markdown: "m", links.MarkdownEmbed: "i", links.Definition: "d"}[l.Kind]
	return kind + ":" + l.Target + l.Subpath
}

func showAll(ls []links.Link) []string {
	var all []string
	for _, l := range ls {
		all = append(all, show(l))
	}
	return all
}

// rows names the rows of the table of Obsidian's observed link behaviour.
var extractTests = []struct {
	name, text string
	want       []string
}{
	{"plain", "a [[Note]] b", []string{"w:Note"}},
	{"nothing", "a [b] (c) d", nil},
	{"row 10 extension in capitals", "[[Ext.MD]]", []string{"w:Ext.MD"}},
	{"row 11 extension", "[[Note.md]] [[Note]]", []string{"w:Note.md", "w:Note"}},
	{"row 12 display text", "[[Note|AL]]", []string{"w:Note"}},
	{"row 12 only the first pipe splits", "[[Note|a|b]]", []string{"w:Note"}},
	{"row 13 aliases are no links", "---\naliases: SC\n---\n[[x]]", []string{"w:x"}},
	{"row 14 self link", "[[#H]]", []string{"w:#H"}},
	{"row 15 chained subpath", "[[Note#H1#H2]]", []string{"w:Note#H1#H2"}},
	{"row 16 link in a heading", "# See [[Other]]?\n", []string{"w:Other"}},
	{"row 16 heading link with punctuation", "[[Note#See Other?]]", []string{"w:Note#See Other?"}},
	{"row 17 block", "[[Note#^id-1]]", []string{"w:Note#^id-1"}},
	{"row 18 id on its own line", "| a |\n|---|\n| [[x]] |\n\n^id\n\n[[#^id]]", []string{"w:x", "w:#^id"}},
	{"row 19 embeds", "![[Note]] ![[img.png|100x145]] ![[d.pdf#page=3]]",
		[]string{"e:Note", "e:img.png", "e:d.pdf#page=3"}},
	{"row 20 attachment", "[[Figure 1.png]]", []string{"w:Figure 1.png"}},
	{"row 21 markdown link is decoded", "[t](My%20Note.md)", []string{"m:My Note.md"}},
	{"row 22 markdown path", "[t](Sub/My%20Note.md#A%20B)", []string{"m:Sub/My Note.md#A B"}},
	{"row 23 literal space", "[t](Sub/My Note.md)", nil},
	{"row 23 title", `[t](Sub/Note.md "My title") [u](<My Note.md> 't') [v](n.md (t))`,
		[]string{"m:Sub/Note.md", "m:My Note.md", "m:n.md"}},
	{"row 24 hash splits", "[t](We!rd%20(name)%20[x]%20#1.md)", []string{"m:We!rd (name) [x]#1.md"}},
	{"row 25 single bracket", "[[Sq]uare]]", []string{"w:Sq]uare"}},
	{"row 26 nested", "[[a [[Inner]] b]]", []string{"w:Inner"}},
	{"row 26 three brackets", "[[[Note]]]", []string{"w:Note"}},
	{"row 27 newline", "[[a\nb]] [[c]]", []string{"w:c"}},
	{"row 28 URL in a wikilink", "[[https://e.com]]", []string{"w:https://e.com"}},
	{"row 28 URLs in markdown links", "[a](https://e.com) [b](mailto:x@y) [c](//h/p) ![d](data:x) [e](n.md)", []string{"m:n.md"}},
	{"row 29 obsidian comment", "%%[[Hidden]]%%\n\n%%\n[[Block]]\n%%", []string{"w:Hidden", "w:Block"}},
	{"row 29 html comment", "a <!-- [[x]] --> [[y]]\n<!--\n\n[[z]]\n--> [[u]]", []string{"w:y", "w:u"}},
	{"row 29 html comment without an end", "[[a]]\n\n<!-- [[x]]\n\n[[y]]", []string{"w:a"}},
	{"row 29 not a comment", "a <!-- b [[x]]\n\n[[y]]", []string{"w:x", "w:y"}},
	{"row 30 fence", "```\n[[x]]\n```\n[[y]]\n~~~~ md\n[[z]]\n~~~\n```\n~~~~\n[[u]]", []string{"w:y", "w:u"}},
	{"row 30 fence without an end", "a\n```\n[[x]]\n\n[[y]]", nil},
	{"row 30 fence in a list", "- a\n  ```\n  [[x]]\n  ```\n- [[y]]", []string{"w:y"}},
	{"row 30 fence in a quote", "> ```\n> [[x]]\n> ```\n> [[y]]", []string{"w:y"}},
	{"row 30 fence ends with its quote", "> ```\n> [[x]]\n\n[[y]]", []string{"w:y"}},
	{"row 30 quote in a fence", "```\n> ```\n[[x]]\n```\n[[y]]", []string{"w:y"}},
	{"row 30 inline code", "`[[x]]` ``a ` [[y]]`` [[z]]", []string{"w:z"}},
	{"row 30 lone backtick", "a ` [[x]]\n\n` [[y]]", []string{"w:x", "w:y"}},
	{"row 30 backtick does not leave its list item", "- a ` b [[x]]\n- c ` d [[y]]", []string{"w:x", "w:y"}},
	{"row 30 inline code over a line break", "`a\n[[x]]` [[y]]", []string{"w:y"}},
	{"row 30 info string with a backtick is inline code", "``` a`b\n[[x]]", []string{"w:x"}},
	{"row 30 indented code", "a\n\n    [[x]]\n\t[[y]]\n\n[[z]]\n    [[u]]", []string{"w:z", "w:u"}},
	{"row 30 indented list text is not code", "- a\n\n    [[x]]\n\n    - [[y]]", []string{"w:x", "w:y"}},
	{"row 30 a tab after a mark is no code", "-\t[[x]]\n\n>\t[[y]]\n\n> \t[[z]]\n\n1.\t- \t[[u]]", []string{"w:x", "w:y", "w:z", "w:u"}},
	{"row 31 callout, footnote", "> [!note] [[a]]\n> [[b]]\n\n[^1]: see [[c]]", []string{"w:a", "w:b", "w:c"}},
	{"row 31 table", "| [[n\\|a]] | [[m#h\\|b]] |", []string{"w:n", "w:m#h"}},
	{"row 32 front matter", "---\nx: \"[[N]]\"\ny:\n  - '[[M|m]]'\n  - \"[[O#h]]\" # \"[[no]]\"\nz: [\"[[P]]\", '[[Q]]']\nplain: it's \"[[no]]\"\n---\n[[B]]",
		[]string{"w:N", "w:M", "w:O#h", "w:P", "w:Q", "w:B"}},
	{"row 32 unquoted", "---\nx: [[N]]\n---\n", nil},
	{"row 32 no front matter", "---\nx: [[N]]\n", []string{"w:N"}},
	{"row 32 not on the first line", "\n---\nx: [[N]]\n---\n", []string{"w:N"}},
	{"row 32 CRLF and BOM", "\ufeff---\r\nx: \"[[N]]\"\r\ny: [[no]]\r\n---\r\n[[B]]\r\n", []string{"w:N", "w:B"}},
	{"row 33 markdown link in front matter", "---\nx: \"[t](My%20Note.md)\"\n---\n", []string{"m:My Note.md"}},
	{"row 34 math", "$a [[x]] b$ [[US$ and A$]]", []string{"w:x", "w:US$ and A$"}},
	{"row 35 tags", "#a/b [[x]] #tag", []string{"w:x"}},
	{"row 42 suggestions", "{++[[New]]++} {--[[Old]]--} {~~[[A]]~>[[B]]~~} {>>[[C]]<<} {==[[D]]==}",
		[]string{"w:New", "w:Old", "w:A", "w:B", "w:C", "w:D"}},

	{"escaped brackets", `\[[a]] \[b](c.md) [d\](e.md) \![[f]]`, []string{"w:f"}},
	{"empty", "[[]] [[ ]] [[|x]] [[#]] [t]() [t](#)", nil},
	{"spaces", "[[ Note\u00a0A #h |x]]", []string{"w:Note A#h"}},
	{"image in a link", "[![alt](a.png)](b.md)", []string{"m:b.md", "i:a.png"}},
	{"links do not nest", "[a [b](c.md) d](e.md)", []string{"m:c.md"}},
	{"balanced parentheses", `[t](a(b)c.md) [u](a\)b.md)`, []string{"m:a(b)c.md", "m:a)b.md"}},
	{"bad percent escapes", "[t](50%.md) [u](a%FFb.md)", []string{"m:50%.md", "m:a%FFb.md"}},
	{"text over a line break", "[a\nb](c.md)", []string{"m:c.md"}},
	{"text over a blank line", "[a\n\nb](c.md)", nil},
	{"reference links", "[a][b] [c]\n\n[b]: note.md", []string{"d:note.md"}},
	{"definitions", "[a]: A.md\n[b]:B%20C.md#H%201 \"t\"\n  [c d]: <D e.md> 'x y'\n# H\n[e]: ../f/E.md (t)\n> - [f]: F.md\n> [g]: G.md",
		[]string{"d:A.md", "d:B C.md#H 1", "d:D e.md", "d:../f/E.md", "d:F.md", "d:G.md"}},
	{"definitions in quotes", "> [f]: F.md\n> [g]: G.md\n\n- [h]: H.md\n- [i]: I.md\n***\n[j]: J.md",
		[]string{"d:F.md", "d:G.md", "d:H.md", "d:I.md", "d:J.md"}},
	{"no definitions", "text\n[a]: A.md\n\n[^b]: B.md\n\n[c]: C d.md\n\n[d]: D.md \"t\" x\n\n[e]:\n\n[ ]: E.md\n\n[f] : F.md\n\n\\[g]: G.md\n\n[h[i]: I.md\n\n[j]: https://e.com\n\n`[k]: K.md`", nil},
	{"definitions in code", "```\n[a]: A.md\n```\n\n    [b]: B.md\n\n<!--\n[c]: C.md\n-->\n[d]: D.md", []string{"d:D.md"}},
	{"a link after a definition", "[a]: A.md\n[[B]] [c](C.md)", []string{"d:A.md", "w:B", "m:C.md"}},
}

func TestExtract(t *testing.T) {
	for _, tt := range extractTests {
		t.Run(tt.name, func(t *testing.T) {
			got := showAll(links.Extract(tt.text))
			for i := range got {
				got[i] = strings.TrimSpace(got[i])
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("Extract(%q)\n got %q\nwant %q", tt.text, got, tt.want)
			}
		})
	}
}

// retarget writes every linkpath again, as a rename does.
func retarget(text string, fn func(links.Link) string) string {
	var b strings.Builder
	done := 0
	for _, l := range links.Extract(text) {
		b.WriteString(text[done:l.TargetOff])
		b.WriteString(fn(l))
		done = l.TargetOff + l.TargetLen
	}
	return b.String() + text[done:]
}

// Row 38: a rename rewrites the linkpath and keeps everything else.
func TestTargetRange(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"[[Note]] and ![[Note#h|x]]", "[[N2]] and ![[N2#h|x]]"},
		{`| [[Note\|a]] |`, `| [[N2\|a]] |`},
		{"[[ Note #h ]]", "[[ N2 #h ]]"},
		{"[t](My%20Note.md#a%20b \"x\") [u](<My Note.md>)", "[t](N2#a%20b \"x\") [u](<N2>)"},
		{"[r]: My%20Note.md#a \"x\"\n[s]: <My Note.md>", "[r]: N2#a \"x\"\n[s]: <N2>"},
		{"---\nup: \"[[Note|n]]\"\n---\n", "---\nup: \"[[N2|n]]\"\n---\n"},
	} {
		if got := retarget(tt.text, func(links.Link) string { return "N2" }); got != tt.want {
			t.Errorf("retarget(%q)\n got %q\nwant %q", tt.text, got, tt.want)
		}
	}
	const self = "[[#h]] [x](#h)"
	if got := retarget(self, func(l links.Link) string { return l.Target }); got != self {
		t.Errorf("self links: got %q, want %q", got, self)
	}
}

// checkRanges holds for the links of any text.
func checkRanges(t *testing.T, text string) {
	t.Helper()
	valid := utf8.ValidString(text)
	for _, l := range links.Extract(text) {
		whole := text[l.Off : l.Off+l.Len]
		if l.TargetOff < l.Off || l.TargetOff+l.TargetLen > l.Off+l.Len {
			t.Fatalf("target of %q lies outside of it", whole)
		}
		begin, end := map[links.Kind]string{links.Wikilink: "[[", links.Embed: "![[", links.Markdown: "[", links.MarkdownEmbed: "![", links.Definition: "["}[l.Kind], "]]"
		switch l.Kind {
		case links.Markdown, links.MarkdownEmbed:
			end = ")"
		case links.Definition:
			end = ""
		}
		if !strings.HasPrefix(whole, begin) || !strings.HasSuffix(whole, end) {
			t.Fatalf("%v %q in %q", l.Kind, whole, text)
		}
		if valid && !utf8.ValidString(l.Target+l.Subpath) {
			t.Fatalf("%q is not valid UTF-8", show(l))
		}
	}
}

func FuzzExtract(f *testing.F) {
	for _, tt := range extractTests {
		f.Add(tt.text)
	}
	f.Fuzz(checkRanges)
}

// No text makes the scan quadratic: these would take minutes then.
func TestExtractIsLinear(t *testing.T) {
	const n = 1 << 18
	for _, part := range []string{
		"[", "[[", "]", "![", "`", "` `` ", "<!--", "<!-- ", "{++", "{++ {-- ", "[a](", "[a](<", "[a](b \"", "(", "[[a", "[a](b)", "\\",
		"- ", "> ", "1. ", "    ", "#", "|", "\n", "---\n", "---\n\"", "[[a]](", "[](", "![[",
	} {
		text := "[[x]](y" + strings.Repeat(part, n/len(part))
		start := time.Now()
		checkRanges(t, text)
		checkRanges(t, "---\n"+text)
		if d := time.Since(start); d > need.Scaled(3*time.Second) {
			t.Errorf("%d times %q took %v", n/len(part), part, d)
		}
	}
}

func BenchmarkExtract(b *testing.B) {
	var sb strings.Builder
	for i := range 50 {
		fmt.Fprintf(&sb, "## Section %d\n\nSome prose with a [[Note %d|link]] and `code`, then more words until the line is long enough.\n\n- item [a](b%%20c.md)\n- item\n\n", i, i)
	}
	text := sb.String()
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		links.Extract(text)
	}
}
