package diffwrap

import (
	"slices"
	"strings"

	"github.com/relayfs/relayfs/diffwrap/internal/align"
)

// KeepBreaks returns a written text with the line breaks of the texts that its writer was shown: many programs know only one kind, and
// nobody asked them to change the other. A break that stays is as in the last of those texts that has it. A new one is as in the
// first: as the one that it replaces, or the one before it, or the next one. A writer who writes both kinds knows them apart.
func KeepBreaks(written string, shown ...string) string {
	shown = slices.DeleteFunc(slices.Clone(shown), func(s string) bool { return !strings.Contains(s, "\n") })
	plain := withLF(written)
	crlf := len(written) - len(plain)
	if len(shown) == 0 || crlf != 0 && crlf != strings.Count(plain, "\n") {
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

// carryBreaks sets newBreaks, which flags the CR LF breaks of text, from oldBreaks, which flags those of before. Unless all is set,
// it sets only the breaks that both texts have. The first body breaks are those of front matter.
func carryBreaks(newBreaks []bool, text string, body int, oldBreaks []bool, before string, all bool) {
	at, from, to := 0, 0, 0 // offset in before, and numbers of breaks passed in both
	edits := append(align.Diff(before, text), Edit{Off: len(before)})
	for i, e := range edits {
		if moved := before[e.Off:e.Off+e.Len] + e.New; (e.Len == 0 || e.New == "") && strings.HasPrefix(moved, "\n") && strings.HasPrefix(before[e.Off+e.Len:], "\n") && edits[i+1].Off > e.Off+e.Len {
			if e.Off++; e.Len == 0 { // whole lines come and go
				e.New = moved[1:] + "\n"
			}
		}
		stay := strings.Count(before[at:e.Off], "\n")
		copy(newBreaks[to:], oldBreaks[from:from+stay])
		from, to = from+stay, to+stay
		deleted, new := strings.Count(before[e.Off:e.Off+e.Len], "\n"), strings.Count(e.New, "\n")
		for n := 0; all && n < new; n++ {
			like := from + min(n, deleted)
			if e.Len == 0 && to != body { // a new line ends as the one above it, but that of front matter
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
