package semantic

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/english"
	"github.com/blevesearch/snowballstem/russian"

	"github.com/relayfs/relayfs/bridge/outline"
)

// maxStems bounds the stems that are remembered.
const maxStems = 1 << 17

// stemmer remembers the stems of words. It may be used by one goroutine at a time.
type stemmer map[string]string

// terms calls fn with each term of a text: the stems of its words, without those
// that every text has, and the pairs of neighbouring characters where words are
// written without spaces.
func (s stemmer) terms(text string, fn func(string)) {
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRuneInString(text[i:])
		switch {
		case paired(r):
			i = pairs(text, i, fn)
		case inWord(r):
			end := wordEnd(text, i)
			if stem := s.stem(text[i:end]); stem != "" {
				fn(stem)
			}
			i = end
		default:
			i += n
		}
	}
}

// paired says that r is of a script whose words are looked for by pairs.
func paired(r rune) bool {
	return r >= 0x1100 && (outline.Unspaced(r) || unicode.Is(unicode.Hangul, r))
}

func inWord(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.Is(unicode.Mn, r)
}

// pairs takes the run of paired characters that begins at i.
func pairs(text string, i int, fn func(string)) (end int) {
	start, before := i, -1 // before is where the last character but one begins
	last := i
	for i < len(text) {
		r, n := utf8.DecodeRuneInString(text[i:])
		if !paired(r) {
			break
		}
		before, last = last, i
		if i > start {
			fn(text[before : i+n])
		}
		i += n
	}
	if last == start {
		fn(text[start:i])
	}
	return i
}

// wordEnd is where the word at i ends. An apostrophe within it belongs to it.
func wordEnd(text string, i int) int {
	for i < len(text) {
		r, n := utf8.DecodeRuneInString(text[i:])
		if r == '\'' || r == '’' {
			next, _ := utf8.DecodeRuneInString(text[i+n:])
			if !unicode.IsLetter(next) {
				return i
			}
		} else if !inWord(r) || paired(r) {
			return i
		}
		i += n
	}
	return i
}

// stem is the stem of a word, "" for one that says nothing of a text's subject.
func (s stemmer) stem(word string) string {
	if stem, ok := s[word]; ok {
		return stem
	}
	lower := strings.ReplaceAll(strings.ToLower(word), "’", "'")
	stem := lower
	switch r, _ := utf8.DecodeRuneInString(lower); {
	case utf8.RuneCountInString(lower) < 2, len(lower) > 64, stopWords[lower]:
		stem = ""
	case r < 0x250:
		stem = stemmed(lower, english.Stem)
	case unicode.Is(unicode.Cyrillic, r):
		stem = stemmed(lower, russian.Stem)
	}
	if len(s) >= maxStems {
		clear(s)
	}
	s[strings.Clone(word)] = stem
	return stem
}

func stemmed(word string, stem func(*snowballstem.Env) bool) string {
	env := snowballstem.NewEnv(word)
	stem(env)
	return env.Current()
}

var stopWords = wordSet(`a about above after again against all almost along already also although always am among an and another any anybody
anyone anything are aren't around as at away back be became because become been before behind being below between both but by came can can't
cannot come could couldn't did didn't do does doesn't doing don't done down during each either else enough even ever every everyone everything
few first for from further get gets getting give given go goes going gone got had hadn't has hasn't have haven't having he her here hers herself
him himself his how however i i'd i'll i'm i've if in instead into is isn't it it's its itself just keep kept last least less let let's like
little long made make makes making many may maybe me might mine more most much must my myself need needs never next no nobody none nor not
nothing now of off often on once one ones only onto or other others our ours ourselves out over own per perhaps put quite rather really same
said say says see seem seems seen several shall she should shouldn't since so some somebody someone something sometimes soon still such take
taken takes than that that's the their theirs them themselves then there there's these they they'd they'll they're they've thing things this
those though three through thus till to together too took toward towards two under until up upon us use used uses using usually very want wants
was wasn't way we we'd we'll we're we've well went were weren't what what's when where whether which while who whole whom whose why will with
within without won't would wouldn't yet you you'd you'll you're you've your yours yourself`)

func wordSet(words string) map[string]bool {
	set := make(map[string]bool)
	for w := range strings.FieldsSeq(words) {
		set[w] = true
	}
	return set
}
