package rendition

import (
	"bytes"
	"regexp"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// linkNode is what CommonMark does not know: a wikilink, an embed, a formula, a highlight or the mark of a footnote.
type linkNode struct {
	ast.BaseInline
	tag, target string
	shown       text.Segment
}

// maxInline bounds where the end of one is looked for, in bytes: a line may be as long as the note, and hold beginnings only.
const maxInline = 2000

var kindLink = ast.NewNodeKind("ObsidianInline")

func (n *linkNode) Kind() ast.NodeKind { return kindLink }

func (n *linkNode) Dump(source []byte, level int) { ast.DumpHelper(n, source, level, nil, nil) }

// wikilinks reads [[target]], [[target|text]] and ![[target]].
type wikilinks struct{}

func (wikilinks) Trigger() []byte { return []byte{'!', '['} }

func (wikilinks) Parse(_ ast.Node, block text.Reader, _ parser.Context) ast.Node {
	line, at := block.PeekLine()
	line = line[:min(len(line), maxInline)]
	rest := bytes.TrimPrefix(line, []byte("!"))
	inner, ok := bytes.CutPrefix(rest, []byte("[["))
	end := bytes.Index(inner, []byte("]]"))
	if !ok || end <= 0 || bytes.ContainsAny(inner[:end], "[]") {
		return nil
	}
	n := &linkNode{tag: "wikilink"}
	if len(rest) < len(line) {
		n.tag = "embed"
	}
	target, alias, named := bytes.Cut(inner[:end], []byte("|"))
	n.target = string(bytes.TrimSuffix(target, []byte(`\`))) // a bar in a table is escaped
	start := at.Start + len(line) - len(inner)
	n.shown = text.NewSegment(start, start+len(target))
	if named && len(alias) > 0 {
		n.shown = text.NewSegment(start+end-len(alias), start+end)
	}
	n.SetPos(at.Start)
	block.Advance(len(line) - len(inner) + end + 2)
	return n
}

// enclosed reads what stands between signs: ==highlight==, and [^name] of a footnote.
type enclosed struct {
	tag     string
	trigger byte
	form    *regexp.Regexp // with what is shown as its group
}

var (
	highlights = enclosed{"mark", '=', regexp.MustCompile(`^==([^=\s]|[^=\s][^=\n]*[^=\s])==`)}
	footnotes  = enclosed{"footnote", '[', regexp.MustCompile(`^\[\^([^\]\s]+)\]`)}
)

func (e enclosed) Trigger() []byte { return []byte{e.trigger} }

func (e enclosed) Parse(_ ast.Node, block text.Reader, _ parser.Context) ast.Node {
	line, at := block.PeekLine()
	found := e.form.FindSubmatchIndex(line[:min(len(line), maxInline)])
	if found == nil {
		return nil
	}
	n := &linkNode{tag: e.tag, shown: text.NewSegment(at.Start+found[2], at.Start+found[3])}
	n.SetPos(at.Start)
	block.Advance(found[1])
	return n
}

// formulas reads $formula$ and $$formula$$ on a line, so that no Markdown is seen in it.
type formulas struct{}

var formula = regexp.MustCompile(`^(?:\$\$([^$]+)\$\$|\$([^\s$]|[^\s$][^$\n]*[^\s$])\$(?:[^0-9]|$))`)

func (formulas) Trigger() []byte { return []byte{'$'} }

func (formulas) Parse(_ ast.Node, block text.Reader, _ parser.Context) ast.Node {
	line, at := block.PeekLine()
	line = line[:min(len(line), maxInline)]
	found := formula.FindSubmatchIndex(line)
	if found == nil {
		return nil
	}
	body := found[2:4] // between two signs, or between one
	if body[0] < 0 {
		body = found[4:6]
	}
	n := &linkNode{tag: "math", shown: text.NewSegment(at.Start+body[0], at.Start+body[1])}
	n.SetPos(at.Start)
	block.Advance(body[0] + body[1])
	return n
}
