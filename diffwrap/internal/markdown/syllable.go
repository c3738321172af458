package markdown

import (
	"strings"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// Thai, Lao, Khmer and Burmese are written without spaces, and only a dictionary finds their words. The characters give
// approximate syllables: a vowel may be written before or after its consonant, and one consonant below another.

const (
	thaiLeading, laoLeading     = "เแโใไ", "ເແໂໃໄ" // vowels written before their consonant
	thaiFollowing, laoFollowing = "ะาำๅ", "ະາຳ"
	coeng, virama               = '\u17d2', '\u1039' // Khmer and Burmese: the next consonant is written below this one
	asat                        = '\u103a'           // Burmese: this consonant ends its syllable
)

// syllable returns the approximate end of the syllable whose first grapheme cluster is text[i:end].
func syllable(text string, i, end int) int {
	first, _ := utf8.DecodeRuneInString(text[i:end])
	if strings.ContainsRune(thaiLeading+laoLeading, first) {
		end = withCluster(text, end)
	}
	for end < len(text) {
		last, _ := utf8.DecodeLastRuneInString(text[:end])
		next, _ := utf8.DecodeRuneInString(text[end:])
		after := withCluster(text, end)
		closes := next >= '\u1000' && next <= '\u1021' && strings.ContainsRune(text[end:after], asat)
		if after == end || last != coeng && last != virama && !closes && !strings.ContainsRune(thaiFollowing+laoFollowing, next) {
			break
		}
		end = after
	}
	return end
}

// withCluster returns the end of the grapheme cluster at an offset if its script has no spaces; otherwise it returns
// the offset.
func withCluster(text string, at int) int {
	if at == len(text) {
		return at
	}
	cluster, _, _, _ := uniseg.FirstGraphemeClusterInString(text[at:], -1)
	if first, _ := utf8.DecodeRuneInString(cluster); classOf(first) != Glyph {
		return at
	}
	return at + len(cluster)
}
