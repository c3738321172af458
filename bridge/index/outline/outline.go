// Package outline extracts the structure of a note's text: its properties, tags, headings, tasks, code blocks and
// wikilinks, and its length. It also finds a section of a note by heading or block ID, and the place for appended text.
//
// The block structure follows CommonMark (package block). Tags follow Obsidian's rules. Words and characters are counted
// in the body.
//
// An Outline shares no memory with its text. Of is pure and never fails: front matter that is not a YAML mapping yields
// no properties, and Invalid has the reason.
package outline

import (
	"regexp"
	"slices"
	"strings"

	"github.com/relayfs/relayfs/bridge/frontmatter"
	"github.com/relayfs/relayfs/bridge/index/links"
	"github.com/relayfs/relayfs/diffwrap"
	"github.com/relayfs/relayfs/diffwrap/block"
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
	leaves := slices.Collect(block.Leaves(note[body:]))
	s := scanner{o: &o, text: note[body:], comments: commentBlocks(note[body:], leaves), line: 1 + strings.Count(note[:body], "\n"), seen: make(map[string]bool)}
	for _, tag := range propertyTags(o.Properties) {
		s.add(tag)
	}
	s.blocks(leaves)
	return o
}

type scanner struct {
	o    *Outline
	text string
	at   int // offset in text up to which lines were counted
	line int
	seen map[string]bool // the folded tags of o

	comments []diffwrap.Span // multi-line comments in text

	each func(off int, tag string) // called with each tag in text; may be nil
}

func (s *scanner) blocks(leaves []block.Leaf) {
	for _, b := range leaves {
		if b.TooDeep && s.o.TooDeep == nil {
			s.o.TooDeep = &DepthError{s.lineAt(b.Start)}
		}
		switch b.Kind {
		case block.Code:
			s.o.CodeBlocks++
		case block.Heading:
			s.heading(b.Span)
			s.tags(b.Span)
		case block.Paragraph, block.Table:
			if b.Item.End > 0 && b.Kind == block.Paragraph {
				s.task(b.Start)
			}
			s.tags(b.Span)
		}
	}
}

func (s *scanner) heading(at diffwrap.Span) {
	if slices.ContainsFunc(s.comments, func(c diffwrap.Span) bool { return c.Start <= at.Start && at.Start < c.End }) {
		return
	}
	var h Heading
	text := strings.Trim(at.Of(s.text), " \t\r")
	if kind, n := block.Line(text); kind == block.HeadingLine {
		h.Level = len(text) - len(strings.TrimLeft(text, "#"))
		h.Text = strings.TrimSpace(text[n:])
		if open := strings.TrimRight(h.Text, "#"); open == "" || strings.HasSuffix(open, " ") || strings.HasSuffix(open, "\t") {
			h.Text = strings.TrimSpace(open)
		}
	} else { // a heading with an underline may have several lines
		lines := strings.Split(text, "\n")
		for i, line := range lines {
			lines[i] = strings.TrimSpace(strings.TrimLeft(line, " \t>"))
		}
		h.Level = 1 + strings.Count(lines[len(lines)-1][:1], "-")
		h.Text = strings.TrimSpace(strings.Join(lines[:len(lines)-1], " "))
	}
	if h.Text = strings.Clone(h.Text); h.Text != "" {
		h.Line = s.lineAt(at.Start)
	}
	s.o.Headings = append(s.o.Headings, h)
}

var box = regexp.MustCompile(`^\[(.)\](?:\s|$)`)

// task adds the task of the list item whose text begins at from.
func (s *scanner) task(from int) {
	end := from + len(strings.TrimRight(s.text[from:lineEnd(s.text, from)], "\r\n"))
	line := strings.Clone(strings.TrimLeft(s.text[from:end], " \t"))
	m := box.FindStringSubmatch(line)
	if m == nil {
		return
	}
	own := scanner{o: new(Outline), text: s.text, seen: make(map[string]bool)}
	own.tags(diffwrap.Span{Start: from, End: end})
	s.o.Tasks = append(s.o.Tasks, Task{
		Line: s.lineAt(from), Done: m[1] != " ", Box: m[1], Text: strings.TrimSpace(line[len("[")+len(m[1])+len("]"):]), Tags: own.o.Tags,
	})
}

// lineAt returns the line of an offset. Offsets must not decrease between calls.
func (s *scanner) lineAt(off int) int {
	for ; s.at < off; s.at++ {
		if s.text[s.at] == '\n' {
			s.line++
		}
	}
	return s.line
}
