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

// This file finds the terms of a text. In nine languages the terms are the stems of the words, from Snowball, without
// stop words. In scripts without spaces they are pairs of characters.

const maxStems = 1 << 11

// Stemmer finds the terms of texts and caches the stems of words. It is safe for concurrent use. The zero value is
// ready to use.
type Stemmer struct {
	mu    sync.Mutex // guards the fields below
	stems map[word]string
}

type word struct {
	text string
	in   Language
}

// Each calls fn with each term of a text in a language. The terms are the stems of its words without stop words. For
// scripts without spaces they are the pairs of neighbouring characters, and also single Chinese characters.
func (s *Stemmer) Each(text string, in Language, fn func(term string)) {
	s.EachOf(text, in, func(string) bool { return true }, fn)
}

// EachOf is like Each, but faster, because it considers only the words and characters for which may returns true.
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

type Asked struct {
	Word     string
	Variants []string
}

// Asked returns the words of a query, whose language is rarely certain. The variants of a word are its stem in the
// query's probable language, and then its stems in the other languages. A word is a stop word if it is one in the
// probable language. If a query has only stop words, Asked keeps those that are not stop words in another language.
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

// stem returns the stem of a word from the cache or from Snowball. It returns "" for a stop word, a single character
// and a very long word. The caller must hold mu.
func (s *Stemmer) stem(w word) string {
	if stem, ok := s.stems[w]; ok {
		return stem
	}
	if s.stems == nil || len(s.stems) >= maxStems {
		s.stems = make(map[word]string)
	}
	w.text = strings.Clone(w.text) // the stem may share the word's memory, and must not keep the whole text in memory
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

func plain(word string) string {
	return strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) {
			return -1
		}
		return r
	}, norm.NFD.String(word))
}

type kind int

const (
	ofWord kind = iota
	ofPair      // two characters, or a single character, of a script without spaces
)

// parts yields the words of a text. For scripts without spaces it yields pairs of characters and some single
// characters.
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

// paired reports whether the script of r is indexed by pairs of characters.
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

func wordEnd(text string, i int) int {
	for i < len(text) {
		if inASCIIWord(text[i]) { // fast path: most characters are ASCII
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
