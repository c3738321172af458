package outline

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/yuin/goldmark/text"

	"github.com/relayfs/relayfs/bridge/frontmatter"
	"github.com/relayfs/relayfs/bridge/index/links"
)

// propertyTags returns the tags in front matter: "tags" or "tag", a list or a string
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

// IsTagKey reports whether the property key holds tags.
func IsTagKey(key string) bool {
	return strings.EqualFold(key, "tags") || strings.EqualFold(key, "tag")
}

// HasTag reports whether the note has the tag or one nested in it: work/urgent counts
// as work. Case and a leading '#' do not matter.
func (o *Outline) HasTag(tag string) bool {
	tag = strings.Trim(strings.TrimPrefix(tag, "#"), "/")
	for _, t := range o.Tags {
		if len(t) >= len(tag) && strings.EqualFold(t[:len(tag)], tag) && (len(t) == len(tag) || t[len(tag)] == '/') {
			return tag != ""
		}
	}
	return false
}

// add adds a tag if it is a valid and new one.
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

// fold returns the same text for all texts that are equal by [strings.EqualFold].
func fold(s string) string {
	return strings.Map(func(r rune) rune {
		least := r
		for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
			least = min(least, next)
		}
		return least
	}, s)
}

// notInTags are the ASCII characters that end a tag. White space and the punctuation
// blocks of Unicode do, too; Obsidian allows everything else.
const notInTags = "'!\"#$%&()*+,.:;<=>?@^`{|}~[]\\"

// tagLength returns how many bytes of s can belong to a tag.
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

// tags adds the tags in the lines of one block of prose, but not those in code spans,
// links or comments.
func (s *scanner) tags(lines *text.Segments) {
	if lines.Len() == 0 {
		return
	}
	from, to := lines.At(0).Start, lines.At(lines.Len()-1).Stop
	if bytes.IndexByte(s.src[from:to], '#') < 0 {
		return
	}
	p := links.Opaque{Text: string(lines.Value(s.src))}
	for i := 0; i < len(p.Text); {
		n := strings.IndexAny(p.Text[i:], "#`[\\<")
		if n < 0 {
			return
		}
		i += n
		switch p.Text[i] {
		case '#':
			i = s.tag(p.Text, i)
		case '\\':
			i += 2
		case '[':
			if end := p.Wikilink(i); end >= 0 {
				i = end + 1
			}
			i++
		default:
			i = p.Skip(i)
		}
	}
}

// tag adds the tag at i, if one begins there, and returns the offset after it.
func (s *scanner) tag(prose string, i int) int {
	n := tagLength(prose[i+1:])
	if n > 0 && (i == 0 || strings.IndexByte(" \t\r\n|", prose[i-1]) >= 0) {
		s.add(prose[i+1 : i+1+n])
	}
	return i + 1 + n
}
