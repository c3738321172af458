package attribution

import (
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/ycrdt"
)

// Size is how much it knows.
func (l *Ledger) Size() (n int) {
	if l == nil {
		return 0
	}
	for _, list := range l.wrote {
		n += len(list)
	}
	for _, x := range []Ranges[*MadeMark]{l.adds, l.dels} {
		for _, list := range x {
			n += len(list)
		}
	}
	return n
}

// Prune forgets what is known of text that is gone for good: a note that is written for
// weeks takes no more memory than it has text.
func (l *Ledger) Prune(runs []ycrdt.Run) {
	left := NewLedger(nil)
	left.UpTo, left.first, left.alias = l.UpTo, l.first, l.alias
	for _, run := range runs {
		r := model.IDRun{Client: uint64(run.ID.Client), Clock: run.ID.Clock, Len: uint64(run.Len)}
		l.wrote.Each(r, func(part model.IDRun, s *stroke, ok bool) {
			if ok {
				left.wrote.Set(part, s)
			}
		})
		l.adds.Each(r, func(part model.IDRun, m *MadeMark, ok bool) {
			if ok {
				left.adds.Set(part, m)
				left.ByID[m.id] = m
			}
		})
		l.dels.Each(r, func(part model.IDRun, m *MadeMark, ok bool) {
			if ok {
				left.dels.Set(part, m)
				left.ByID[m.id] = m
			}
		})
	}
	*l = *left
}

// GrownFrom says whether it is time to look at what of it is of no use any more.
func (l *Ledger) GrownFrom(had int) bool { return l.Size()/minLedger > had/minLedger }

// minLedger is how much a ledger may know before it is worth a look at what of it is of
// no use any more.
const minLedger = 1024
