package semantic_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/relayfs/relayfs/bridge/bridgetest"
	"github.com/relayfs/relayfs/bridge/index/semantic"
	"github.com/relayfs/relayfs/bridge/index/semantic/internal/lexical"
)

// termsOf returns the terms of an English text.
func termsOf(text string) []string {
	var list []string
	new(lexical.Stemmer).Each(text, lexical.English, func(term string) { list = append(list, term) })
	return list
}

// question is one about a set of notes.
type question struct {
	query   string
	answers []string // any of these notes will do
}

// labelled reads the notes of testdata and the questions about them.
func labelled(t testing.TB) (notes map[string]string, questions []question) {
	t.Helper()
	notes = make(map[string]string)
	files, err := filepath.Glob("testdata/labelled-*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range archive.Files {
			notes["Vault/"+f.Name] = string(f.Data)
		}
	}
	data, err := os.ReadFile("testdata/queries.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		query, answer, ok := strings.Cut(strings.TrimSpace(line), " => ")
		if !ok || strings.HasPrefix(line, "#") {
			continue
		}
		q := question{query, []string{"Vault/" + answer + ".md"}}
		if _, ok := notes[q.answers[0]]; !ok {
			t.Errorf("there is no note %s", q.answers[0])
		}
		questions = append(questions, q)
	}
	return notes, questions
}

// The labelled set is what it says: many notes on many subjects, and questions
// that have no word in common with the title of the note that answers them.
func TestLabelledSet(t *testing.T) {
	notes, questions := labelled(t)
	subjects := make(map[string]bool)
	for p := range notes {
		subjects[strings.Split(p, "/")[1]] = true
	}
	if len(notes) < 200 || len(subjects) < 20 || len(questions) < 60 {
		t.Errorf("%d notes on %d subjects with %d questions", len(notes), len(subjects), len(questions))
	}
	for _, q := range questions {
		title := make(map[string]bool)
		for _, term := range termsOf(strings.TrimSuffix(filepath.Base(q.answers[0]), ".md")) {
			title[term] = true
		}
		for _, term := range termsOf(q.query) {
			if title[term] {
				t.Errorf("%q has %q of the title %s", q.query, term, q.answers[0])
			}
		}
	}
}

// The note that answers a question is among the first ten at least four times
// in five. (mcpserver compares that with text_search.)
func TestRecall(t *testing.T) {
	notes, questions := labelled(t)
	f := bridgetest.New(t, notes)
	x := semantic.New(f.Workspace, semantic.Options{})
	found := 0
	for _, q := range questions {
		hits, err := x.Search(t.Context(), q.query, nil, 10)
		if err != nil {
			t.Fatal(err)
		}
		place := 0
		for i, h := range hits {
			if h.Score < 0 || h.Score > 1 || i > 0 && h.Score > hits[i-1].Score || h.Start == h.End {
				t.Errorf("%q: hit %d is %+v", q.query, i, h)
			}
			if string(h.Path) == q.answers[0] {
				place = i + 1
			}
		}
		if place > 0 {
			found++
		}
		t.Logf("%2d %s => %s", place, q.query, q.answers[0])
	}
	if recall := float64(found) / float64(len(questions)); recall < 0.8 {
		t.Errorf("recall at 10 is %.2f, want 0.80", recall)
	}
}
