package lexical_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/relayfs/relayfs/bridge/index/semantic/internal/lexical"
	"github.com/relayfs/relayfs/tests/randomtest"
)

func keys(x *lexical.Index, query string) string {
	var list []string
	for _, h := range x.Search(x.Query(query), nil, 10) {
		list = append(list, h.Key)
	}
	return strings.Join(list, " ")
}

func TestSearch(t *testing.T) {
	x := lexical.New()
	x.Apply([]lexical.Document{
		{Key: "slugs", Title: "Slugs", Body: "They come out at night and eat lettuce in the garden."},
		{Key: "salad", Body: "Lettuce and radishes with a dressing for the garden party."},
		{Key: "tools", Tags: "garden/tools", Body: "Sharpened before the spring."},
		{Key: "schlauch", Title: "Garten", Body: "Der Gartenschlauch ist undicht, und die Häuser sind nass."},
		{Key: "hose", Body: "Ein Schlauch für das Fahrrad und die Pumpe."},
		{Key: "suppe", Body: "味噌汁は豆腐とわかめを入れて作る"},
		{Key: "cafe", Body: "Le café est dans la rue des Écoles."},
	}, nil)
	for query, want := range map[string]string{
		"slugs":                "slugs",
		"slug at night":        "slugs",
		"letuce":               "slugs salad", // one slip
		"lettcue":              "slugs salad",
		"the garden":           "tools slugs salad", // a tag before a body
		"Schlauch flicken":     "hose schlauch",
		"Haus":                 "schlauch",
		"Fahrradschlauch":      "hose",
		"味噌":                   "suppe",
		"豆":                    "suppe",
		"cafe ecole":           "cafe",
		"dress":                "salad",
		"xyzzy":                "",
		"the of":               "",
		"radish slugs lettuce": "slugs salad",
	} {
		if got := keys(x, query); got != want {
			t.Errorf("%q finds %q, want %q", query, got, want)
		}
	}
	q := x.Query("letuce in Timbuktu")
	if got := fmt.Sprint(q.Words(), q.Unknown()); got != "[letuce Timbuktu] [letuce Timbuktu]" {
		t.Errorf("words and unknown ones are %s", got)
	}
}

func TestSearchKeeps(t *testing.T) {
	x := lexical.New()
	for i := range 30 {
		x.Apply([]lexical.Document{{Key: fmt.Sprintf("%02d", i), Body: "bread " + strings.Repeat("and more words ", i)}}, nil)
	}
	hits := x.Search(x.Query("bread"), func(key string) bool { return key >= "10" }, 3)
	if len(hits) != 3 || hits[0].Key != "10" || hits[1].Key != "11" || hits[2].Key != "12" {
		t.Errorf("found %v", hits)
	}
}

// An index that followed many changes finds what one finds that was made of the documents as they are.
func TestChangesAreAsNew(t *testing.T) { randomtest.Check(t, 10, changesAreAsNew) }

func changesAreAsNew(t testing.TB, r *rand.Rand) {
	words := strings.Fields("apple apples river rivers stone bread butter Haus Häuser garden gardening gartenhaus 豆腐 味噌汁 night knight")
	text := func() string {
		var b strings.Builder
		for range 1 + r.IntN(8) {
			b.WriteString(words[r.IntN(len(words))] + " ")
		}
		return b.String()
	}
	x, now := lexical.New(), make(map[string]lexical.Document)
	for range r.IntN(600) {
		var docs []lexical.Document
		var deleted []string
		for range r.IntN(4) {
			d := lexical.Document{Key: fmt.Sprint(r.IntN(80)), Title: text(), Tags: text(), Body: text()}
			if !slices.ContainsFunc(docs, func(e lexical.Document) bool { return e.Key == d.Key }) {
				docs, now[d.Key] = append(docs, d), d
			}
		}
		if key := fmt.Sprint(r.IntN(80)); r.IntN(3) == 0 && !slices.ContainsFunc(docs, func(e lexical.Document) bool { return e.Key == key }) {
			deleted = append(deleted, key)
			delete(now, key)
		}
		x.Apply(docs, deleted)
	}
	fresh := lexical.New()
	for _, d := range now {
		fresh.Apply([]lexical.Document{d}, nil)
	}
	for _, query := range words {
		got, want := x.Search(x.Query(query), nil, 100), fresh.Search(fresh.Query(query), nil, 100)
		if len(got) != len(want) {
			t.Fatalf("%q: %d hits, want %d", query, len(got), len(want))
		}
		scores := make(map[string]float64)
		for _, h := range want {
			scores[h.Key] = h.Score
		}
		for _, h := range got {
			if math.Abs(h.Score-scores[h.Key]) > 1e-4*scores[h.Key] {
				t.Errorf("%q: %s has the score %.2f, want %.2f", query, h.Key, h.Score, scores[h.Key])
			}
		}
	}
}
