package outline

import (
	"bytes"
	"strings"
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
	for _, have := range s.o.Tags {
		if strings.EqualFold(have, tag) {
			return
		}
	}
	s.o.Tags = append(s.o.Tags, strings.Clone(tag))
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
	prose := string(lines.Value(s.src))
	for i := 0; i < len(prose); {
		n := strings.IndexAny(prose[i:], "#`[\\<")
		if n < 0 {
			return
		}
		i += n
		switch {
		case prose[i] == '#':
			i = s.tag(prose, i)
		case prose[i] == '\\':
			i += 2
		default:
			i = skip(prose, i)
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

// skip is the offset behind the code span, wikilink or comment that begins at i,
// or behind its first character if none does.
func skip(prose string, i int) int {
	rest := prose[i:]
	switch {
	case rest[0] == '`':
		ticks := len(rest) - len(strings.TrimLeft(rest, "`"))
		for at := ticks; ; {
			n := strings.IndexByte(rest[at:], '`')
			if n < 0 {
				return i + ticks
			}
			at += n
			run := len(rest[at:]) - len(strings.TrimLeft(rest[at:], "`"))
			if at += run; run == ticks {
				return i + at
			}
		}
	case strings.HasPrefix(rest, "[["):
		line, _, _ := strings.Cut(rest, "\n")
		if n := strings.Index(line, "]]"); n >= 0 {
			return i + n + 2
		}
	case strings.HasPrefix(rest, "<!--"):
		if n := strings.Index(rest, "-->"); n >= 0 {
			return i + n + 3
		}
	}
	return i + 1
}
