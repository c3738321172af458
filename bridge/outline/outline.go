// Package outline says what a note's text holds besides prose: its properties,
// tags, headings, code blocks and wikilinks, and how long it is.
//
//	o := outline.Of("---\ntags: [work/urgent]\n---\n# Plan\nSee [[Other]] #Later\n")
//	o.Tags      // [work/urgent Later]
//	o.Headings  // [{1 Plan 4}]
//	o.Words     // 3
//
// Block structure is CommonMark's, read by goldmark without its inline parsers;
// tags are Obsidian's, which no Markdown parser knows. Words and characters are
// those of the body.
//
// An Outline shares no memory with the text it was made of, so that an index of
// many notes keeps none of their texts. Of is a pure function and never fails:
// front matter that is no YAML mapping gives no properties, and Invalid says why.
package outline

import (
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"

	"github.com/relayfs/relayfs/bridge/frontmatter"
	"github.com/relayfs/relayfs/bridge/links"
)

// Outline is what a note holds.
type Outline struct {
	// Properties are those of the front matter; nil if there is none or it is
	// Invalid.
	Properties frontmatter.Properties
	Invalid    error
	// TooDeep is a [*DepthError] if lists and quotes are nested too deeply to be told
	// apart, else nil.
	TooDeep error
	// Tags are written in the properties, then in the text, without '#', each once
	// whatever its case.
	Tags       []string
	Headings   []Heading
	CodeBlocks int // fenced and indented
	Wikilinks  int // [[links]] and ![[embeds]]
	Words      int
	Chars      int // Unicode characters, line breaks included
}

// Heading is one heading. Line is that of the note, counted from 1.
type Heading struct {
	Level int
	Text  string
	Line  int
}

// Of reads a note's text.
func Of(note string) Outline {
	_, body, _ := frontmatter.Split(note)
	var o Outline
	o.Properties, o.Invalid = frontmatter.Parse(note)
	o.Words, o.Chars = Count(note[body:])
	for _, l := range links.Extract(note) {
		if l.Kind == links.Wikilink || l.Kind == links.Embed {
			o.Wikilinks++
		}
	}
	s := scanner{o: &o, src: []byte(note[body:]), line: 1 + strings.Count(note[:body], "\n"), seen: make(map[string]bool)}
	if line := flatten(s.src); line > 0 {
		o.TooDeep = &DepthError{s.line + line - 1}
	}
	s.addAll(propertyTags(o.Properties))
	s.blocks()
	return o
}

// scanner walks over the blocks of a body.
type scanner struct {
	o    *Outline
	src  []byte
	at   int // offset in src of the line with the number
	line int
	seen map[string]bool // the folded tags of o
}

func (s *scanner) blocks() {
	// A parser keeps nothing of a text, but neither says that it may be shared.
	p := parser.NewParser(parser.WithBlockParsers(parser.DefaultBlockParsers()...))
	root := p.Parse(text.NewReader(s.src))
	// The walker reports no error but those of the function it calls.
	_ = ast.Walk(root, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering || n.Type() == ast.TypeInline {
			return ast.WalkSkipChildren, nil
		}
		s.block(n)
		return ast.WalkContinue, nil
	})
}

func (s *scanner) block(n ast.Node) {
	switch n := n.(type) {
	case *ast.FencedCodeBlock, *ast.CodeBlock:
		s.o.CodeBlocks++
	case *ast.Heading:
		s.heading(n)
		s.tags(n.Lines())
	case *ast.Paragraph, *ast.TextBlock:
		s.tags(n.Lines())
	}
}

func (s *scanner) heading(n *ast.Heading) {
	h := Heading{Level: n.Level}
	if n.Lines().Len() > 0 {
		h.Text = strings.TrimSpace(string(n.Lines().Value(s.src)))
		h.Line = s.lineAt(n.Lines().At(0).Start)
	}
	s.o.Headings = append(s.o.Headings, h)
}

// lineAt is the number of the line with the offset off, which grows from call to
// call.
func (s *scanner) lineAt(off int) int {
	for ; s.at < off; s.at++ {
		if s.src[s.at] == '\n' {
			s.line++
		}
	}
	return s.line
}
