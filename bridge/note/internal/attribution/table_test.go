package attribution

import (
	"runtime"
	"testing"
	"time"

	"github.com/relayfs/relayfs/bridge/model"
)

// replacements are the records of a note with n lines, in each of which an agent replaces a word.
func replacements(n int) []model.Record {
	const line, mark = 16, len("{--") + len("--}{++any++}") // the deleted word stays in its place
	write := model.Record{Seq: 2, Author: "agent", Time: time.Unix(1, 0), Client: 2, Len: uint64(n * mark)}
	for i := range uint64(n) {
		write.Marks = append(write.Marks, model.MadeMark{
			Add: []model.IDRun{{Client: 2, Clock: i*uint64(mark) + 9, Len: 3}}, Del: []model.IDRun{{Client: 1, Clock: i * line, Len: 4}},
		})
	}
	return []model.Record{{Seq: 1, Client: 1, Len: uint64(n * line)}, write}
}

// BenchmarkTable prints how much memory the table of ten thousand suggestions takes.
func BenchmarkTable(b *testing.B) {
	records := replacements(10_000)
	var before, after runtime.MemStats
	var t *Table
	for b.Loop() {
		runtime.GC()
		runtime.ReadMemStats(&before)
		t = NewTable(records)
		runtime.GC()
		runtime.ReadMemStats(&after)
	}
	size := float64(after.HeapAlloc) - float64(before.HeapAlloc)
	b.ReportMetric(size/10_000, "B/suggestion")
	b.ReportMetric(size/float64(t.facts.Size()), "B/range")
	b.ReportMetric(float64(t.Bytes())/size, "of-the-estimate")
}

// An undo makes the fact what it was before the decision, also of text that has moved since.
func TestUndoBringsBackTheFact(t *testing.T) {
	at := model.IDRun{Client: 1, Len: 4}
	table := NewTable(replacements(1))
	fact := func() Fact { return *table.At(at) }
	first := fact()
	decide := func(seq uint64, role model.Role) {
		table.Add(&model.Record{Seq: seq, Author: "person", Decision: &model.Decision{
			Verdict: model.Rejected, Items: []model.Decided{{ID: first.Dels[0].Of.ID}}, Marks: []model.DecidedMark{{}}, Runs: []model.DecidedRun{{At: at, Role: role}},
		}})
	}
	undo := func(seq, of uint64, role model.Role) {
		table.Add(&model.Record{Seq: seq, Author: "person", Decision: &model.Decision{
			Verdict: model.Undone, UndoesSeq: of, Items: []model.Decided{{ID: first.Dels[0].Of.ID}}, Again: []model.DecidedRun{{At: at, Role: role}},
		}})
	}
	decide(3, model.RejectedDeletion)
	if f := fact(); f.Dels[0].Status != Rejected || f.Dels[0].Of.Outcome == nil {
		t.Errorf("after the decision: %+v", f)
	}
	undo(4, 3, model.RejectedDeletion)
	if f := fact(); f.Dels[0].Status != Pending || f.Dels[0].Of != first.Dels[0].Of || f.Dels[0].Of.Outcome != nil {
		t.Errorf("after the undo: %+v, want %+v", f, first)
	}
	decide(5, model.AcceptedDeletion)
	moved := model.IDRun{Client: 3, Clock: 7, Len: 4}
	table.Add(&model.Record{Seq: 6, Returned: []model.Revival{{Old: at, New: moved}}})
	undo(7, 5, model.AcceptedDeletion)
	if f := table.At(moved); f.Pending(true) != first.Dels[0].Of {
		t.Errorf("what moved waits for %+v, want %+v", f, first)
	}
}
