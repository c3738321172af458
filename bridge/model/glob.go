package model

import "strings"

// globMeta has the characters with a special meaning in glob patterns, except '*' and '?', which Obsidian does not
// allow in names.
const globMeta = `[{\`

// LiteralGlob returns pattern with its longest existing leading path escaped. So "[draft] plan.md" and "[draft]/**"
// match the note and the folder of that name if they exist. LiteralGlob calls exists only for paths with '[', '{' or
// '\'.
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
