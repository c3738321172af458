package render

import (
	"bytes"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// mathBlock is a formula of several lines, from a line that begins with $$ to a line that ends with $$.
type mathBlock struct{ ast.BaseBlock }

var kindMathBlock = ast.NewNodeKind("MathBlock")

func (n *mathBlock) Kind() ast.NodeKind { return kindMathBlock }

func (n *mathBlock) IsRaw() bool { return true }

func (n *mathBlock) Dump(source []byte, level int) { ast.DumpHelper(n, source, level, nil, nil) }

// mathParser parses the blocks of one text. lastEnd is the offset of the last line that ends with $$.
type mathParser struct{ lastEnd int }

var dollars = []byte("$$")

func endsFormula(line []byte) bool { return bytes.HasSuffix(bytes.TrimRight(line, " \t\r\n"), dollars) }

func newMathParser(src []byte) mathParser {
	p := mathParser{-1}
	off := 0
	for line := range bytes.Lines(src) {
		if endsFormula(line) {
			p.lastEnd = off
		}
		off += len(line)
	}
	return p
}

func (mathParser) Trigger() []byte { return []byte{'$'} }

func (p mathParser) Open(_ ast.Node, reader text.Reader, pc parser.Context) (ast.Node, parser.State) {
	line, at := reader.PeekLine()
	pos := pc.BlockOffset()
	if pos < 0 || !bytes.HasPrefix(line[pos:], dollars) || bytes.Contains(line[pos+len(dollars):], dollars) || at.Stop > p.lastEnd {
		return nil, parser.NoChildren
	}
	n := &mathBlock{}
	start := at.Start - at.Padding + pos
	n.SetPos(start)
	if rest := text.NewSegment(start+len(dollars), at.Stop); !util.IsBlank(rest.Value(reader.Source())) {
		n.Lines().Append(rest)
	}
	return n, parser.NoChildren
}

func (mathParser) Continue(n ast.Node, reader text.Reader, _ parser.Context) parser.State {
	line, at := reader.PeekLine()
	reader.AdvanceToEOL()
	if !endsFormula(line) {
		n.Lines().Append(at)
		return parser.Continue | parser.NoChildren
	}
	if at.Stop = at.Start - at.Padding + bytes.LastIndex(line, dollars); at.Stop > at.Start {
		n.Lines().Append(at)
	}
	return parser.Close
}

func (mathParser) Close(ast.Node, text.Reader, parser.Context) {}

func (mathParser) CanInterruptParagraph() bool { return true }

func (mathParser) CanAcceptIndentedLine() bool { return false }
