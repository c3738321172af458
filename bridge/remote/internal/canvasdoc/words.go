package canvasdoc

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/relayfs/relayfs/bridge/textmerge"
)

// A dictionary spells texts with one character for each word and the space behind it, from those without a meaning at the
// end of Unicode.
type dictionary struct {
	letters map[string]rune
	words   []string
}

const firstLetter = 0xF0000

// spell is text in letters. The last word has a space behind it.
func (d *dictionary) spell(text string) string {
	var s strings.Builder
	for _, w := range strings.SplitAfter(text, " ") {
		if w == "" {
			continue
		}
		if !strings.HasSuffix(w, " ") {
			w += " "
		}
		r, known := d.letters[w]
		if !known {
			r = firstLetter + rune(len(d.words))
			d.letters[w], d.words = r, append(d.words, w)
		}
		s.WriteRune(r)
	}
	return s.String()
}

func (d *dictionary) read(letters string) string {
	var s strings.Builder
	for _, r := range letters {
		s.WriteString(d.words[r-firstLetter])
	}
	return s.String()
}

// mergeTexts carries the change from before to after over to present, word by word: by letters, a word that moved may look
// like two others that were changed. Words that both have changed merge by letters.
func mergeTexts(before, present, after string) string {
	d := dictionary{letters: make(map[string]rune)}
	was, is, want := d.spell(before), d.spell(present), d.spell(after)
	if len(d.words) > unicode.MaxRune-firstLetter || bothReplace(was, is, want) {
		return textmerge.Merge(textmerge.RawSide(before, nil), textmerge.RawSide(present, nil), after)
	}
	now := d.read(textmerge.Merge(textmerge.RawSide(was, nil), textmerge.RawSide(is, nil), want))
	if !strings.HasSuffix(present, " ") && !strings.HasSuffix(after, " ") {
		now = strings.TrimSuffix(now, " ")
	}
	return now
}

// bothReplace reports whether two changes of a text put something in the place of one of its letters.
func bothReplace(was, is, want string) bool {
	replaced := make(map[int]bool)
	for _, e := range textmerge.SavedEdits(was, is) {
		for at := e.Off; e.New != "" && at < e.Off+e.Len; at += utf8.UTFMax {
			replaced[at] = true
		}
	}
	for _, e := range textmerge.SavedEdits(was, want) {
		for at := e.Off; e.New != "" && at < e.Off+e.Len; at += utf8.UTFMax {
			if replaced[at] {
				return true
			}
		}
	}
	return false
}
