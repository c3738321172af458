package diffwrap

import (
	"slices"
	"strings"

	"github.com/relayfs/relayfs/diffwrap/internal/align"
)

// KeepBreaks returns the text that a writer wrote, with line breaks like those of the texts that the writer had read.
// Many programs write only one kind of line break, although their users did not change the breaks. A break that the
// writer kept gets the kind that it has in the last of the read texts that contains it. A new break gets a kind from
// the first of the read texts: the kind of the break that it replaces, or of a break next to it. If the writer used
// both kinds, or wrote another carriage return before a break, KeepBreaks changes nothing.
func KeepBreaks(written string, shown ...string) string {
	shown = slices.DeleteFunc(slices.Clone(shown), func(s string) bool { return !strings.Contains(s, "\n") })
	plain := withLF(written)
	crlf := len(written) - len(plain)
	if len(shown) == 0 || crlf != 0 && crlf != strings.Count(plain, "\n") || strings.Contains(plain, "\r\n") {
		return written
	}
	if !slices.ContainsFunc(shown, func(s string) bool { return strings.Contains(s, "\r\n") }) {
		return plain
	}
	if !slices.Contains(breaksOf(strings.Join(shown, "")), false) {
		return strings.ReplaceAll(plain, "\n", "\r\n")
	}
	newBreaks := make([]bool, strings.Count(plain, "\n"))
	body, _ := FrontMatter(plain)
	for i, s := range shown {
		carryBreaks(newBreaks, plain, strings.Count(plain[:body], "\n"), breaksOf(s), withLF(s), i == 0)
	}
	var b strings.Builder
	for line := range strings.Lines(plain) {
		if text, ok := strings.CutSuffix(line, "\n"); ok && newBreaks[0] {
			line = text + "\r\n"
		}
		newBreaks = newBreaks[min(1, len(newBreaks)):]
		b.WriteString(line)
	}
	return b.String()
}

// carryBreaks copies the kinds of line breaks from an old text (before, oldBreaks) to a new text (text, newBreaks). A
// flag is set for CR LF. Unless all is set, carryBreaks sets only the flags of breaks that both texts have. body is the
// number of breaks in the front matter.
func carryBreaks(newBreaks []bool, text string, body int, oldBreaks []bool, before string, all bool) {
	at, from, to := 0, 0, 0 // offset in the old text, and numbers of passed breaks in the old and the new text
	edits := append(align.Diff(before, text), Edit{Off: len(before)})
	for i, e := range edits {
		if moved := before[e.Off:e.Off+e.Len] + e.New; (e.Len == 0 || e.New == "") && strings.HasPrefix(moved, "\n") && strings.HasPrefix(before[e.Off+e.Len:], "\n") && edits[i+1].Off > e.Off+e.Len {
			if e.Off++; e.Len == 0 { // the edit adds or deletes whole lines
				e.New = moved[1:] + "\n"
			}
		}
		stay := strings.Count(before[at:e.Off], "\n")
		copy(newBreaks[to:], oldBreaks[from:from+stay])
		from, to = from+stay, to+stay
		deleted, new := strings.Count(before[e.Off:e.Off+e.Len], "\n"), strings.Count(e.New, "\n")
		for n := 0; all && n < new; n++ {
			like := from + min(n, deleted)
			if e.Len == 0 && to != body { // a new line ends like the line above it, but not like front matter
				like = max(0, from-1)
			}
			newBreaks[to+n] = oldBreaks[min(like, len(oldBreaks)-1)]
		}
		at, from, to = e.Off+e.Len, from+deleted, to+new
	}
}

// breaksOf reports for each line break of a text whether it is CR LF.
func breaksOf(text string) (crlf []bool) {
	for line := range strings.Lines(text) {
		if strings.HasSuffix(line, "\n") {
			crlf = append(crlf, strings.HasSuffix(line, "\r\n"))
		}
	}
	return crlf
}

func withLF(text string) string { return strings.ReplaceAll(text, "\r\n", "\n") }
