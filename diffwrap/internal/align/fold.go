package align

import (
	"slices"

	"github.com/relayfs/relayfs/diffwrap/internal/markdown"
	"github.com/relayfs/relayfs/diffwrap/internal/span"
)

type CoalesceRule struct {
	Name  string
	joins func(w *tokenDiff, left, right change) bool
}

// CoalesceRules are the rules for texts too short to keep two changes apart. They apply together, from left to right.
var CoalesceRules = []CoalesceRule{
	{"islands", partedByBlank},
	{"unspaced script", partedByGlyphs},
}

type MergeRule struct {
	Name string
	fold func(w *tokenDiff, changes []change) []change
}

// MergeRules apply after CoalesceRules. Each rule applies to the result of the previous one.
var MergeRules = []MergeRule{
	{"pairs", foldPairs},
	{"sentences", foldSentences},
}

func readable(w *tokenDiff, changes []change) []change {
	changes = join(changes, func(left, right change) bool {
		return joinsOver(w, left, right, CoalesceRules)
	})
	for _, f := range MergeRules {
		changes = f.fold(w, changes)
	}
	for k := range changes {
		changes[k] = trimBlanks(w, changes[k])
	}
	return changes
}

// joinsOver reports whether a rule merges two changes that delete text, across the text between them.
func joinsOver(w *tokenDiff, left, right change, rules []CoalesceRule) bool {
	return !left.old.Empty() && !right.old.Empty() && left.old.End < right.old.Start &&
		slices.ContainsFunc(rules, func(j CoalesceRule) bool { return j.joins(w, left, right) })
}

func join(changes []change, joins func(left, right change) bool) []change {
	out := changes[:0]
	for _, c := range changes {
		if k := len(out) - 1; k >= 0 && joins(out[k], c) {
			out[k] = out[k].through(c)
			continue
		}
		out = append(out, c)
	}
	return out
}

// partedByBlank implements the rule "islands": one change of a phrase is more readable than one change per word.
func partedByBlank(w *tokenDiff, left, right change) bool {
	island := w.old.list[left.old.End:right.old.Start]
	return len(island) == 1 && island[0].Class == markdown.Space && span.BreakLen(island[0].Of(w.old.text)) == 0 &&
		(left.replaces() || right.replaces())
}

// maxIsland is the maximum number of unchanged characters or syllables, in a script without spaces, between two changes
// that become one change.
const maxIsland = 2

// partedByGlyphs implements the rule "unspaced script": such a script has no separators between words, and one change
// of a phrase is more readable than one change per character.
func partedByGlyphs(w *tokenDiff, left, right change) bool {
	around := w.old.list[left.old.End-1 : right.old.Start+1]
	return len(around)-2 <= maxIsland && !slices.ContainsFunc(around, func(t markdown.Token) bool { return t.Class != markdown.Glyph })
}

var closers = map[string]string{
	"": "", "*": "*", "**": "**", "***": "***", "_": "_", "__": "__", "~~": "~~", "==": "==", "\"": "\"", "'": "'", "“": "”", "„": "“", "‘": "’",
	"«": "»", "»": "«", "(": ")", "[": "]", "「": "」", "『": "』",
}

// maxPaired is the maximum length, in bytes, of the text between the two ends of a pair whose changes become one
// change.
const maxPaired = 60

// foldPairs implements the rule "pairs": one end of a pair without the other would be malformed.
func foldPairs(w *tokenDiff, changes []change) []change {
	return join(changes, func(left, right change) bool {
		before, opens := closers[w.old.of(left.old)]
		after, alsoOpens := closers[w.new.of(left.new)]
		return opens && alsoOpens && w.old.of(right.old) == before && w.new.of(right.new) == after &&
			w.old.piece(span.New(left.old.End, right.old.Start)).Len() <= maxPaired
	})
}

// maxScattered is the maximum number of changes of a sentence that stay separate even if little text separates
// them, so that a user can decide on each change.
const maxScattered = 3

func foldSentences(w *tokenDiff, changes []change) []change {
	if len(changes) <= maxScattered || w.survival == 0 {
		return changes
	}
	out := changes[:0]
	for from := 0; from < len(w.old.list); {
		end := sentenceEnd(w.old, from)
		n := 0
		for n < len(changes) && changes[n].old.Start < end {
			n++
		}
		words, kept, _ := w.countKept(span.New(from, end))
		if n > maxScattered && changes[n-1].old.End <= end && 100*kept < w.survival*words {
			out = append(out, changes[0].through(changes[n-1]))
		} else {
			out = append(out, changes[:n]...)
		}
		changes, from = changes[n:], end
	}
	return append(out, changes...)
}

// sentenceEnd returns the index of the token after the end of the sentence that contains the given token. A full stop,
// exclamation mark or question mark with a blank after it ends a sentence; a full-width one needs no blank.
func sentenceEnd(t *tokens, from int) int {
	for k := from; k+1 < len(t.list); k++ {
		switch s := t.list[k].Of(t.text); s {
		case ".", "!", "?":
			if t.list[k+1].Class == markdown.Space {
				return k + 2
			}
		case "。", "！", "？":
			return k + 1
		}
	}
	return len(t.list)
}

// trimBlanks removes equal tokens at the ends of a change, which a rule may have added.
func trimBlanks(w *tokenDiff, c change) change {
	for c.replaces() && w.old.ids[c.old.Start] == w.new.ids[c.new.Start] {
		c.old.Start++
		c.new.Start++
	}
	for c.replaces() && w.old.ids[c.old.End-1] == w.new.ids[c.new.End-1] {
		c.old.End--
		c.new.End--
	}
	return c
}
