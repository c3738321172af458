package noteindex

import (
	"hash/maphash"
	"slices"
	"strings"

	"github.com/relayfs/relayfs/bridge/frontmatter"
	"github.com/relayfs/relayfs/bridge/outline"
)

// With finds the notes that have every wanted property: the candidates of the
// property that fewest notes have are looked at one by one.
func (x *NoteIndex) With(want frontmatter.Properties) []*NoteInfo {
	if len(want) == 0 {
		return x.Below("")
	}
	x.mu.RLock()
	defer x.mu.RUnlock()
	var found []*NoteInfo
	for _, info := range x.candidates(want) {
		if info.Has(want) {
			found = append(found, info)
		}
	}
	return found
}

// candidates are the notes that may have all of want, sorted by path. mu is held.
func (x *NoteIndex) candidates(want frontmatter.Properties) []*NoteInfo {
	var fewest [][]*NoteInfo
	least := -1
	for _, e := range want {
		var lists [][]*NoteInfo
		n := 0
		for _, v := range alternatives(e) {
			list := x.terms[x.term(e.Key, v)]
			lists, n = append(lists, list), n+len(list)
		}
		if least < 0 || n < least {
			fewest, least = lists, n
		}
	}
	if len(fewest) == 1 {
		return fewest[0]
	}
	all := slices.Concat(fewest...)
	slices.SortFunc(all, byPath)
	return slices.Compact(all)
}

// alternatives are the values of which a wanted property may have any.
func alternatives(e frontmatter.Property) []any {
	if list, ok := e.Value.([]any); ok {
		return list
	}
	return []any{e.Value}
}

// Has says that the note has every one of the properties; see
// [Workspace.NotesWith].
func (n *NoteInfo) Has(want frontmatter.Properties) bool {
	for _, e := range want {
		if !slices.ContainsFunc(alternatives(e), func(v any) bool { return n.has(e.Key, v) }) {
			return false
		}
	}
	return true
}

func (n *NoteInfo) has(key string, want any) bool {
	if outline.IsTagKey(key) {
		return n.HasTag(frontmatter.Text(want))
	}
	text := frontmatter.Text(want)
	for _, e := range n.Properties {
		if strings.EqualFold(e.Key, key) && slices.ContainsFunc(valuesOf(e.Value), func(v any) bool { return strings.EqualFold(frontmatter.Text(v), text) }) {
			return true
		}
	}
	return false
}

// valuesOf are the values by which a property is found: the items of a list, or
// the one that it has. An empty list is like no value.
func valuesOf(v any) []any {
	if list, ok := v.([]any); ok && len(list) > 0 {
		return list
	} else if ok {
		return []any{nil}
	}
	return []any{v}
}

// termsOf are the hashes under which a note is found, each once.
func (x *NoteIndex) termsOf(o *outline.Outline) []uint64 {
	var terms []uint64
	for _, e := range o.Properties {
		if outline.IsTagKey(e.Key) {
			continue
		}
		for _, v := range valuesOf(e.Value) {
			terms = append(terms, x.term(e.Key, v))
		}
	}
	for _, tag := range o.Tags {
		h := x.hash("tags")
		for i, part := range strings.SplitAfter(strings.ToLower(tag), "/") {
			if i > 0 {
				terms = append(terms, h.Sum64())
				h.WriteByte('/')
			}
			h.WriteString(strings.TrimSuffix(part, "/"))
		}
		terms = append(terms, h.Sum64())
	}
	slices.Sort(terms)
	return slices.Compact(terms)
}

// term is the hash of a folded key and value.
func (x *NoteIndex) term(key string, v any) uint64 {
	key, text := strings.ToLower(key), strings.ToLower(frontmatter.Text(v))
	if outline.IsTagKey(key) {
		key, text = "tags", strings.Trim(strings.TrimPrefix(text, "#"), "/")
	}
	h := x.hash(key)
	h.WriteString(text)
	return h.Sum64()
}

// hash is the hash of a folded key, for its value to follow.
func (x *NoteIndex) hash(key string) *maphash.Hash {
	h := new(maphash.Hash)
	h.SetSeed(x.seed)
	h.WriteString(key)
	h.WriteByte(0)
	return h
}
