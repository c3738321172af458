package model

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// Glob is a pattern as in ripgrep. It has a list of patterns without {a,b}, because the time of doublestar for one path
// can grow exponentially with the number of braces, and an agent may send any pattern.
type Glob []string

const (
	maxGlob     = 4096 // maximum length of a pattern in bytes, which is that of a path
	maxPatterns = 2000 // maximum number of patterns that expanding the braces yields, intermediate ones included
)

func ParseGlob(pattern string) (g Glob, err error) {
	switch {
	case len(pattern) > maxGlob:
		return nil, fmt.Errorf("use at most %d bytes", maxGlob)
	case !doublestar.ValidatePattern(pattern):
		return nil, errors.New("check that every [ and { is closed")
	}
	open := []string{pattern}
	for n := 0; len(open) > 0; n++ {
		if n+len(open) > maxPatterns {
			return nil, errors.New("use fewer alternatives in braces")
		}
		next := open[len(open)-1]
		open = open[:len(open)-1]
		if alternatives := expandBraces(next); alternatives != nil {
			open = append(open, alternatives...)
		} else {
			g = append(g, next)
		}
	}
	return g, nil
}

func (g Glob) Matches(path string) bool {
	return slices.ContainsFunc(g, func(pattern string) bool { return doublestar.MatchUnvalidated(pattern, path) })
}

// expandBraces returns a valid pattern with each alternative of its first braces, or nil if it has no braces.
func expandBraces(pattern string) (list []string) {
	var depth, open, begin int
	for i := 0; i < len(pattern); i++ {
		switch pattern[i] {
		case '\\':
			i++
		case '[':
			for i++; pattern[i] != ']'; i++ {
				if pattern[i] == '\\' {
					i++
				}
			}
		case '{':
			if depth++; depth == 1 {
				open, begin = i, i+1
			}
		case ',':
			if depth == 1 {
				list = append(list, pattern[begin:i])
				begin = i + 1
			}
		case '}':
			if depth--; depth > 0 {
				continue
			}
			list = append(list, pattern[begin:i])
			for n, alternative := range list {
				list[n] = pattern[:open] + alternative + pattern[i+1:]
			}
			return list
		}
	}
	return nil
}

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
