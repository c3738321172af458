package links

import (
	"cmp"
	"slices"
	"strings"

	"github.com/relayfs/relayfs/diffwrap/block"
)

// Extract returns the links of a note's text in order. It skips:
//   - fenced, indented and inline code
//   - HTML comments
//   - text in front matter outside quoted strings
//   - Markdown links whose target is a URL or has an unescaped space
//
// It includes links in Obsidian's own comments (%%...%%) and in math. A reference definition counts as a link; its
// references do not. The result shares the memory of text.
func Extract(text string) []Link {
	if !strings.Contains(text, "[[") && !strings.Contains(text, "](") && !strings.Contains(text, "]:") {
		return nil
	}
	s := scanner{text: text, links: make([]Link, 0, min(strings.Count(text, "["), 100))}
	body := s.frontMatter()
	for b := range block.Leaves(text[body:]) {
		s.block(b.Kind, body+b.Start, body+b.End)
	}
	// The scan finds an image before the link that encloses it.
	slices.SortStableFunc(s.links, func(a, b Link) int { return cmp.Compare(a.Off, b.Off) })
	return s.links
}

type scanner struct {
	text  string
	links []Link

	brackets []bracket // each '[' of the inline text that has no ']' yet
}

// block adds the links of a block at text[off:end]. One inline construct may span the lines of a paragraph or heading,
// but no other lines.
func (s *scanner) block(kind block.Kind, off, end int) {
	switch kind {
	case block.Code:
	case block.HTML:
		if strings.HasPrefix(strings.TrimLeft(s.text[off:end], " "), "<!--") {
			_, after, _ := strings.Cut(s.text[off:end], "-->")
			off = end - len(after)
		}
		s.inline(off, end)
	case block.Paragraph, block.Heading, block.Definition:
		for ok := true; ok && off < end; {
			for off < end && strings.IndexByte(" \t>", s.text[off]) >= 0 { // also markers of the quotes around the block
				off++
			}
			off, ok = s.definition(off, end)
		}
		s.inline(off, end)
	default:
		for ; off < end; off = s.lineEnd(off) {
			s.inline(off, min(end, s.lineEnd(off)))
		}
	}
}

func (s *scanner) lineEnd(off int) int {
	if i := strings.IndexByte(s.text[off:], '\n'); i >= 0 {
		return off + i + 1
	}
	return len(s.text)
}
