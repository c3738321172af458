package semantic_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/relayfs/relayfs/bridge/bridgetest"
	"github.com/relayfs/relayfs/bridge/index/semantic"
)

// BenchmarkSearch prints what the first search of 2,000 notes of 4 KB costs, which
// embeds them, and the median of those after it.
func BenchmarkSearch(b *testing.B) {
	labelled, questions := labelled(b)
	texts := slices.Sorted(maps.Values(labelled))
	r := rand.New(rand.NewPCG(1, 1))
	notes := make(map[string]string)
	for i := range 2000 {
		var t strings.Builder
		for t.Len() < 4096 {
			t.WriteString(texts[r.IntN(len(texts))] + "\n")
		}
		notes[fmt.Sprintf("Vault/%04d.md", i)] = t.String()
	}
	f := bridgetest.New(b, notes)
	x := semantic.New(f.Workspace, semantic.Options{})
	start := time.Now()
	if _, err := x.Search(b.Context(), "bread", nil, 10); err != nil {
		b.Fatal(err)
	}
	first := time.Since(start)
	var took []time.Duration
	for i := 0; b.Loop(); i++ {
		start := time.Now()
		if _, err := x.Search(b.Context(), questions[i%len(questions)].query, nil, 10); err != nil {
			b.Fatal(err)
		}
		took = append(took, time.Since(start))
	}
	slices.Sort(took)
	b.ReportMetric(first.Seconds(), "first-s")
	b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-µs")
}
