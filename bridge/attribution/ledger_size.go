package attribution

import (
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/ycrdt"
)

// Size is how much it knows.
func (l *Ledger) Size() int {
	if l == nil {
		return 0
	}
	return l.wrote.size() + l.adds.size() + l.dels.size()
}

// Prune forgets what is known of text that is gone for good: a note that is written for
// weeks takes no more memory than it has text.
func (l *Ledger) Prune(runs []ycrdt.Run) {
	left := NewLedger(nil)
	left.UpTo, left.first, left.alias = l.UpTo, l.first, l.alias
	for _, run := range runs {
		r := model.RunOf(run)
		l.wrote.Each(r, func(part model.IDRun, s *stroke, ok bool) {
			if ok {
				left.wrote.Set(part, s)
			}
		})
		for _, x := range [][2]Ranges[*model.MadeMark]{{l.adds, left.adds}, {l.dels, left.dels}} {
			x[0].Each(r, func(part model.IDRun, m *model.MadeMark, ok bool) {
				if ok {
					x[1].Set(part, m)
					left.ByID[m.ID] = m
				}
			})
		}
	}
	*l = *left
}

// GrownFrom says whether it is time to look at what of it is of no use any more.
func (l *Ledger) GrownFrom(had int) bool { return l.Size()/minLedger > had/minLedger }

// minLedger is how much a ledger may know before it is worth a look at what of it is of
// no use any more.
const minLedger = 1024
