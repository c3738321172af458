package lexical

import (
	"iter"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/blevesearch/snowballstem"
	"golang.org/x/text/unicode/norm"

	"github.com/relayfs/relayfs/bridge/index/outline"
)

// Here is what finds the terms of a text, by which notes are found: stems of words without stop
// words, as Snowball has them for nine languages, and of scripts without spaces pairs of characters.
//
//	var s Stemmer
//	s.Each("Die Häuser am See", LanguageOf("Die Häuser am See"), fn) // haus see
//
// A term is the same whoever asks: the search by words and the one by meaning share it.

// maxStems bounds the cache of a Stemmer.
const maxStems = 1 << 11

// Stemmer finds the terms of texts. It caches the stems of words, and is safe for concurrent use. The zero value is ready.
type Stemmer struct {
	mu    sync.Mutex // protects the following
	stems map[word]string
}

type word struct {
	text string
	in   Language
}

// Each calls fn with each term of a text in a language: the stems of its words, without stop words, and of scripts without
// spaces the pairs of neighbouring characters and the Chinese characters themselves.
func (s *Stemmer) Each(text string, in Language, fn func(term string)) {
	s.EachOf(text, in, func(string) bool { return true }, fn)
}

// EachOf is Each for the words and characters that may lets through, which is faster.
func (s *Stemmer) EachOf(text string, in Language, may func(part string) bool, fn func(term string)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for kind, part := range parts(text) {
		switch {
		case !may(part):
		case kind == ofWord:
			if stem := s.stem(word{part, in}); stem != "" {
				fn(stem)
			}
		case !stopPairs[part]:
			fn(part)
		}
	}
}

// Asked is a word of a question, with the terms that it may be.
type Asked struct {
	Word     string
	Variants []string
}

// Asked returns the words of a question, whose language is seldom sure: of each one the stem that it
// has in its language, and then those in other languages. Stop words are those of the language
// that the question seems to have; a question of nothing else is about what they mean in others.
func (s *Stemmer) Asked(text string, in []Language) []Asked {
	own := LanguageOf(text)
	s.mu.Lock()
	defer s.mu.Unlock()
	var list, stopped []Asked
	for kind, part := range parts(text) {
		if kind != ofWord {
			if !stopPairs[part] {
				list = append(list, Asked{part, []string{part}})
			}
			continue
		}
		a := Asked{Word: part}
		for _, l := range append([]Language{own}, in...) {
			if stem := s.stem(word{part, l}); stem != "" && !slices.Contains(a.Variants, stem) {
				a.Variants = append(a.Variants, stem)
			}
		}
		switch {
		case len(a.Variants) == 0:
		case s.stem(word{part, own}) == "":
			stopped = append(stopped, a)
		default:
			list = append(list, a)
		}
	}
	if len(list) == 0 {
		return stopped
	}
	return list
}

// stem returns the stem of a word, "" for a stop word, by way of the cache. mu is held.
func (s *Stemmer) stem(w word) string {
	if stem, ok := s.stems[w]; ok {
		return stem
	}
	if s.stems == nil || len(s.stems) >= maxStems {
		s.stems = make(map[word]string)
	}
	w.text = strings.Clone(w.text) // the stem may be a part of it, and is not to hold the whole text
	stem := stemOf(w)
	s.stems[w] = stem
	return stem
}

func stemOf(w word) string {
	lower := strings.ReplaceAll(strings.ToLower(w.text), "’", "'")
	if utf8.RuneCountInString(lower) < 2 || len(lower) > 64 || IsStop(lower, w.in) {
		return ""
	}
	switch r, _ := utf8.DecodeRuneInString(lower); {
	case r < 0x250:
		return plain(stemmed(lower, stemmers[w.in]))
	case unicode.Is(unicode.Cyrillic, r):
		return stemmed(lower, stemmers[Russian])
	}
	return lower
}

func stemmed(word string, stem func(*snowballstem.Env) bool) string {
	env := snowballstem.NewEnv(word)
	stem(env)
	return env.Current()
}

// plain returns a word without the accents of its letters.
func plain(word string) string {
	if isASCII(word) {
		return word
	}
	return strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) {
			return -1
		}
		return r
	}, norm.NFD.String(word))
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// kind says what a part of a text is.
type kind int

const (
	ofWord kind = iota
	ofPair      // two characters of a script without spaces, or one that stands alone
)

// parts yields the words of a text, and the pairs and single characters of its scripts without spaces.
func parts(text string) iter.Seq2[kind, string] {
	return func(yield func(kind, string) bool) {
		for i := 0; i < len(text); {
			r, n := utf8.DecodeRuneInString(text[i:])
			switch {
			case paired(r):
				end, more := pairs(text, i, yield)
				if !more {
					return
				}
				i = end
			case inWord(r):
				end := wordEnd(text, i)
				if !yield(ofWord, text[i:end]) {
					return
				}
				i = end
			default:
				i += n
			}
		}
	}
}

// pairs yields the run of paired characters that begins at i.
func pairs(text string, i int, yield func(kind, string) bool) (end int, more bool) {
	start, last := i, i // last is the start of the character before i
	for i < len(text) {
		r, n := utf8.DecodeRuneInString(text[i:])
		if !paired(r) {
			break
		}
		if i > start && !yield(ofPair, text[last:i+n]) {
			return i, false
		}
		if unicode.Is(unicode.Han, r) && !yield(ofPair, text[i:i+n]) {
			return i, false
		}
		last, i = i, i+n
	}
	if r, _ := utf8.DecodeRuneInString(text[start:]); last == start && !unicode.Is(unicode.Han, r) {
		return i, yield(ofPair, text[start:i])
	}
	return i, true
}

// paired reports whether r is of a script that is indexed by pairs of characters.
func paired(r rune) bool {
	return r >= 0x1100 && (outline.Unspaced(r) || unicode.Is(unicode.Hangul, r))
}

func inWord(r rune) bool {
	if r < utf8.RuneSelf {
		return inASCIIWord(byte(r))
	}
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.Is(unicode.Mn, r)
}

func inASCIIWord(c byte) bool {
	return 'a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9'
}

// wordEnd returns the end of the word at i. An apostrophe within belongs to it.
func wordEnd(text string, i int) int {
	for i < len(text) {
		if inASCIIWord(text[i]) { // most are
			i++
			continue
		}
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
