package bridge_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/bridgetest"
	"github.com/relayfs/relayfs/bridge/model"
)

// BenchmarkManySuggestions prints how much longer it takes to list and to reject eight times
// as many suggestions of one note, of which one was rejected before.
func BenchmarkManySuggestions(b *testing.B) {
	listed := func(f *bridgetest.Fixture, n int) (ids []string) {
		got, err := f.Suggestions(b.Context(), plan)
		if err != nil || len(got) != n {
			b.Fatalf("%d suggestions, want %d, %v", len(got), n, err)
		}
		for _, s := range got {
			ids = append(ids, s.ID)
		}
		return ids
	}
	measure := func(n int) (list, reject time.Duration) {
		f := bridgetest.New(b, map[string]string{plan: strings.Repeat("some words here\n", n)})
		propose := func() {
			_, err := f.Update(b.Context(), plan, agent, nil, func(v *model.Version) (string, error) {
				return strings.ReplaceAll(v.Text(), "some", "any"), nil
			})
			if err != nil {
				b.Fatal(err)
			}
		}
		decide := func(ids []string) {
			if out, err := f.Decide(b.Context(), ids, model.Rejected, person); err != nil || len(out.Decided) != len(ids) {
				b.Fatalf("%d decided, want %d, %v", len(out.Decided), len(ids), err)
			}
		}
		propose()
		decide(listed(f, n)[:1])
		propose()
		start := time.Now()
		ids := listed(f, n)
		list, start = time.Since(start), time.Now()
		decide(ids)
		return list, time.Since(start)
	}
	for b.Loop() {
		fewList, fewReject := measure(2_000)
		manyList, manyReject := measure(16_000)
		b.ReportMetric(float64(manyList)/float64(fewList), "list-x-for-8x")
		b.ReportMetric(float64(manyReject)/float64(fewReject), "reject-x-for-8x")
	}
}

// BenchmarkManyComments prints how much longer it takes to accept eight times as many
// comments of one note, and to take that back.
func BenchmarkManyComments(b *testing.B) {
	accept := func(n int) time.Duration {
		f := bridgetest.New(b, map[string]string{plan: strings.Repeat("some words here\n", n)})
		_, err := f.Update(b.Context(), plan, agent, nil, func(v *model.Version) (string, error) {
			return strings.ReplaceAll(v.Text(), " here", "{>>where?<<} here"), nil
		})
		if err != nil {
			b.Fatal(err)
		}
		list, err := f.Suggestions(b.Context(), plan)
		if err != nil || len(list) != n {
			b.Fatalf("%d comments, %v", len(list), err)
		}
		var ids []string
		for _, s := range list {
			ids = append(ids, s.ID)
		}
		start := time.Now()
		if out, err := f.Decide(b.Context(), ids, model.Accepted, person); err != nil || len(out.Decided) != n {
			b.Fatalf("%d decided, %v", len(out.Decided), err)
		}
		if out, err := f.Undo(b.Context(), "", person); err != nil || len(out.Decided) != n {
			b.Fatalf("%d pending again, %v, %v", len(out.Decided), out.Failed, err)
		}
		return time.Since(start)
	}
	for b.Loop() {
		b.ReportMetric(float64(accept(16_000))/float64(accept(2_000)), "x-for-8x")
	}
}

// BenchmarkEachNotesSuggestions prints how much longer it takes to list the suggestions of
// eight times as many notes, one note at a time.
func BenchmarkEachNotesSuggestions(b *testing.B) {
	list := func(n int) time.Duration {
		notes := make(map[string]string, n)
		for i := range n {
			notes[fmt.Sprintf("Notes/%d.md", i)] = "some {--words--} here\n"
		}
		f := bridgetest.New(b, notes)
		if got, err := f.Suggestions(b.Context(), ""); err != nil || len(got) != n { // reads every note
			b.Fatalf("%d suggestions, %v", len(got), err)
		}
		start := time.Now()
		for p := range notes {
			if got, err := f.Suggestions(b.Context(), model.Path(p)); err != nil || len(got) != 1 {
				b.Fatalf("%d suggestions of %s, %v", len(got), p, err)
			}
		}
		return time.Since(start)
	}
	for b.Loop() {
		b.ReportMetric(float64(list(8_000))/float64(list(1_000)), "x-for-8x")
	}
}

// BenchmarkTenThousandSuggestions prints how long it takes to list the suggestions of a note that has ten thousand, to decide on one of
// them, and to take that back.
func BenchmarkTenThousandSuggestions(b *testing.B) {
	const n = 10_000
	f := bridgetest.New(b, map[string]string{plan: strings.Repeat("some words here\n", n)})
	_, err := f.Update(b.Context(), plan, agent, nil, func(v *model.Version) (string, error) {
		return strings.ReplaceAll(v.Text(), "some", "any"), nil
	})
	if err != nil {
		b.Fatal(err)
	}
	var list, decide, undo time.Duration
	for i := 0; b.Loop(); i++ {
		start := time.Now()
		_, got, _, err := f.OpenMarked(b.Context(), plan)
		if err != nil || len(got) != n {
			b.Fatalf("%d suggestions, %v", len(got), err)
		}
		list += time.Since(start)
		start = time.Now()
		out, err := f.Decide(b.Context(), []string{got[i*7919%n].ID}, model.Accepted, person)
		if err != nil || len(out.Decided) != 1 {
			b.Fatal(out, err)
		}
		decide += time.Since(start)
		start = time.Now()
		if out, err := f.Undo(b.Context(), out.Batch, person); err != nil || len(out.Decided) != 1 {
			b.Fatal(out, err)
		}
		undo += time.Since(start)
	}
	for what, took := range map[string]time.Duration{"list": list, "decide": decide, "undo": undo} {
		b.ReportMetric(float64(took.Microseconds())/1000/float64(b.N), "ms-to-"+what)
	}
}

// BenchmarkUndoInALongJournal prints how much longer it takes to undo the newest decision after eight times as many decisions, of
// which the checkpoint has half.
func BenchmarkUndoInALongJournal(b *testing.B) {
	undo := func(n int) (took time.Duration) {
		s := bridgetest.NewStore(b)
		f := bridgetest.New(b, map[string]string{plan: "some {--words--} here\n"}, func(o *bridge.Options) { o.Roots[0].Store = s })
		addDecisions(b, s, n/2)
		if err := s.Checkpoint(); err != nil {
			b.Fatal(err)
		}
		addDecisions(b, s, n/2)
		const times = 20
		for range times {
			list, err := f.Suggestions(b.Context(), plan)
			if err != nil || len(list) != 1 {
				b.Fatal(list, err)
			}
			decided, err := f.Decide(b.Context(), []string{list[0].ID}, model.Accepted, person)
			if err != nil || len(decided.Decided) != 1 {
				b.Fatal(decided, err)
			}
			start := time.Now()
			if out, err := f.Undo(b.Context(), decided.Batch, person); err != nil || len(out.Decided) != 1 {
				b.Fatal(out, err)
			}
			took += time.Since(start)
		}
		return took / times
	}
	for b.Loop() {
		few, many := undo(1_000), undo(8_000)
		b.ReportMetric(float64(few.Microseconds())/1000, "ms-after-1000")
		b.ReportMetric(float64(many)/float64(few), "x-for-8x")
	}
}
