// Package terms finds the terms of a text, by which notes are found: stems of words without stop
// words, as Snowball has them for nine languages, and of scripts without spaces pairs of characters.
//
//	var s terms.Stemmer
//	s.Each("Die Häuser am See", terms.LanguageOf("Die Häuser am See"), fn) // haus see
//
// A term is the same whoever asks: the search by words and the one by meaning share it.
package terms
