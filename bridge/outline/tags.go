package outline

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/yuin/goldmark/text"

	"github.com/relayfs/relayfs/bridge/frontmatter"
)

// propertyTags are the tags in front matter: "tags" or "tag", a list or a string
// with commas or spaces between them.
func propertyTags(p frontmatter.Properties) []string {
	var tags []string
	for _, e := range p {
		if !IsTagKey(e.Key) {
			continue
		}
		switch v := e.Value.(type) {
		case []any:
			for _, item := range v {
				tags = append(tags, frontmatter.Text(item))
			}
		case string:
			tags = append(tags, strings.FieldsFunc(v, func(r rune) bool { return r == ',' || r == ' ' })...)
		default:
			tags = append(tags, frontmatter.Text(v))
		}
	}
	return tags
}

// IsTagKey says that the property key holds tags.
func IsTagKey(key string) bool {
	return strings.EqualFold(key, "tags") || strings.EqualFold(key, "tag")
}

// HasTag says that the note has the tag or one nested in it: work/urgent is
// work, too. Case does not matter, nor does a leading '#'.
func (o *Outline) HasTag(tag string) bool {
	tag = strings.Trim(strings.TrimPrefix(tag, "#"), "/")
	for _, t := range o.Tags {
		if len(t) >= len(tag) && strings.EqualFold(t[:len(tag)], tag) && (len(t) == len(tag) || t[len(tag)] == '/') {
			return tag != ""
		}
	}
	return false
}

func (s *scanner) addAll(tags []string) {
	for _, t := range tags {
		s.add(t)
	}
}

// add adds a tag unless it is none, or there already.
func (s *scanner) add(tag string) {
	tag = strings.Trim(strings.TrimPrefix(strings.TrimSpace(tag), "#"), "/")
	if tag == "" || tagLength(tag) < len(tag) || strings.Trim(tag, "0123456789") == "" {
		return
	}
	key := fold(tag)
	if s.seen[key] {
		return
	}
	s.seen[key] = true
	s.o.Tags = append(s.o.Tags, strings.Clone(tag))
}

// fold is the same for texts that are equal by [strings.EqualFold].
func fold(s string) string {
	return strings.Map(func(r rune) rune {
		least := r
		for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
			least = min(least, next)
		}
		return least
	}, s)
}

// notInTags are the characters that end a tag, besides white space and the
// punctuation blocks of Unicode: what Obsidian allows is everything else.
const notInTags = "'!\"#$%&()*+,.:;<=>?@^`{|}~[]\\"

// tagLength is how many bytes of s may belong to a tag.
func tagLength(s string) int {
	for i, r := range s {
		switch {
		case r <= ' ', r == 0x85, r == 0xa0, r == 0x3000, r == 0xfeff:
			return i
		case 0x2000 <= r && r <= 0x206f && r != 0x200d, 0x2e00 <= r && r <= 0x2e7f:
			return i
		case r < utf8.RuneSelf && strings.IndexByte(notInTags, byte(r)) >= 0:
			return i
		}
	}
	return len(s)
}

// tags finds the tags in the lines of one block of prose: not in code spans,
// links or comments.
func (s *scanner) tags(lines *text.Segments) {
	if lines.Len() == 0 {
		return
	}
	from, to := lines.At(0).Start, lines.At(lines.Len()-1).Stop
	if bytes.IndexByte(s.src[from:to], '#') < 0 {
		return
	}
	p := prose{text: string(lines.Value(s.src))}
	for i := 0; i < len(p.text); {
		n := strings.IndexAny(p.text[i:], "#`[\\<")
		if n < 0 {
			return
		}
		i += n
		switch {
		case p.text[i] == '#':
			i = s.tag(p.text, i)
		case p.text[i] == '\\':
			i += 2
		default:
			i = p.skip(i)
		}
	}
}

// tag takes the tag at i, if one begins there, and returns the offset behind it.
func (s *scanner) tag(prose string, i int) int {
	n := tagLength(prose[i+1:])
	if n > 0 && (i == 0 || strings.IndexByte(" \t\r\n|", prose[i-1]) >= 0) {
		s.add(prose[i+1 : i+1+n])
	}
	return i + 1 + n
}

// prose is the text of one block. What was searched for in vain is remembered, so
// that no text is searched through again and again.
type prose struct {
	text      string
	noTicks   map[int]bool // lengths of runs of backticks with no equal one ahead
	noComment bool         // no "-->" ahead
	noLink    int          // no "]]" before this offset
	lineTo    int          // where the line ends in which a link was looked for
}

// skip is the offset behind the code span, wikilink or comment that begins at i,
// or behind its first character if none does.
func (p *prose) skip(i int) int {
	rest := p.text[i:]
	switch {
	case rest[0] == '`':
		return p.codeSpan(i)
	case strings.HasPrefix(rest, "[[") && i >= p.noLink:
		if i >= p.lineTo {
			line, _, _ := strings.Cut(rest, "\n")
			p.lineTo = i + len(line)
		}
		if n := strings.Index(p.text[i:p.lineTo], "]]"); n >= 0 {
			return i + n + 2
		}
		p.noLink = p.lineTo
	case strings.HasPrefix(rest, "<!--") && !p.noComment:
		if n := strings.Index(rest, "-->"); n >= 0 {
			return i + n + 3
		}
		p.noComment = true
	}
	return i + 1
}

// codeSpan is skip for the backticks at i: behind them, if no span begins there.
func (p *prose) codeSpan(i int) int {
	ticks := ticksAt(p.text, i)
	after := i + ticks
	for at := after; !p.noTicks[ticks]; {
		n := strings.IndexByte(p.text[at:], '`')
		if n < 0 {
			if p.noTicks == nil {
				p.noTicks = make(map[int]bool)
			}
			p.noTicks[ticks] = true
			break
		}
		run := ticksAt(p.text, at+n)
		if at += n + run; run == ticks {
			return at
		}
	}
	return after
}

// ticksAt is the length of the run of backticks at i.
func ticksAt(text string, i int) int {
	return len(text[i:]) - len(strings.TrimLeft(text[i:], "`"))
}
