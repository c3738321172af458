package canvasdoc

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/relayfs/relayfs/bridge/textmerge"
)

// A dictionary encodes texts with one private-use character (from the end of Unicode) for each word and the space
// after it.
type dictionary struct {
	letters map[string]rune
	words   []string
}

const firstLetter = 0xF0000

// spell encodes text with one letter per word. It adds a space to the last word if that
// has none.
func (d *dictionary) spell(text string) string {
	var s strings.Builder
	for _, w := range strings.SplitAfter(text, " ") {
		if w == "" {
			continue
		}
		if !strings.HasSuffix(w, " ") {
			w += " "
		}
		r, ok := d.letters[w]
		if !ok {
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

// mergeTexts applies the change from before to after to present, word by word. In a merge by letters, a moved word
// may look like two other changed words. Words that both sides have changed merge by letters.
func mergeTexts(before, present, after string) string {
	d := dictionary{letters: make(map[string]rune)}
	old, current, want := d.spell(before), d.spell(present), d.spell(after)
	if len(d.words) > unicode.MaxRune-firstLetter || bothReplace(old, current, want) {
		return textmerge.Merge(textmerge.RawSide(before, nil), textmerge.RawSide(present, nil), after)
	}
	now := d.read(textmerge.Merge(textmerge.RawSide(old, nil), textmerge.RawSide(current, nil), want))
	if !strings.HasSuffix(present, " ") && !strings.HasSuffix(after, " ") {
		now = strings.TrimSuffix(now, " ")
	}
	return now
}

// bothReplace reports whether two changes of a text replace the same letter.
func bothReplace(old, current, want string) bool {
	replaced := make(map[int]bool)
	for _, e := range textmerge.DiffSave(old, current) {
		for at := e.Off; e.New != "" && at < e.Off+e.Len; at += utf8.UTFMax {
			replaced[at] = true
		}
	}
	for _, e := range textmerge.DiffSave(old, want) {
		for at := e.Off; e.New != "" && at < e.Off+e.Len; at += utf8.UTFMax {
			if replaced[at] {
				return true
			}
		}
	}
	return false
}
