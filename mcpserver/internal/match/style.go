package match

import (
	"strings"
	"unicode"

	"github.com/relayfs/relayfs/diffwrap"
	"github.com/relayfs/relayfs/mcpserver/internal/passage"
)

// InStyleOf gives content the line breaks and the byte order mark of base, which a model is not
// shown.
func InStyleOf(base, content string) string {
	content = inBreaksOf(base, content, firstBreak(base) == "\r\n")
	if strings.HasPrefix(base, passage.BOM) && !strings.HasPrefix(content, passage.BOM) {
		content = passage.BOM + content
	}
	return content
}

// firstBreak returns the first line break of s, "" if it has none.
func firstBreak(s string) string {
	i := strings.IndexByte(s, '\n')
	switch {
	case i < 0:
		return ""
	case i > 0 && s[i-1] == '\r':
		return "\r\n"
	}
	return "\n"
}

// inBreaksOf returns s with the line breaks of base. New line breaks are CRLF if crlf is set. If
// s has a CRLF itself, it is returned unchanged.
func inBreaksOf(base, s string, crlf bool) string {
	if strings.Contains(s, "\r\n") {
		return s
	}
	in := func(s string) string {
		if crlf {
			return strings.ReplaceAll(s, "\n", "\r\n")
		}
		return s
	}
	switch n := strings.Count(base, "\r\n"); {
	case crlf && n == strings.Count(base, "\n"), n == 0 && !crlf:
		return in(s)
	}
	plain, offs := plainForm(base, false)
	edits := diffwrap.Diff(plain, s)
	for i, e := range edits {
		for e.Len > 0 && e.New != "" && plain[e.Off] == e.New[0] {
			e = diffwrap.Edit{Off: e.Off + 1, Len: e.Len - 1, New: e.New[1:]}
		}
		end := offs[e.Off+e.Len]
		edits[i] = diffwrap.Edit{Off: offs[e.Off], Len: end - offs[e.Off], New: in(e.New)}
	}
	return diffwrap.Apply(base, edits)
}

// curl makes the straight quotes of s curly: opening after white space, an opening bracket or a
// dash and at the beginning, closing elsewhere.
func curl(s string, single, double bool) string {
	var b strings.Builder
	before := ' '
	for _, r := range s {
		opening := unicode.IsSpace(before) || strings.ContainsRune("([{—–‘“", before)
		switch before = r; {
		case r == '\'' && single && opening:
			r = '‘'
		case r == '\'' && single:
			r = '’'
		case r == '"' && double && opening:
			r = '“'
		case r == '"' && double:
			r = '”'
		}
		if opening && strings.ContainsRune(`'"`, before) {
			before = '“'
		}
		b.WriteRune(r)
	}
	return b.String()
}

// fit gives s the line breaks of doc and, if found has other quotes than old, the quotes of
// found.
func fit(s, doc, old, found string) string {
	s = inBreaksOf(found, s, firstBreak(doc) == "\r\n")
	if found == old {
		return s
	}
	return curl(s, strings.ContainsAny(found, "‘’"), strings.ContainsAny(found, "“”"))
}
