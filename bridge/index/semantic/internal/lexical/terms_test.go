package lexical_test

import (
	"strings"
	"testing"

	"github.com/relayfs/relayfs/bridge/index/semantic/internal/lexical"
)

func TestTerms(t *testing.T) {
	var s lexical.Stemmer
	for text, want := range map[string]string{
		"The Dogs were running; a dog runs.":     "dog run dog run",
		"don't! Ines' well-known gardens":        "ine known garden",
		"味噌汁 and 豆":                              "味 味噌 噌 噌汁 汁 豆",
		"한국어 검색":                                 "한국 국어 검색",
		"りんごを食べました":                              "りん んご ごを を食 食 食べ べま",
		"книги и книгу":                          "книг книг",
		"v2 of 1347 x":                           "v2 1347",
		"[[Note|alias]] https://example.org/":    "note alia https exampl org",
		"Die Häuser und das Haus sind am Fluss.": "haus haus fluss",
		"les chevaux et le cheval dans la forêt": "cheval cheval foret",
		"los niños y la niña en el jardín":       "nin nin jardin",
	} {
		var got []string
		s.Each(text, lexical.LanguageOf(text), func(term string) { got = append(got, term) })
		if got := strings.Join(got, " "); got != want {
			t.Errorf("%q has the terms %q, want %q", text, got, want)
		}
	}
}

// A question has the stems of each language that notes have; its stop words are its own.
func TestAsked(t *testing.T) {
	var s lexical.Stemmer
	for text, want := range map[string]string{
		"Schlauch reparieren":       "schlauch reparieren/repari",
		"wie die Katzen schlafen":   "katz/katzen schlaf/schlafen",
		"did the cats die sleeping": "cat die sleep/sleeping",
		"die":                       "die", // in notes in English
		"word":                      "word",
		"the":                       "the",
	} {
		var got []string
		for _, v := range s.Asked(text, []lexical.Language{lexical.German, lexical.English}) {
			got = append(got, strings.Join(v.Variants, "/"))
		}
		if got := strings.Join(got, " "); got != want {
			t.Errorf("%q has the terms %q, want %q", text, got, want)
		}
	}
}
