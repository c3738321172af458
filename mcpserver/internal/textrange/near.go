package textrange

import (
	"fmt"
	"slices"
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/relayfs/relayfs/diffwrap"
)

// folded is a text in a normal form, which is equal for similar texts: single spaces, no trailing blanks, LF line
// breaks, straight quotes, NFC, and no zero-width characters.
type folded struct {
	text       string
	start, end []int // offset in the source of each byte of text
}

func foldText(s string) folded {
	var b strings.Builder
	f := folded{start: make([]int, 0, len(s)), end: make([]int, 0, len(s))}
	put := func(piece string, from, to int) {
		b.WriteString(piece)
		for range len(piece) {
			f.start, f.end = append(f.start, from), append(f.end, to)
		}
	}
	blank, until := -1, 0 // the run of blanks that is not written yet
	var it norm.Iter
	it.InitString(norm.NFC, s)
	for !it.Done() {
		from := it.Pos()
		piece := string(it.Next())
		to := it.Pos()
		for len(piece) > 0 {
			r, n := utf8.DecodeRuneInString(piece)
			char := piece[:n]
			piece = piece[n:]
			if r == utf8.RuneError && n == 1 { // the byte is not UTF-8
				char = s[from:to]
				piece = ""
			}
			switch {
			case r == '\n':
				blank = -1
				if from > 0 && s[from-1] == '\r' {
					from--
				}
				put("\n", from, to)
				continue
			case unicode.IsSpace(r):
				if blank < 0 {
					blank = from
				}
				until = to
				continue
			case unicode.Is(unicode.Cf, r):
				continue
			case strings.ContainsRune("‘’", r):
				char = "'"
			case strings.ContainsRune("“”", r):
				char = `"`
			}
			if blank >= 0 {
				put(" ", blank, until)
				blank = -1
			}
			put(char, from, to)
		}
	}
	f.text = b.String()
	return f
}

// FindNear returns ranges of doc that do not overlap and are equal to old except for the kind and number of blanks, the
// kind of line breaks and quotes, zero-width characters and Unicode normalization. It returns nil if old is blank.
func FindNear(doc, old string) (places []Range) {
	d, o := foldText(doc), foldText(old)
	if strings.TrimSpace(o.text) == "" {
		return nil
	}
	for _, p := range NonOverlapping(findExact(d.text, o.text, nil)) {
		places = append(places, Range{Start: d.start[p.Start], End: d.end[p.End-1]})
	}
	return places
}

// IsNear reports whether found, a match of old, differs from old in more than quotes and line breaks.
func IsNear(found, old string) bool {
	plainFound, _ := plainForm(found)
	plainOld, _ := plainForm(old)
	return plainFound != plainOld
}

// replaceNear applies the difference between old and the new text (with) to p, which is a match of old. If possible, it
// keeps the other text of the match; otherwise it replaces the whole match.
func replaceNear(doc string, p Range, old, with string) diffwrap.Edit {
	found := doc[p.Start:p.End]
	f, o := foldText(found), foldText(old)
	style := func(s string) string { return inQuotesOf(found, inBreaksOf(doc, found, s)) }
	var edits []diffwrap.Edit
	for _, e := range diffwrap.DiffWords(old, with) {
		i := sort.SearchInts(o.start, e.Off)
		k := sort.SearchInts(o.start, e.Off+e.Len)
		at := diffwrap.Edit{New: style(e.New)}
		switch {
		case i < k:
			at.Off, at.Len = f.start[i], f.end[k-1]-f.start[i]
		case i > 0:
			at.Off = f.end[i-1]
		}
		edits = append(edits, at)
	}
	whole := diffwrap.Edit{Off: p.Start, Len: p.End - p.Start, New: style(with)}
	for i := 1; i < len(edits); i++ {
		if edits[i].Off < edits[i-1].Off+edits[i-1].Len {
			return whole
		}
	}
	now := diffwrap.Apply(found, edits)
	if foldText(now).text != foldText(with).text {
		return whole
	}
	return diffwrap.Edit{Off: p.Start, Len: p.End - p.Start, New: now}
}

const (
	maxCompared = 50_000 // number of lines at the start of a document that are compared
	likeness    = 0.5    // minimum share of common words
)

// Nearest explains why a quote has no match. It describes the line of doc that is most similar to the first missing
// line of the quote, and the difference. It returns "" if no line is similar, or if no line of the quote is missing.
func Nearest(doc, quote string) string {
	whole := foldText(doc).text
	for _, line := range SplitLines(quote) {
		want := strings.TrimSpace(foldText(line).text)
		if want == "" || strings.Contains(whole, want) {
			continue
		}
		words := wordsOf(want)
		best, at, number := likeness, "", 0
		for i, l := range SplitLines(doc) {
			if i == maxCompared {
				break
			}
			if got := alike(words, wordsOf(l)); got > best || got == best && number == 0 {
				best, at, number = got, l, i+1
			}
		}
		if number == 0 {
			return ""
		}
		return fmt.Sprintf("The nearest is line %d%s: %q.", number, difference(want, strings.TrimSpace(foldText(at).text)), firstChars(at))
	}
	return ""
}

const maxShownChars = 300

func firstChars(s string) string {
	if n, ok := prefixLen(s, maxShownChars); ok && n < len(s) {
		return s[:n] + "..."
	}
	return s
}

func wordsOf(s string) map[string]int {
	words := make(map[string]int)
	for w := range strings.FieldsFuncSeq(strings.ToLower(s), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		words[w]++
	}
	return words
}

func alike(a, b map[string]int) float64 {
	common, all := 0, 0
	for w, n := range a {
		common += min(n, b[w])
		all += n
	}
	for _, n := range b {
		all += n
	}
	if all == 0 {
		return 0
	}
	return 2 * float64(common) / float64(all)
}

// difference describes the first difference between two lines, want and have. It ignores additional text at the start
// and the end of have.
func difference(want, have string) string {
	edits := slices.DeleteFunc(diffwrap.DiffWords(want, have), func(e diffwrap.Edit) bool { return e.Len == 0 && (e.Off == 0 || e.Off == len(want)) })
	if len(edits) == 0 {
		return ""
	}
	e := edits[0]
	switch old := want[e.Off : e.Off+e.Len]; {
	case old == "":
		return fmt.Sprintf(", which additionally has %q", firstChars(e.New))
	case e.New == "":
		return fmt.Sprintf(", which lacks %q", firstChars(old))
	default:
		return fmt.Sprintf(", which has %q instead of %q", firstChars(e.New), firstChars(old))
	}
}
