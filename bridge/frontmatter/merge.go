package frontmatter

import (
	"errors"
	"maps"
	"reflect"
	"strings"

	"github.com/relayfs/relayfs/diffwrap"
)

// ErrChanged is the error for a change of front matter that cannot be merged with another writer's.
var ErrChanged = errors.New("the front matter has changed since it was read; read the note again, and repeat the change")

// CheckMerge returns ErrChanged if merged does not have the front matter of both writers: one has changed base to
// current, the other has changed it to text. Where one of these has no front matter, the texts cannot be merged: the
// properties of one writer would become a part of the body.
func CheckMerge(base, current, text, merged string) error {
	blockOf := func(text string) string {
		end, _ := diffwrap.FrontMatter(text)
		return strings.TrimPrefix(text[:end], diffwrap.ByteOrderMark)
	}
	b, c, t := blockOf(base), blockOf(current), blockOf(text)
	switch {
	case b == c || b == t:
		return nil
	case b == "" || c == "" || t == "":
		return ErrChanged
	}
	var p [3]Properties
	for i, text := range []string{b, c, t} {
		var err error
		if p[i], err = Parse(text); err != nil {
			return nil // nothing to compare
		}
	}
	if all, err := Parse(merged); err != nil || !isMerge(p[0], p[1], p[2], all) {
		return ErrChanged
	}
	return nil
}

// isMerge reports whether merged is the value that results if two writers change base to a and to b. If both change
// it, it must be a mapping or a list whose properties or items are merged.
func isMerge(base, a, b, merged any) bool {
	switch {
	case Equal(base, a):
		return Equal(b, merged)
	case Equal(base, b), Equal(a, b):
		return Equal(a, merged)
	}
	all := make(map[string]any)
	var parts [4]map[string]any
	for i, v := range []any{base, a, b, merged} {
		if reflect.TypeOf(v) != reflect.TypeOf(base) {
			return false
		}
		switch v := v.(type) {
		case Properties:
			parts[i] = v.ByKey()
		case []any:
			parts[i] = countItems(v)
		default:
			return false
		}
		maps.Copy(all, parts[i])
	}
	for key := range all {
		if !isMerge(parts[0][key], parts[1][key], parts[2][key], parts[3][key]) {
			return false
		}
	}
	return true
}

func countItems(list []any) map[string]any {
	counts := make(map[string]any, len(list))
	for _, item := range list {
		n, _ := counts[Text(item)].(int)
		counts[Text(item)] = n + 1
	}
	return counts
}
