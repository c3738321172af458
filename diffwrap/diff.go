package diffwrap

import "unicode/utf8"

// Diff returns the edits that turn old into new.
func Diff(old, new string) []Edit {
	start := 0
	for start < len(old) && start < len(new) && old[start] == new[start] {
		start++
	}
	for start > 0 && start < len(old) && !utf8.RuneStart(old[start]) {
		start--
	}
	oldEnd, newEnd := len(old), len(new)
	for oldEnd > start && newEnd > start && old[oldEnd-1] == new[newEnd-1] {
		oldEnd, newEnd = oldEnd-1, newEnd-1
	}
	for oldEnd < len(old) && !utf8.RuneStart(old[oldEnd]) {
		oldEnd, newEnd = oldEnd+1, newEnd+1
	}
	return appendEdit(nil, Edit{Off: start, Len: oldEnd - start, New: new[start:newEnd]})
}
