package semantic

import (
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/english"
	"github.com/blevesearch/snowballstem/russian"

	"github.com/relayfs/relayfs/bridge/outline"
)

// maxStems bounds the cache of a stemmer.
const maxStems = 1 << 17

// stemmer caches the stems of words. It is safe for concurrent use.
type stemmer struct {
	mu    sync.Mutex // protects the following
	stems map[string]string
}

// terms calls fn with each term of a text: the stems of its words, without stop words,
// and pairs of neighbouring characters in scripts without spaces.
func (s *stemmer) terms(text string, fn func(string)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stems == nil {
		s.stems = make(map[string]string)
	}
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRuneInString(text[i:])
		switch {
		case paired(r):
			i = pairs(text, i, fn)
		case inWord(r):
			end := wordEnd(text, i)
			if stem := stem(s.stems, text[i:end]); stem != "" {
				fn(stem)
			}
			i = end
		default:
			i += n
		}
	}
}

// paired reports whether r is of a script that is indexed by pairs of characters.
func paired(r rune) bool {
	return r >= 0x1100 && (outline.Unspaced(r) || unicode.Is(unicode.Hangul, r))
}

func inWord(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.Is(unicode.Mn, r)
}

// pairs calls fn for the run of paired characters that begins at i.
func pairs(text string, i int, fn func(string)) (end int) {
	start, last := i, i // last is the start of the character before i
	for i < len(text) {
		r, n := utf8.DecodeRuneInString(text[i:])
		if !paired(r) {
			break
		}
		if i > start {
			fn(text[last : i+n])
		}
		last, i = i, i+n
	}
	if last == start {
		fn(text[start:i])
	}
	return i
}

// wordEnd returns the end of the word at i. An apostrophe within belongs to it.
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

// stem returns the stem of a word, "" for a stop word, by way of the cache.
func stem(cache map[string]string, word string) string {
	if stem, ok := cache[word]; ok {
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
	if len(cache) >= maxStems {
		clear(cache)
	}
	cache[strings.Clone(word)] = stem
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
