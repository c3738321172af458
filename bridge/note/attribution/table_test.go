package attribution

import (
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/ycrdt"
	"github.com/relayfs/relayfs/diffwrap"
)

// replacements are the records of a note with n lines, in each of which an agent replaces a word.
func replacements(n int) []model.Record {
	const line, mark = 16, len("{--") + len("--}{++any++}") // the deleted word stays in its place
	write := model.Record{Seq: 2, Author: "agent", Time: time.Unix(1, 0), Client: 2, Len: uint64(n * mark)}
	for i := range uint64(n) {
		write.Marks = append(write.Marks, model.MarkRecord{
			Add: []model.IDRange{{Client: 2, Clock: i*uint64(mark) + 9, Len: 3}}, Del: []model.IDRange{{Client: 1, Clock: i * line, Len: 4}},
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

// A coarse clock can give several writes one time. Writes that insert nothing, such as those by which another session
// shortens suggestions, do not advance the CRDT clock either. Each write still makes suggestions of its own.
func TestWritesAtOneTimeMakeDifferentSuggestions(t *testing.T) {
	records := replacements(2)
	before := NewTable(records)
	write := model.Record{Author: "agent", Session: "b", Time: time.Unix(2, 0), Client: 2, Clock: records[1].Len}
	for i, m := range records[1].Marks { // each keeps a character of what it inserts
		rest := m.Add[0].Part(0, 1)
		write.Seq++
		write.Marks = []model.MarkRecord{{Add: []model.IDRange{rest}, Del: m.Del, Replaces: []string{before.At(rest).Ins.Of.ID}}}
		records = append(records, write)
		if i == 1 {
			write.Seq, write.Len = write.Seq+1, 9
			write.Marks = []model.MarkRecord{{Add: []model.IDRange{{Client: 2, Clock: write.Clock + 3, Len: 3}}}}
			records = append(records, write)
		}
	}
	table := NewTable(records)
	seen := make(map[string]bool)
	for _, rec := range records[2:] {
		s := table.At(rec.Marks[0].Add[0]).Ins.Of
		if seen[s.ID] || table.byID[s.ID] != s {
			t.Errorf("the suggestion %s of record %d has the ID of another one", s.ID, rec.Seq)
		}
		seen[s.ID] = true
	}
}

// An undo makes the fact what it was before the decision, also of text that has moved since.
func TestUndoBringsBackTheFact(t *testing.T) {
	at := model.IDRange{Client: 1, Len: 4}
	table := NewTable(replacements(1))
	fact := func() Fact { return *table.At(at) }
	first := fact()
	decide := func(seq uint64, role model.Role) {
		table.Add(&model.Record{Seq: seq, Author: "person", Decision: &model.Decision{
			Verdict: model.Rejected, Items: []model.DecidedItem{{ID: first.Dels[0].Of.ID}}, Marks: []model.DecidedMark{{}}, Runs: []model.DecidedRun{{At: at, Role: role}},
		}})
	}
	undo := func(seq, of uint64, role model.Role) {
		table.Add(&model.Record{Seq: seq, Author: "person", Decision: &model.Decision{
			Verdict: model.Undone, UndoesSeq: of, Items: []model.DecidedItem{{ID: first.Dels[0].Of.ID}}, Again: []model.DecidedRun{{At: at, Role: role}},
		}})
	}
	decide(3, model.RoleDeletionRejected)
	if f := fact(); f.Dels[0].Status != Rejected || f.Dels[0].Of.Outcome == nil {
		t.Errorf("after the decision: %+v", f)
	}
	undo(4, 3, model.RoleDeletionRejected)
	if f := fact(); f.Dels[0].Status != Pending || f.Dels[0].Of != first.Dels[0].Of || f.Dels[0].Of.Outcome != nil {
		t.Errorf("after the undo: %+v, want %+v", f, first)
	}
	decide(5, model.RoleDeletionAccepted)
	moved := model.IDRange{Client: 3, Clock: 7, Len: 4}
	table.Add(&model.Record{Seq: 6, Remaps: []model.IDRemap{{Old: at, New: moved}}})
	undo(7, 5, model.RoleDeletionAccepted)
	if f := table.At(moved); f.Pending(true) != first.Dels[0].Of {
		t.Errorf("what moved waits for %+v, want %+v", f, first)
	}
}

// What a person typed in a mark is taken out of it, and nothing else changes.
func TestTypedTextStandsApart(t *testing.T) {
	const typed = "HUM"
	for raw, want := range map[string]string{
		"a{++bHUMc++}d":                      "a{++b++}HUM{++c++}d",
		"a{--HUMc--}d":                       "aHUM{--c--}d",
		"a{--cHUM--}d":                       "a{--c--}HUMd",
		"a{--HUM--}d":                        "aHUMd",
		`{++{"author":"A"}@@bHUMc++}`:        `{++{"author":"A"}@@b++}HUM{++{"author":"A"}@@c++}`,
		"a{++++}b":                           "ab",
		"a{==x{++bHUM++}y==}":                "a{==x{++b++}HUMy==}",
		"{--HUMa--}{--HUM--}{++bHUM++} HUM.": "HUM{--a--}HUM{++b++}HUM HUM.",
	} {
		agent := &Writer{author: "agent", agent: true}
		of := &Suggestion{ID: "1", Writer: agent}
		facts := make([]*Fact, len(raw))
		_, text, _ := diffwrap.Everything.Layout(raw)
		for i := range facts {
			facts[i] = &Fact{By: agent, Syntax: true}
		}
		for _, c := range text {
			for i := c.Start; i < c.End; i++ {
				if facts[i] = new(Fact); c.Added {
					facts[i] = &Fact{By: agent, Ins: Atom{Of: of}}
				} else if c.Deleted {
					facts[i] = &Fact{Dels: []Atom{{Of: of}}}
				}
			}
		}
		for i := 0; i+len(typed) <= len(raw); i++ {
			if raw[i:i+len(typed)] == typed {
				facts[i], facts[i+1], facts[i+2] = new(Fact), new(Fact), new(Fact)
			}
		}
		runs := make([]ycrdt.Run, len(raw))
		for i := range runs {
			runs[i].Len = 1
		}
		u := UnitsOf(raw, runs)
		u.facts = facts
		edits, _ := NewTable(replacements(1)).CanonicalEdits(Known(u), u)
		if got := diffwrap.Apply(raw, edits); got != want {
			t.Errorf("%q: %q, want %q", raw, got, want)
		}
	}
}

// One mount changes a suggestion twice while another one rejects it: nothing of it is pending, or text, in whichever order
// the records are read.
func TestRejectedBeforeItsLastChangeWasKnown(t *testing.T) {
	at, added, again := model.IDRange{Client: 1, Len: 4}, model.IDRange{Client: 3, Len: 2}, model.IDRange{Client: 3, Clock: 2, Len: 2}
	change := func(seq uint64, of string, to model.IDRange) *model.Record {
		return &model.Record{Seq: seq, Author: "agent", Client: 3, Clock: to.Clock, Len: 2, Marks: []model.MarkRecord{{Replaces: []string{of}, Add: []model.IDRange{to}, Del: []model.IDRange{at}}}}
	}
	table := NewTable(replacements(1))
	old := table.At(at).Dels[0].Of.ID
	first := change(3, old, added)
	table.Add(first)
	second := change(4, table.At(added).Ins.Of.ID, again)
	rejection := &model.Record{Seq: 5, Author: "person", Decision: &model.Decision{
		Verdict: model.Rejected, Items: []model.DecidedItem{{ID: old}}, Marks: []model.DecidedMark{{}}, Runs: []model.DecidedRun{{At: at, Role: model.RoleDeletionRejected}},
	}}
	for i, records := range [][]*model.Record{{rejection, first, second}, {first, rejection, second}, {first, second, rejection}} {
		table := NewTable(replacements(1))
		for _, rec := range records {
			table.Add(rec)
		}
		for _, r := range []model.IDRange{added, again} {
			if text, deleted := table.At(r), table.At(at); !text.IsDecidedAway() || text.Pending(false) != nil || deleted.Pending(true) != nil {
				t.Errorf("order %d: what was added is %+v, what was deleted %+v", i, text, deleted)
			}
		}
	}
}

// One mount adds a letter to a suggestion while another replaces it, delimiters included. The letter stays pending, and gets
// delimiters, whether the writes keep the suggestion's ID or not, and in whichever order they are read.
func TestTwoMountsWriteOneSuggestion(t *testing.T) {
	old, letter, other := model.IDRange{Client: 2, Clock: 3, Len: 3}, model.IDRange{Client: 3, Len: 1}, model.IDRange{Client: 4, Clock: 3, Len: 3}
	start := []model.Record{{Seq: 1, Client: 1, Len: 4}, {Seq: 2, Author: "agent", Client: 2, Len: 9, Marks: []model.MarkRecord{{Add: []model.IDRange{old}}}}}
	id := NewTable(start).At(old).Ins.Of.ID
	const raw = "x{++abd++}user"
	runs := []ycrdt.Run{letter.Run(), {ID: ycrdt.ID{Client: 4}, Len: 9}, {ID: ycrdt.ID{Client: 1}, Len: 4}}
	for order := range 2 {
		for keeps := range 4 {
			mark := func(keep bool, add ...model.IDRange) []model.MarkRecord {
				if keep {
					return []model.MarkRecord{{ID: id, Author: "agent", Replaces: []string{id}, Add: add}}
				}
				return []model.MarkRecord{{Replaces: []string{id}, Add: add}}
			}
			writes := []model.Record{
				{Seq: 3, Author: "agent", Client: 3, Len: 1, Marks: mark(keeps&1 == 0, letter, old)},
				{Seq: 4, Author: "agent", Client: 4, Len: 9, Marks: mark(keeps&2 == 0, other)},
			}
			if order == 1 {
				slices.Reverse(writes)
			}
			table := NewTable(append(slices.Clone(start), writes...))
			u := table.UnitsOf(raw, runs)
			if got, want := diffwrap.Apply(raw, table.Corrected(u, Known(u))), "{++x++}{++abd++}user"; got != want {
				t.Errorf("order %d, IDs kept %02b: %q, want %q", order, keeps, got, want)
			}
		}
	}
}

// A decision on text that two suggestions delete decides on both. Its undo makes both pending again, so a rejection of the
// one that was not in the list is about its text, and not about what an earlier write made from the rest of it.
func TestASuggestionBelowAnotherIsPendingAgain(t *testing.T) {
	at, rest := model.IDRange{Client: 1, Len: 2}, model.IDRange{Client: 1, Clock: 2, Len: 2}
	table := NewTable(replacements(1))
	below := table.At(at).Dels[0].Of
	add := func(seq uint64, d *model.Decision, marks ...model.MarkRecord) {
		table.Add(&model.Record{Seq: seq, Author: "agent", Client: seq, Len: 9, Time: time.Unix(int64(seq), 0), Marks: marks, Decision: d})
	}
	decision := func(verdict model.Verdict, of *Suggestion, role model.Role) *model.Decision {
		return &model.Decision{Verdict: verdict, Items: []model.DecidedItem{{ID: of.ID}}, Marks: []model.DecidedMark{{}}, Runs: []model.DecidedRun{{At: at, Role: role}}}
	}
	add(3, nil, model.MarkRecord{Del: []model.IDRange{at}})
	top := table.At(at).Pending(true)
	table.update([]model.IDRange{at}, func(f Fact) Fact { // as after an undo of a decision on the one below
		f.Dels = []Atom{{Of: below}, {Of: top}}
		return f
	})
	add(4, decision(model.Accepted, top, model.RoleDeletionAccepted))
	add(5, nil, model.MarkRecord{Del: []model.IDRange{rest}, Replaces: []string{below.ID}})
	undo := decision(model.Undone, top, model.RoleDeletionAccepted)
	undo.Runs, undo.Again, undo.UndoesSeq = nil, undo.Runs, 4
	add(6, undo)
	if f := table.At(at); len(f.Dels) != 2 || f.Dels[0].Status != Pending || f.Dels[1].Status != Pending {
		t.Fatalf("after the undo: %+v", f)
	}
	add(7, decision(model.Rejected, below, model.RoleDeletionRejected))
	if table.At(rest).Pending(true) == nil {
		t.Error("the suggestion made from the rest of the text was rejected, too")
	}
}

// A record has the suggestions whose delimiters it wrote again as they were before it. Text that it took out of its marks,
// or that it decided, is not pending after it.
func TestRecordedBeforeTheChange(t *testing.T) {
	at := []model.IDRange{{Client: 1, Len: 2}}
	for name, change := range map[string]model.Record{
		"write":    {Author: "agent", Plain: at},
		"decision": {Decision: &model.Decision{Verdict: model.Rejected, Marks: []model.DecidedMark{{}}, Runs: []model.DecidedRun{{At: at[0], Role: model.RoleDeletionRejected}}}},
	} {
		table := NewTable([]model.Record{{Seq: 1, Client: 1, Len: 4}, {Seq: 2, Author: "agent", Client: 2, Len: 6, Marks: []model.MarkRecord{{Del: at}}}})
		id := table.At(at[0]).Pending(true).ID
		change.Seq, change.Client, change.Len, change.Marks = 3, 3, 1, []model.MarkRecord{{ID: id, Author: "agent", Del: at}}
		if d := change.Decision; d != nil {
			d.Items = []model.DecidedItem{{ID: id, Author: "agent"}}
		}
		if table.Add(&change); table.At(at[0]).IsPending() {
			t.Errorf("%s: %+v is pending", name, table.At(at[0]).Dels)
		}
	}
}

// A brace of a delimiter of which the rest is gone is taken out, and what else looks so stays.
func TestStrays(t *testing.T) {
	table := NewTable([]model.Record{{Seq: 1, Client: 1, Len: 100}, {Seq: 2, Author: "agent", Client: 2, Len: 1}, {
		Seq: 3, Author: "agent", Client: 3, Len: 7, Marks: []model.MarkRecord{{Add: []model.IDRange{{Client: 3, Clock: 3, Len: 1}}}},
	}})
	const raw = "a{b{ {++-++}"
	u := table.UnitsOf(raw, []ycrdt.Run{{ID: ycrdt.ID{Client: 1}, Len: 3}, {ID: ycrdt.ID{Client: 2}, Len: 1}, {ID: ycrdt.ID{Client: 1, Clock: 3}, Len: 1}, {ID: ycrdt.ID{Client: 3}, Len: 7}})
	if got := diffwrap.Apply(raw, table.Corrected(u, Known(u))); got != "a{b {++-++}" {
		t.Errorf("%q becomes %q", raw, got)
	}
}

// Where delimiters of agents and the facts differ, the facts count, except for pending text without delimiters.
func TestMarksFollowTheFacts(t *testing.T) {
	agent := &Writer{author: "agent", agent: true}
	suggestion := func(id string) Atom {
		return Atom{Of: &Suggestion{ID: id, Writer: agent, add: []model.IDRange{{Client: 1, Len: 20}}}}
	}
	of := suggestion("1")
	facts := map[byte]*Fact{
		's': {By: agent, Syntax: true},
		'+': {By: agent, Ins: of},
		'-': {Dels: []Atom{of}},
		'2': {By: agent, Ins: suggestion("2")},
		'c': {By: agent, Syntax: true, Dels: []Atom{of}}, // of a comment
		'.': new(Fact),
	}
	for _, tt := range []struct{ raw, facts, want string }{
		{"{--ab--}c", "sss--sss.", "{--ab--}c"},
		{"{--ab c", "sss--..", "{--ab--} c"},
		{"ab cd--}e", "--.--sss.", "ab {--cd--}e"},
		{"--}{++a++}--}", "ssssss+ssssss", "{++a++}"},
		{"{--abc--}", "sss-+-sss", "{--a--}{++b++}{--c--}"},
		{"{--{--a--}--}", "ssssss-ssssss", "{--a--}"},
		{"{--a--}bc", "sss-sss-.", "{--a--}bc"},
		{"{++a++}b c", "sss+sss-..", "{++a++}b c"},
		{"a {--b--}", "-.sss-sss", "a {--b--}"},
		{"{++abc++}", "sss+2+sss", "{++a++}{++b++}{++c++}"},
		{"{--{>--}{-->c<<}--}", "ssscc" + "ssssss" + "ccccc" + "sss", "{--{>--}{-->c<<}--}"},
		{"{++{--{>>c<<}--}a++}", "ssssss" + "ccccccc" + "sss+sss", "{--{>>c<<}--}{++a++}"},
	} {
		u := UnitsOf(tt.raw, make([]ycrdt.Run, len(tt.raw)))
		for i := range tt.raw {
			u.Runs[i], u.starts[i] = ycrdt.Run{ID: ycrdt.ID{Client: 1, Clock: uint64(i)}, Len: 1}, i
			u.facts = append(u.facts, facts[tt.facts[i]])
		}
		if got := diffwrap.Apply(tt.raw, NewTable(nil).Corrected(u, Known(u))); got != tt.want {
			t.Errorf("%q with %q: %q, want %q", tt.raw, tt.facts, got, tt.want)
		}
	}
}
