package model

import "strings"

// globMeta are the characters that glob patterns interpret. Obsidian allows '*' and '?' in no name.
const globMeta = `[{\`

// LiteralGlob returns pattern with its longest existing leading path escaped: "[draft] plan.md" and "[draft]/**" match the note
// and the folder of that name, if they exist. exists is only called for paths with '[', '{' or '\'.
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
