package match

import (
	"strings"
	"unicode"

	"github.com/relayfs/relayfs/diffwrap"
	"github.com/relayfs/relayfs/mcpserver/internal/passage"
)

// InStyleOf gives content the line breaks and the byte order mark of base, which
// a model is not shown.
func InStyleOf(base, content string) string {
	content = inBreaksOf(base, content, firstBreak(base) == "\r\n")
	if strings.HasPrefix(base, passage.BOM) && !strings.HasPrefix(content, passage.BOM) {
		content = passage.BOM + content
	}
	return content
}

// firstBreak is the first line break of s, "" if it has none.
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

// inBreaksOf is s with the line breaks that base has: those that stay as they are,
// and new ones as CRLF if crlf is set. An s with CRLF of its own stays.
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
	plain, offs := plainBreaks(base)
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

// plainBreaks is s with LF for CRLF, and where each byte of that is in s.
func plainBreaks(s string) (plain string, offs []int) {
	var b strings.Builder
	for i := range len(s) {
		if strings.HasPrefix(s[i:], "\r\n") {
			continue
		}
		off := i
		if i > 0 && s[i] == '\n' && s[i-1] == '\r' {
			off--
		}
		b.WriteByte(s[i])
		offs = append(offs, off)
	}
	return b.String(), append(offs, len(s))
}

// curl makes the straight quotes of s curly ones: opening after white space, an
// opening bracket or dash and at the beginning, closing elsewhere.
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

// fit writes s in the line breaks of the document and, where old was given
// with other quotes than found has, in found's.
func fit(s, doc, old, found string) string {
	s = inBreaksOf(found, s, firstBreak(doc) == "\r\n")
	if found == old {
		return s
	}
	return curl(s, strings.ContainsAny(found, "‘’"), strings.ContainsAny(found, "“”"))
}
