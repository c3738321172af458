package attribution

import (
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/ycrdt"
)

// What an undo brings back has new identities in the document. It is the text that it was
// all the same: who read it before it went has read it.

// origin tells of later identities which the first ones are, and since which record.
type origin struct{ client, shift, since uint64 }

// addRevived notes which identities a decision has given to text that had others.
func (l *Ledger) addRevived(rec *model.Record) {
	for _, r := range rec.Decision.Revived {
		done := uint64(0)
		for _, first := range l.Firsts(r.Old) {
			l.alias.Set(r.New.Part(done, first.Len), origin{first.Client, first.Clock - (r.New.Clock + done), rec.Seq})
			done += first.Len
		}
	}
}

// HasRevived says whether an undo has brought text back.
func (l *Ledger) HasRevived() bool { return len(l.alias) > 0 }

// EachFirst calls f for the parts of r, with the first identities that the characters had
// and the number of the record that gave them those of r, 0 for none.
func (l *Ledger) EachFirst(r model.IDRun, f func(part, first model.IDRun, since uint64)) {
	l.alias.Each(r, func(part model.IDRun, from origin, ok bool) {
		first := part
		if ok {
			first.Client, first.Clock = from.client, part.Clock+from.shift
		}
		f(part, first, from.since)
	})
}

// Firsts are the first identities that the characters had.
func (l *Ledger) Firsts(r model.IDRun) (list []model.IDRun) {
	l.EachFirst(r, func(_, first model.IDRun, _ uint64) { list = append(list, first) })
	return list
}

// FirstRuns are the first identities of a text.
func (l *Ledger) FirstRuns(runs []ycrdt.Run) []ycrdt.Run {
	if len(l.alias) == 0 {
		return runs
	}
	out := make([]ycrdt.Run, 0, len(runs))
	for _, run := range runs {
		for _, r := range l.Firsts(model.RunOf(run)) {
			out = append(out, r.Run())
		}
	}
	return out
}
