// Package outline extracts the structure of a note's text: its properties, tags, headings, tasks, code blocks and
// wikilinks, and its length. It also finds a section of a note by heading or block ID, and the place for appended text.
//
// The block structure follows CommonMark; goldmark parses it without its inline parsers. Tags follow Obsidian's rules.
// Words and characters are counted in the body.
//
// An Outline shares no memory with its text. Of is pure and never fails: front matter that is not a YAML mapping yields
// no properties, and Invalid has the reason.
package outline

import (
	"regexp"
	"slices"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"

	"github.com/relayfs/relayfs/bridge/frontmatter"
	"github.com/relayfs/relayfs/bridge/index/links"
)

type Outline struct {
	// Properties is nil if there is no front matter or it is Invalid.
	Properties frontmatter.Properties
	Invalid    error
	// TooDeep is a [*DepthError] if lists and quotes nest too deeply, or nil.
	TooDeep error
	// Tags lists the tags of the properties and then the tags of the text, without '#'. It has each tag only once, in
	// its first spelling.
	Tags       []string
	Headings   []Heading
	Tasks      []Task
	CodeBlocks int // number of fenced and indented code blocks
	Wikilinks  int // number of [[links]] and ![[embeds]]
	Words      int
	Chars      int // number of Unicode characters, including line breaks
}

// Heading is one heading. Text in a multi-line comment is not a heading. Line is the line of the note, counted from 1;
// it is 0 for a heading without text.
type Heading struct {
	Level int
	Text  string
	Line  int
}

// Task is a list item with a box: "- [ ] text". Line is the line of the note, counted from 1.
type Task struct {
	Line int
	Done bool   // the box is not empty
	Box  string // the character in the box: " ", "x", "-", ...
	Text string // text after the box, up to the end of the line
	Tags []string
}

func (o *Outline) TaskHas(t Task, tag string) bool {
	own := Outline{Tags: t.Tags}
	if own.HasTag(tag) {
		return true
	}
	s := scanner{o: new(Outline), seen: make(map[string]bool)}
	for _, of := range propertyTags(o.Properties) {
		s.add(of)
	}
	return s.o.HasTag(tag)
}

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
	s := scanner{o: &o, src: []byte(note[body:]), comments: commentBlocks(note[body:]), line: 1 + strings.Count(note[:body], "\n"), seen: make(map[string]bool)}
	if line := flatten(s.src); line > 0 {
		o.TooDeep = &DepthError{s.line + line - 1}
	}
	for _, tag := range propertyTags(o.Properties) {
		s.add(tag)
	}
	s.blocks()
	return o
}

type scanner struct {
	o    *Outline
	src  []byte
	at   int // offset in src up to which lines were counted
	line int
	seen map[string]bool // the folded tags of o

	comments []span // multi-line comments in src

	block *text.Segments            // block whose text is searched for tags
	each  func(off int, tag string) // called with each tag in the text of block; may be nil
}

func (s *scanner) blocks() {
	eachBlock(s.src, func(n ast.Node) ast.WalkStatus {
		switch n := n.(type) {
		case *ast.FencedCodeBlock, *ast.CodeBlock:
			s.o.CodeBlocks++
		case *ast.ListItem:
			s.task(n)
		case *ast.Heading:
			s.heading(n)
			s.tags(n.Lines())
		case *ast.Paragraph, *ast.TextBlock:
			s.tags(n.Lines())
		}
		return ast.WalkContinue
	})
}

func eachBlock(src []byte, fn func(ast.Node) ast.WalkStatus) {
	// A new parser each time: goldmark does not document whether a parser is safe for concurrent use.
	root := parser.NewParser(parser.WithBlockParsers(parser.DefaultBlockParsers()...)).Parse(text.NewReader(src))
	// Walk returns only the errors of the function, which returns none.
	_ = ast.Walk(root, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering || n.Type() == ast.TypeInline {
			return ast.WalkSkipChildren, nil
		}
		return fn(n), nil
	})
}

func (s *scanner) heading(n *ast.Heading) {
	h := Heading{Level: n.Level}
	if n.Lines().Len() > 0 {
		at := n.Lines().At(0).Start
		if slices.ContainsFunc(s.comments, func(c span) bool { return c.from <= at && at < c.to }) {
			return
		}
		lines := strings.Split(string(n.Lines().Value(s.src)), "\n") // setext headings may have several lines
		for i, line := range lines {
			lines[i] = strings.TrimSpace(line)
		}
		h.Text = strings.TrimSpace(strings.Join(lines, " "))
		h.Line = s.lineAt(n.Lines().At(0).Start)
	}
	s.o.Headings = append(s.o.Headings, h)
}

var box = regexp.MustCompile(`^\[(.)\](?:\s|$)`)

func (s *scanner) task(n *ast.ListItem) {
	first := n.FirstChild()
	if first == nil || first.Lines() == nil || first.Lines().Len() == 0 || first.Kind() != ast.KindTextBlock && first.Kind() != ast.KindParagraph {
		return
	}
	at := first.Lines().At(0)
	line := string(at.Value(s.src))
	m := box.FindStringSubmatch(line)
	if m == nil {
		return
	}
	own := scanner{o: new(Outline), src: s.src, seen: make(map[string]bool)}
	lines := text.NewSegments()
	lines.Append(at)
	own.tags(lines)
	s.o.Tasks = append(s.o.Tasks, Task{
		Line: s.lineAt(at.Start), Done: m[1] != " ", Box: strings.Clone(m[1]), Text: strings.TrimSpace(line[len("[")+len(m[1])+len("]"):]), Tags: own.o.Tags,
	})
}

// lineAt returns the line of an offset. Offsets must not decrease between calls.
func (s *scanner) lineAt(off int) int {
	for ; s.at < off; s.at++ {
		if s.src[s.at] == '\n' {
			s.line++
		}
	}
	return s.line
}
