package render

import (
	"strconv"
	"unicode"
	"unicode/utf8"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// Node is an element, or a text if it has no tag. Tags are p, h1 to h6, ul, ol, li, blockquote, pre, table, tr, th, td,
// hr, br, em, strong, s, code, a, img, and some tags that HTML lacks: wikilink, embed, math, mark, footnote, html (as
// source), checkbox.
type Node struct {
	Tag  string `json:"t,omitempty"`
	Attr string `json:"a,omitempty"` // target of a link, language of code, "x" of a ticked box, alignment of a cell, number of an item, "block" of a formula on its own lines
	Text string `json:"x,omitempty"`
	Kind Kind   `json:"k,omitempty"`
	ID   string `json:"s,omitempty"` // ID of a suggestion; set if Kind is set

	Children []*Node `json:"c,omitempty"`

	at, end   int  // offsets in the merged text
	unchanged bool // whether the text occurs in both views
}

func (v *view) tree(body int) []*Node {
	b := builder{view: v, base: body, src: v.text[body:]}
	var ours []util.PrioritizedValue
	for i, x := range inlines {
		ours = append(ours, util.Prioritized(x, 140+i)) // before goldmark's own links and after code
	}
	md := goldmark.New(goldmark.WithExtensions(extension.Table, extension.Strikethrough, extension.TaskList),
		goldmark.WithParserOptions(parser.WithInlineParsers(ours...), parser.WithBlockParsers(util.Prioritized(newMathParser(b.src), 650))))
	return b.children(md.Parser().Parse(text.NewReader(b.src)))
}

type builder struct {
	*view
	base int
	src  []byte // text from offset base on
}

func (b *builder) children(n ast.Node) []*Node {
	var out []*Node
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		// goldmark ends a text where an element could begin, but words must be the same in both views.
		if t, ok := c.(*ast.Text); ok {
			for next := c.NextSibling(); next != nil && t.Merge(next, b.src); next = c.NextSibling() {
				n.RemoveChild(n, next)
			}
		}
		out = append(out, b.node(c)...)
	}
	return out
}

// element returns an element with the given children. If there are no children, its offset is the offset of n.
func (b *builder) element(n ast.Node, tag, attr string, children []*Node) []*Node {
	e := &Node{Tag: tag, Attr: attr, Children: children}
	if len(children) > 0 {
		e.at, e.end = children[0].at, children[len(children)-1].end
	} else {
		e.at = b.placeOfNode(n)
		e.end = e.at
	}
	return []*Node{e}
}

func (b *builder) placeOfNode(n ast.Node) int {
	for ; n != nil; n = n.Parent() {
		if n.Kind() != ast.KindDocument && n.Pos() >= 0 {
			return b.place(b.base + n.Pos())
		}
	}
	return b.place(b.base)
}

var tags = map[ast.NodeKind]string{
	ast.KindParagraph: "p", ast.KindTextBlock: "p", ast.KindThematicBreak: "hr", ast.KindBlockquote: "blockquote", ast.KindListItem: "li",
	ast.KindCodeSpan: "code", east.KindTable: "table", east.KindStrikethrough: "s",
}

func (b *builder) node(n ast.Node) []*Node {
	if tag, ok := tags[n.Kind()]; ok {
		return b.element(n, tag, "", b.children(n))
	}
	switch n := n.(type) {
	case *ast.Heading:
		return b.element(n, "h"+strconv.Itoa(n.Level), "", b.children(n))
	case *ast.List:
		return b.list(n)
	case *ast.FencedCodeBlock:
		return b.element(n, "pre", string(n.Language(b.src)), b.lines(n.Lines()))
	case *ast.CodeBlock:
		return b.element(n, "pre", "", b.lines(n.Lines()))
	case *ast.HTMLBlock:
		lines := b.lines(n.Lines())
		if n.HasClosure() {
			lines = append(lines, b.words(n.ClosureLine.Start, n.ClosureLine.Stop, true)...)
		}
		return b.element(n, "pre", "html", lines)
	case *east.TableHeader:
		return b.element(n, "tr", "", b.cells(n, "th"))
	case *east.TableRow:
		return b.element(n, "tr", "", b.cells(n, "td"))
	case *ast.Text:
		return b.textOf(n)
	case *ast.Emphasis:
		return b.element(n, []string{"em", "strong"}[min(n.Level, 2)-1], "", b.children(n))
	case *ast.Link:
		return b.element(n, "a", string(n.Destination), b.children(n))
	case *ast.Image:
		return b.element(n, "img", string(n.Destination), b.children(n))
	case *ast.AutoLink:
		return b.element(n, "a", string(n.URL(b.src)), b.literal(n, string(n.Label(b.src))))
	case *ast.RawHTML:
		return b.element(n, "html", "", b.lines(n.Segments))
	case *east.TaskCheckBox:
		ticked := ""
		if n.IsChecked {
			ticked = "x"
		}
		return b.element(n, "checkbox", ticked, nil)
	case *mathBlock:
		return b.element(n, "math", displayed, b.lines(n.Lines()))
	case *linkNode:
		return b.element(n, n.tag, n.target, b.words(n.shown.Start, n.shown.Stop, true))
	case *ast.String:
		return b.literal(n, string(n.Value))
	}
	return b.children(n)
}

func (b *builder) list(n *ast.List) []*Node {
	items := b.children(n)
	if !n.IsOrdered() {
		return b.element(n, "ul", "", items)
	}
	for i, item := range items {
		item.Attr = strconv.Itoa(n.Start + i)
	}
	return b.element(n, "ol", "", items)
}

func (b *builder) cells(row ast.Node, tag string) []*Node {
	var out []*Node
	for c := row.FirstChild(); c != nil; c = c.NextSibling() {
		align := ""
		if cell, ok := c.(*east.TableCell); ok && cell.Alignment != east.AlignNone {
			align = cell.Alignment.String()
		}
		out = append(out, b.element(c, tag, align, b.children(c))...)
	}
	return out
}

func (b *builder) literal(n ast.Node, s string) []*Node {
	at := b.placeOfNode(n)
	r := &b.of.runs[b.of.runAt(at)]
	return []*Node{{Text: s, at: at, end: at, unchanged: r.kind == ""}}
}

func (b *builder) textOf(n *ast.Text) []*Node {
	out := b.words(n.Segment.Start, n.Segment.Stop, n.IsRaw())
	if n.SoftLineBreak() || n.HardLineBreak() {
		at := b.place(b.base + min(n.Segment.Stop, len(b.src)-1))
		out = append(out, &Node{Tag: "br", at: at, end: at})
	}
	return out
}

func (b *builder) lines(list *text.Segments) []*Node {
	var out []*Node
	for i := range list.Len() {
		s := list.At(i)
		out = append(out, b.words(s.Start, s.Stop, true)...)
	}
	return out
}

// words splits the view from start to end into words and blanks, so that two views can be compared. Each word or blank
// is within one run. words resolves escapes unless raw is set.
func (b *builder) words(start, end int, raw bool) []*Node {
	var out []*Node
	end = min(end, len(b.src))
	for at := b.base + start; at < b.base+end; {
		i := b.segmentAt(at)
		r := &b.of.runs[b.segs[i].run]
		from := at - b.segs[i].off
		n := wordEnd(r.text[from:min(len(r.text), from+b.base+end-at)])
		shown := r.text[from : from+n]
		if !raw {
			shown = string(util.ResolveEntityNames(util.ResolveNumericReferences(util.UnescapePunctuations([]byte(shown)))))
		}
		out = append(out, &Node{Text: shown, at: r.at + from, end: r.at + from + n, unchanged: r.kind == ""})
		at += n
	}
	return out
}

func wordEnd(s string) int {
	first, _ := utf8.DecodeRuneInString(s)
	for i, c := range s {
		if unicode.IsSpace(c) != unicode.IsSpace(first) {
			return i
		}
	}
	return len(s)
}
