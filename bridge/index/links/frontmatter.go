package links

import (
	"strings"

	"github.com/relayfs/relayfs/bridge/frontmatter"
)

func (s *scanner) frontMatter() (body int) {
	yaml, body, has := frontmatter.Split(s.text)
	if has {
		from := s.lineEnd(0)
		s.yaml(from, from+len(yaml))
	}
	return body
}

// yaml adds the links in the quoted strings of text[from:to]. An unquoted "[[N]]" is a list in a list and not a link. A
// quote opens a string only where a value may begin, because an apostrophe inside a plain value is an ordinary
// character.
func (s *scanner) yaml(from, to int) {
	begins := true // a value may begin here
	for i := from; i < to; i++ {
		switch c := s.text[i]; c {
		case '"', '\'':
			if begins {
				i = s.quoted(i, to)
			}
			begins = false
		case '#':
			if i == from || strings.IndexByte(" \t\n", s.text[i-1]) >= 0 {
				i = s.lineEnd(i) - 1
				begins = true
			}
		case '\n', '[', '{', ',':
			begins = true
		case ' ', '\t':
			if i > from && strings.IndexByte(":-?", s.text[i-1]) >= 0 {
				begins = true
			}
		default:
			begins = false
		}
	}
}

// quoted scans the YAML string that opens at i and returns the offset of its closing quote. If there is none, it
// returns to.
func (s *scanner) quoted(i, to int) int {
	end, ok := frontmatter.Quoted(s.text[:to], i)
	if !ok {
		return to
	}
	s.inline(i+1, end-1)
	return end - 1
}
