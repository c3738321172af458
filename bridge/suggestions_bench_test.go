package bridge_test

import (
	"strings"
	"testing"
	"time"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/bridgetest"
)

// BenchmarkManySuggestions prints how much longer it takes to list eight times as
// many suggestions of one note.
func BenchmarkManySuggestions(b *testing.B) {
	list := func(n int) time.Duration {
		f := bridgetest.New(b, map[string]string{plan: strings.Repeat("some words here\n", n)})
		_, err := f.Update(b.Context(), plan, agent, nil, func(v *bridge.Version) (string, error) {
			return strings.ReplaceAll(v.Text(), "some", "any"), nil
		})
		if err != nil {
			b.Fatal(err)
		}
		start := time.Now()
		if got, err := f.Suggestions(b.Context(), plan); err != nil || len(got) != n {
			b.Fatalf("%d suggestions, %v", len(got), err)
		}
		return time.Since(start)
	}
	for b.Loop() {
		b.ReportMetric(float64(list(16_000))/float64(list(2_000)), "x-for-8x")
	}
}
