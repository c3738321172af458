package span

import "strings"

// Finder searches for patterns at ascending offsets and caches the results. So a text full of openers without closers
// costs one search per pattern instead of one per opener. It takes at most eight patterns.
type Finder struct {
	Text  string
	found [8]struct {
		pattern string
		at      int
	}
}

// Next returns the offset of the first occurrence of pattern at or after the given offset, or -1. In calls for the same
// pattern, that offset must not decrease.
func (f *Finder) Next(pattern string, from int) int {
	slot := 0
	for f.found[slot].pattern != pattern && f.found[slot].pattern != "" {
		slot++
	}
	known := &f.found[slot]
	if known.pattern != "" && (known.at < 0 || known.at >= from) {
		return known.at
	}
	known.pattern, known.at = pattern, -1
	if at := strings.Index(f.Text[from:], pattern); at >= 0 {
		known.at = from + at
	}
	return known.at
}
