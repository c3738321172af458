package bridge

import "github.com/relayfs/relayfs/bridge/ycrdt"

// What an undo brings back has new identities in the document. It is the text that it was
// all the same: who read it before it went has read it.

// addRevived notes which identities a decision has given to text that had others.
func (l *ledger) addRevived(d *Decision) {
	for _, r := range d.Revived {
		done := uint64(0)
		for _, first := range l.firsts(r.Old) {
			l.alias.set(r.New.part(done, first.Len), IDRun{Client: first.Client, Clock: first.Clock - (r.New.Clock + done)})
			done += first.Len
		}
	}
}

// hasRevived says whether an undo has brought text back.
func (l *ledger) hasRevived() bool { return len(l.alias) > 0 }

// firsts are the first identities that the characters had.
func (l *ledger) firsts(r IDRun) (list []IDRun) {
	l.alias.each(r, func(part IDRun, first IDRun, ok bool) {
		if ok {
			part.Client, part.Clock = first.Client, part.Clock+first.Clock // Clock is the difference
		}
		list = append(list, part)
	})
	return list
}

// firstRuns are the first identities of a text.
func (l *ledger) firstRuns(runs []ycrdt.Run) []ycrdt.Run {
	if len(l.alias) == 0 {
		return runs
	}
	out := make([]ycrdt.Run, 0, len(runs))
	for _, run := range runs {
		for _, r := range l.firsts(IDRun{uint64(run.ID.Client), run.ID.Clock, uint64(run.Len)}) {
			out = append(out, ycrdt.Run{ID: ycrdt.ID{Client: ycrdt.ClientID(r.Client), Clock: r.Clock}, Len: int(r.Len)})
		}
	}
	return out
}
