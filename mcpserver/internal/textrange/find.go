package textrange

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/relayfs/relayfs/diffwrap"
)

// This file finds quoted text in a document and replaces it in the document's style of line breaks and quotes.

// Find returns all ranges of old in doc, including overlapping ones. If there is no exact match, or if an exact match
// begins or ends inside a CRLF, straight quotes also match curly quotes, and both kinds of line breaks match each
// other.
func Find(doc, old string) []Range {
	if places := findExact(doc, old, nil); len(places) > 0 && !slices.ContainsFunc(places, func(p Range) bool { return cutsBreak(doc, p) }) {
		return places
	}
	plainDoc, offs := plainForm(doc)
	plainOld, _ := plainForm(old)
	if plainDoc == doc && plainOld == old {
		return nil
	}
	return findExact(plainDoc, plainOld, offs)
}

func cutsBreak(doc string, p Range) bool {
	within := func(off int) bool { return off > 0 && off < len(doc) && doc[off-1] == '\r' && doc[off] == '\n' }
	return within(p.Start) || within(p.End)
}

// findExact returns the exact matches. Unless offs is nil, it maps the ranges by offs.
func findExact(doc, old string, offs []int) []Range {
	var places []Range
	for from := 0; old != ""; {
		i := strings.Index(doc[from:], old)
		if i < 0 {
			break
		}
		start := from + i
		end := start + len(old)
		_, n := utf8.DecodeRuneInString(doc[start:])
		from = start + n
		if offs != nil {
			start, end = offs[start], offs[end]
		}
		places = append(places, Range{Start: start, End: end})
	}
	return places
}

// plainForm returns s with LF line breaks and straight quotes. offs has the offset in s of each byte of plain, and of
// the end of plain.
func plainForm(s string) (plain string, offs []int) {
	var b strings.Builder
	offs = make([]int, 0, len(s)+1)
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		piece := s[i : i+n]
		switch {
		case r == '‘' || r == '’':
			piece = "'"
		case r == '“' || r == '”':
			piece = `"`
		case strings.HasPrefix(s[i:], "\r\n"):
			piece, n = "\n", 2
		}
		for k := range len(piece) {
			offs = append(offs, i+k)
		}
		b.WriteString(piece)
		i += n
	}
	return b.String(), append(offs, len(s))
}

func NonOverlapping(places []Range) []Range {
	var out []Range
	for _, p := range places {
		if len(out) == 0 || p.Start >= out[len(out)-1].End {
			out = append(out, p)
		}
	}
	return out
}

// Replace returns the edits that replace places, which are matches of old, by a new text (with). It adapts the new text
// to the style of doc. If the new text is "", the edits also remove the line break after whole lines.
func Replace(doc string, places []Range, old, with string) []diffwrap.Edit {
	edits := make([]diffwrap.Edit, 0, len(places))
	for _, p := range places {
		if with != "" && IsNear(doc[p.Start:p.End], old) {
			edits = append(edits, replaceNear(doc, p, old, with))
			continue
		}
		found := doc[p.Start:p.End]
		fitted := inBreaksOf(doc, found, with)
		if found != old {
			fitted = inQuotesOf(found, fitted)
		}
		if with == "" {
			p.End += wholeLine(doc, p)
		}
		edits = append(edits, diffwrap.Edit{Off: p.Start, Len: p.End - p.Start, New: fitted})
	}
	return edits
}

// wholeLine returns the length of the line break after p if p consists of whole lines without the last line break.
// Otherwise it returns 0.
func wholeLine(doc string, p Range) int {
	if p.Start > 0 && doc[p.Start-1] != '\n' || p.End > p.Start && doc[p.End-1] == '\n' {
		return 0
	}
	switch rest := doc[p.End:]; {
	case strings.HasPrefix(rest, "\r\n"):
		return 2
	case strings.HasPrefix(rest, "\n"):
		return 1
	}
	return 0
}

// InStyleOf gives content the line breaks and byte order mark of base, which models do not see.
func InStyleOf(base, content string) string {
	content = diffwrap.KeepBreaks(content, base)
	if strings.HasPrefix(base, BOM) && !strings.HasPrefix(content, BOM) {
		content = BOM + content
	}
	return content
}

// inBreaksOf returns s, the replacement for found, with the line breaks of found. If found has no line breaks, it uses
// the line breaks of doc.
func inBreaksOf(doc, found, s string) string {
	if strings.Contains(found, "\n") {
		return diffwrap.KeepBreaks(s, found)
	}
	return diffwrap.KeepBreaks(s, doc)
}

func inQuotesOf(found, s string) string {
	return smartenQuotes(s, strings.ContainsAny(found, "‘’"), strings.ContainsAny(found, "“”"))
}

// smartenQuotes makes straight single or double quotes curly, as selected. It uses opening quotes at the start and
// after white space, an opening bracket, a dash or an opening quote, and closing quotes elsewhere.
func smartenQuotes(s string, single, double bool) string {
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
