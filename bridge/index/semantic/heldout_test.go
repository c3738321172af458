package semantic_test

import (
	"cmp"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"

	"golang.org/x/tools/txtar"

	"github.com/relayfs/relayfs/bridge/bridgetest"
	"github.com/relayfs/relayfs/bridge/index/outline"
	"github.com/relayfs/relayfs/bridge/index/semantic"
	"github.com/relayfs/relayfs/bridge/index/semantic/internal/lexical"
)

// heldOut reads a set of notes, and the questions about them in its comment: "question => a note; another". The sets were
// written without a look at the search, at each other, or at what it finds, and no number is tuned on them.
func heldOut(t testing.TB, language string) (notes map[string]string, questions []question) {
	t.Helper()
	archive, err := txtar.ParseFile(filepath.Join("testdata", "heldout", language+".txtar"))
	if err != nil {
		t.Fatal(err)
	}
	notes = make(map[string]string)
	for _, f := range archive.Files {
		notes["Vault/"+f.Name] = string(f.Data)
	}
	for line := range strings.Lines(string(archive.Comment)) {
		query, answers, ok := strings.Cut(strings.TrimSpace(line), " => ")
		if !ok {
			continue
		}
		q := question{query: query}
		for answer := range strings.SplitSeq(answers, "; ") {
			if notes["Vault/"+answer] == "" {
				t.Fatalf("%s: there is no note %q", language, answer)
			}
			q.answers = append(q.answers, "Vault/"+answer)
		}
		questions = append(questions, q)
	}
	return notes, questions
}

// plainTerms are words in lower case without stop words, and pairs of characters where there are no spaces.
func plainTerms(text string) []string {
	var list []string
	in := lexical.LanguageOf(text)
	for word := range strings.FieldsFuncSeq(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		runes := []rune(word)
		switch {
		case outline.Unspaced(runes[0]):
			for i := range max(len(runes)-1, 1) {
				list = append(list, string(runes[i:min(i+2, len(runes))]))
			}
		case !lexical.IsStop(word, in):
			list = append(list, word)
		}
	}
	return list
}

// plainBM25 ranks texts by BM25 with k1 1.2 and b 0.75, without stop words, stems or fields.
func plainBM25(notes map[string]string, query string) []string {
	counts, documents, lengths, total := make(map[string]map[string]float64), make(map[string]float64), make(map[string]float64), 0.0
	for p, text := range notes {
		counts[p] = make(map[string]float64)
		for _, term := range plainTerms(strings.TrimSuffix(filepath.Base(p), ".md") + "\n" + text) {
			if counts[p][term]++; counts[p][term] == 1 {
				documents[term]++
			}
			lengths[p]++
			total++
		}
	}
	n, scores := float64(len(notes)), make(map[string]float64)
	asked := plainTerms(query)
	slices.Sort(asked)
	for _, term := range slices.Compact(asked) {
		for p := range notes {
			if tf := counts[p][term]; tf > 0 {
				idf := math.Log(1 + (n-documents[term]+0.5)/(documents[term]+0.5))
				scores[p] += idf * tf * 2.2 / (tf + 1.2*(0.25+0.75*lengths[p]*n/total))
			}
		}
	}
	return slices.SortedFunc(maps.Keys(scores), func(a, b string) int {
		return cmp.Or(cmp.Compare(scores[b], scores[a]), strings.Compare(a, b))
	})
}

// recall counts the questions whose answer is among the first 5 and 10.
type recall struct{ at5, at10 int }

func (r *recall) count(paths, answers []string) (place int) {
	place = slices.IndexFunc(paths, func(p string) bool { return slices.Contains(answers, p) }) + 1
	if 0 < place && place <= 5 {
		r.at5++
	}
	if 0 < place && place <= 10 {
		r.at10++
	}
	return place
}

// Find finds more answers than words alone do, on sets that were there before it.
func TestFindOnHeldOutSets(t *testing.T) {
	var all, allPlain recall
	asked := 0
	for _, language := range []string{"english", "german", "japanese"} {
		notes, questions := heldOut(t, language)
		fused, plain := compareSearches(t, language, notes, questions)
		all.at5, all.at10 = all.at5+fused.at5, all.at10+fused.at10
		allPlain.at5, allPlain.at10 = allPlain.at5+plain.at5, allPlain.at10+plain.at10
		asked += len(questions)
		if fused.at5 < plain.at5 || fused.at10 < plain.at10 {
			t.Errorf("%s: search finds %+v, plain BM25 %+v", language, fused, plain)
		}
	}
	if 3*all.at5 < 4*allPlain.at5 || 3*all.at10 < 4*allPlain.at10 {
		t.Errorf("search finds %+v, which is not a third more than plain BM25 does, %+v", all, allPlain)
	}
	t.Logf("all: %d questions: search %+v, plain BM25 %+v", asked, all, allPlain)
}

func TestFindOnTheLabelledSet(t *testing.T) {
	notes, questions := labelled(t)
	fused, plain := compareSearches(t, "labelled", notes, questions)
	if fused.at5 < plain.at5 || fused.at10 < plain.at10 {
		t.Errorf("search finds %+v, plain BM25 %+v", fused, plain)
	}
}

func compareSearches(t *testing.T, name string, notes map[string]string, questions []question) (fused, plain recall) {
	t.Helper()
	f := bridgetest.New(t, notes)
	x := semantic.New(f.Workspace, semantic.Options{})
	for _, q := range questions {
		a, err := x.Find(t.Context(), f.Workspace, semantic.Query{Text: q.query}, semantic.Place{}, 10)
		if err != nil {
			t.Fatal(err)
		}
		if len(a.Notes) == 0 {
			t.Errorf("%s: %q finds nothing", name, q.query)
		}
		var found []string
		for _, n := range a.Notes {
			found = append(found, string(n.Path))
		}
		bare := plainBM25(notes, q.query)
		t.Logf("%2d %2d %s => %s", fused.count(found, q.answers), plain.count(bare[:min(10, len(bare))], q.answers), q.query, q.answers)
	}
	t.Logf("%s: of %d questions in the first 5 and 10: search %d %d, plain BM25 %d %d",
		name, len(questions), fused.at5, fused.at10, plain.at5, plain.at10)
	return fused, plain
}
