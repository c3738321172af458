package render

import (
	"bytes"
	"regexp"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// linkNode is an inline element that Obsidian has and CommonMark lacks: a wikilink, an embed, a formula, a highlight or
// a footnote reference.
type linkNode struct {
	ast.BaseInline
	tag, target string
	shown       text.Segment
}

// maxInline is the maximum number of bytes in which the parser looks for the end of an element. Without this limit, a
// line that is as long as the note and contains only beginnings of elements would take quadratic time.
const maxInline = 2000

var kindLink = ast.NewNodeKind("ObsidianInline")

func (n *linkNode) Kind() ast.NodeKind { return kindLink }

func (n *linkNode) Dump(source []byte, level int) { ast.DumpHelper(n, source, level, nil, nil) }

// inline parses one kind of linkNode. The groups of form are the whole element and its text. For a link they are the
// whole element, the target and the alias.
type inline struct {
	tag, attr string
	trigger   byte
	form      *regexp.Regexp
}

// displayed is the attribute of a formula that is on lines of its own.
const displayed = "block"

const wikilink = `(\[\[([^\[\]|]*)(?:\|([^\[\]]*))?\]\])`

var inlines = []inline{
	{"footnote", "", '[', regexp.MustCompile(`^(\[\^([^\]\s]+)\])`)},
	{"wikilink", "", '[', regexp.MustCompile(`^` + wikilink)},
	{"embed", "", '!', regexp.MustCompile(`^!` + wikilink)},
	{"math", displayed, '$', regexp.MustCompile(`^(\$\$([^$]+)\$\$)`)},
	{"math", "", '$', regexp.MustCompile(`^(\$([^\s$]|[^\s$][^$\n]*[^\s$])\$)(?:[^0-9]|$)`)},
	{"mark", "", '=', regexp.MustCompile(`^(==([^=\s]|[^=\s][^=\n]*[^=\s])==)`)},
}

func (x inline) Trigger() []byte { return []byte{x.trigger} }

func (x inline) Parse(_ ast.Node, block text.Reader, _ parser.Context) ast.Node {
	line, at := block.PeekLine()
	found := x.form.FindSubmatchIndex(line[:min(len(line), maxInline)])
	if found == nil {
		return nil
	}
	n := &linkNode{tag: x.tag, target: x.attr, shown: text.NewSegment(at.Start+found[4], at.Start+found[5])}
	if len(found) > 6 {
		if found[3]-found[2] == len("[[]]") {
			return nil
		}
		n.target = string(bytes.TrimSuffix(line[found[4]:found[5]], []byte(`\`))) // in a table, the bar is escaped
		if found[6] < found[7] {
			n.shown = text.NewSegment(at.Start+found[6], at.Start+found[7])
		}
	}
	n.SetPos(at.Start)
	block.Advance(found[3])
	return n
}
