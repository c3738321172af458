package attribution

import (
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/ycrdt"
)

// What an undo brings back has new identities in the document. It is the text that it was
// all the same: who read it before it went has read it.

// addRevived notes which identities a decision has given to text that had others.
func (l *Ledger) addRevived(d *model.Decision) {
	for _, r := range d.Revived {
		done := uint64(0)
		for _, first := range l.firsts(r.Old) {
			l.alias.Set(r.New.Part(done, first.Len), model.IDRun{Client: first.Client, Clock: first.Clock - (r.New.Clock + done)})
			done += first.Len
		}
	}
}

// HasRevived says whether an undo has brought text back.
func (l *Ledger) HasRevived() bool { return len(l.alias) > 0 }

// firsts are the first identities that the characters had.
func (l *Ledger) firsts(r model.IDRun) (list []model.IDRun) {
	l.alias.Each(r, func(part model.IDRun, first model.IDRun, ok bool) {
		if ok {
			part.Client, part.Clock = first.Client, part.Clock+first.Clock // Clock is the difference
		}
		list = append(list, part)
	})
	return list
}

// FirstRuns are the first identities of a text.
func (l *Ledger) FirstRuns(runs []ycrdt.Run) []ycrdt.Run {
	if len(l.alias) == 0 {
		return runs
	}
	out := make([]ycrdt.Run, 0, len(runs))
	for _, run := range runs {
		for _, r := range l.firsts(model.IDRun{Client: uint64(run.ID.Client), Clock: run.ID.Clock, Len: uint64(run.Len)}) {
			out = append(out, ycrdt.Run{ID: ycrdt.ID{Client: ycrdt.ClientID(r.Client), Clock: r.Clock}, Len: int(r.Len)})
		}
	}
	return out
}
