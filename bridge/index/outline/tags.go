package outline

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
	"unique"

	"github.com/relayfs/relayfs/bridge/frontmatter"
	"github.com/relayfs/relayfs/bridge/index/links"
	"github.com/relayfs/relayfs/diffwrap"
	"github.com/relayfs/relayfs/diffwrap/block"
)

func propertyTags(p frontmatter.Properties) []string {
	var tags []string
	for _, e := range p {
		if IsTagKey(e.Key) {
			for _, item := range tagItems(e.Value) {
				tags = append(tags, frontmatter.Text(item))
			}
		}
	}
	return tags
}

// tagItems returns the tags in a value of the property "tags" or "tag": a list, or a string separated by commas or
// spaces.
func tagItems(value any) []any {
	switch v := value.(type) {
	case nil:
		return nil
	case []any:
		return v
	case string:
		var items []any
		for item := range strings.FieldsFuncSeq(v, func(r rune) bool { return r == ',' || r == ' ' }) {
			items = append(items, item)
		}
		return items
	}
	return []any{value}
}

func IsTagKey(key string) bool {
	return strings.EqualFold(key, "tags") || strings.EqualFold(key, "tag")
}

// HasTag reports whether the note has the tag or a tag nested in it: work/urgent counts as work. It ignores case and a
// leading '#'.
func (o *Outline) HasTag(tag string) bool {
	tag = strings.Trim(strings.TrimPrefix(tag, "#"), "/")
	for _, t := range o.Tags {
		if len(t) >= len(tag) && strings.EqualFold(t[:len(tag)], tag) && (len(t) == len(tag) || t[len(tag)] == '/') {
			return tag != ""
		}
	}
	return false
}

func (s *scanner) add(tag string) {
	tag = strings.Trim(strings.TrimPrefix(strings.TrimSpace(tag), "#"), "/")
	if tag == "" || tagLength(tag) < len(tag) || strings.Trim(tag, "0123456789") == "" {
		return
	}
	key := Fold(tag)
	if s.seen[key] {
		return
	}
	s.seen[key] = true
	s.o.Tags = append(s.o.Tags, unique.Make(tag).Value())
}

// Fold returns the same text for all texts that [strings.EqualFold] considers equal.
func Fold(s string) string {
	return strings.Map(func(r rune) rune {
		least := r
		for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
			least = min(least, next)
		}
		return least
	}, s)
}

// notInTags lists the ASCII characters that end a tag. White space and the characters of Unicode's punctuation blocks
// also end it.
const notInTags = "'!\"#$%&()*+,.:;<=>?@^`{|}~[]\\"

// tagLength returns the number of leading bytes of s that can belong to a tag.
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

// tags adds the tags in one block of prose, except those in code spans, links or comments.
func (s *scanner) tags(at diffwrap.Span) {
	if !strings.Contains(at.Of(s.text), "#") {
		return
	}
	p := links.Opaque{Text: s.text[:at.End]}
	for i := at.Start; i < at.End; {
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

func (s *scanner) tag(prose string, i int) int {
	n := tagLength(prose[i+1:])
	unquoted := strings.TrimRight(prose[:i], " \t>")
	if n > 0 && (unquoted == "" || unquoted[len(unquoted)-1] == '\n' || strings.IndexByte(" \t\r|", prose[i-1]) >= 0) {
		tag := prose[i+1 : i+1+n]
		s.add(tag)
		if s.each != nil {
			s.each(i, tag)
		}
	}
	return i + 1 + n
}

// TagPlace is a tag in the text of a note. From is the offset of its '#'.
type TagPlace struct {
	From int
	Tag  string // the tag as written, without '#'
}

func TagPlaces(note string) (places []TagPlace) {
	_, body, _ := frontmatter.Split(note)
	s := scanner{o: new(Outline), text: note[body:], seen: make(map[string]bool)}
	s.each = func(off int, tag string) { places = append(places, TagPlace{body + off, tag}) }
	s.blocks(slices.Collect(block.Leaves(s.text)))
	return places
}

// CheckTag returns a tag without its '#'. ok is false if Obsidian does not accept the tag.
func CheckTag(tag string) (bare string, ok bool) {
	bare = strings.TrimPrefix(strings.TrimSpace(tag), "#")
	ok = bare != "" && tagLength(bare) == len(bare) && strings.Trim(bare, "0123456789") != "" && strings.Trim(bare, "/") == bare
	return bare, ok
}

// Renamed returns the name of a tag after a rename, which also renames the nested tags. ok is false if the rename does
// not change the tag.
func Renamed(tag, from, to string) (renamed string, ok bool) {
	rest, ok := cutFold(tag, from)
	if !ok || rest != "" && rest[0] != '/' {
		return "", false
	}
	return to + rest, true
}

func cutFold(s, prefix string) (rest string, ok bool) {
	for i := range s + " " {
		if strings.EqualFold(s[:i], prefix) {
			return s[i:], true
		}
		if i > 4*len(prefix) {
			break
		}
	}
	return "", false
}

func SameTag(a, b string) bool { return Fold(a) == Fold(b) }

// RetagProperties replaces the tags in properties with the tags that fn returns. If fn returns false, the tag stays. If
// fn returns "", the tag is removed. RetagProperties removes duplicates that result. changed is the number of changed
// tags.
func RetagProperties(p frontmatter.Properties, fn func(tag string) (to string, ok bool)) (out frontmatter.Properties, changed int) {
	seen, made := make(map[string]bool), make(map[string]bool)
	keep := func(written string) (string, bool) {
		bare := strings.Trim(strings.TrimPrefix(strings.TrimSpace(written), "#"), "/")
		to, ok := fn(bare)
		if ok {
			changed++
			written = strings.Replace(written, bare, to, 1)
			bare = to
		}
		key := Fold(bare)
		if ok && to == "" || seen[key] && (ok || made[key]) {
			return "", false
		}
		seen[key] = true
		made[key] = made[key] || ok
		return written, true
	}
	out = slices.Clone(p)
	for i, e := range out {
		if !IsTagKey(e.Key) {
			continue
		}
		list, before := []any{}, changed
		for _, item := range tagItems(e.Value) {
			written := frontmatter.Text(item)
			if now, ok := keep(written); ok && now == written {
				list = append(list, item)
			} else if ok {
				list = append(list, now)
			}
		}
		_, isList := e.Value.([]any)
		switch {
		case !isList && changed == before:
		case !isList && len(list) == 1:
			out[i].Value = list[0]
		default:
			out[i].Value = list
		}
	}
	return out, changed
}

// WithTag adds a tag to the tags in properties.
func WithTag(p frontmatter.Properties, tag string) frontmatter.Properties {
	for _, e := range p {
		if IsTagKey(e.Key) {
			return p.With(e.Key, append(slices.Clone(tagItems(e.Value)), any(tag)))
		}
	}
	return p.With("tags", []any{tag})
}
