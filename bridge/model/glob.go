package model

import "strings"

// globMeta are the characters of names that glob patterns read as something else. '*' and '?' are none of them: Obsidian
// allows neither in a name.
const globMeta = `[{\`

// LiteralGlob returns a glob pattern that takes the longest leading path of pattern that exists as it is written: "[draft]
// plan.md" and "[draft]/**" mean the note and the folder of that name, if they exist. exists is only asked about paths
// with '[', '{' or '\'.
func LiteralGlob(pattern string, exists func(path string) bool) string {
	for end := len(pattern); end > 0; end = strings.LastIndexByte(pattern[:end], '/') {
		prefix := pattern[:end]
		if !strings.ContainsAny(prefix, globMeta) {
			break
		}
		if exists(prefix) {
			return escapeGlob(prefix) + pattern[end:]
		}
	}
	return pattern
}

// escapeGlob returns the pattern that matches s alone.
func escapeGlob(s string) string {
	var b strings.Builder
	for i := range len(s) {
		if strings.IndexByte(`[]{}\*?!`, s[i]) >= 0 {
			b.WriteByte('\\')
		}
		b.WriteByte(s[i])
	}
	return b.String()
}
