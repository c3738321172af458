package canvasdoc

import (
	"strings"
	"unicode"

	"github.com/relayfs/relayfs/bridge/textmerge"
	"github.com/relayfs/relayfs/bridge/ycrdt"
)

// word is a word of a text with the space behind it.
type word struct{ text, space string }

func wordsOf(text string) (list []word) {
	for text != "" {
		end := strings.IndexFunc(text, unicode.IsSpace)
		if end < 0 {
			return append(list, word{text: text})
		}
		next := end + len(text[end:]) - len(strings.TrimLeftFunc(text[end:], unicode.IsSpace))
		list = append(list, word{text[:end], text[end:next]})
		text = text[next:]
	}
	return list
}

// sides returns a text before and after somebody else changed it, as sides of a merge in which the words that both have
// are the same. By letters, a word that moved may look like two others that were changed.
func sides(before, after string) (was, is textmerge.Side) {
	const first = 0xF0000 // characters without a meaning stand for words, up to the end of Unicode
	had, has, letters := wordsOf(before), wordsOf(after), make(map[string]rune)
	spell := func(words []word) string {
		var s strings.Builder
		for _, w := range words {
			if _, known := letters[w.text]; !known {
				letters[w.text] = first + rune(len(letters))
			}
			s.WriteRune(letters[w.text])
		}
		return s.String()
	}
	old, new := spell(had), spell(has)
	if len(letters) > unicode.MaxRune-first {
		return textmerge.RawSide(before, nil), textmerge.RawSide(after, nil)
	}
	kept := make(map[int]int) // indexes of has, and of had
	const size = 4            // of such a character
	for _, s := range textmerge.Kept(len(old), textmerge.SavedEdits(old, new)) {
		for at := 0; at < s.N; at += size {
			kept[(s.B+at)/size] = (s.A + at) / size
		}
	}
	const ours, theirs = 1, 2 // clients
	starts, at := make([]uint64, len(had)), 0
	for i, w := range had {
		starts[i] = uint64(at)
		at += textmerge.UTF16Len(w.text + w.space)
	}
	var runs []ycrdt.Run
	typed := uint64(0)
	put := func(same bool, clock uint64, text string) {
		n := textmerge.UTF16Len(text)
		id := ycrdt.ID{Client: ours, Clock: clock}
		if !same {
			id = ycrdt.ID{Client: theirs, Clock: typed}
			typed += uint64(n)
		}
		if n > 0 {
			runs = append(runs, ycrdt.Run{ID: id, Len: n})
		}
	}
	for j, w := range has {
		i, same := kept[j]
		if !same {
			put(false, 0, w.text+w.space)
			continue
		}
		put(true, starts[i], w.text)
		put(had[i].space == w.space, starts[i]+uint64(textmerge.UTF16Len(w.text)), w.space)
	}
	return textmerge.RawSide(before, []ycrdt.Run{{ID: ycrdt.ID{Client: ours}, Len: at}}), textmerge.RawSide(after, runs)
}
