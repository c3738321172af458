package bridge

import "github.com/relayfs/relayfs/bridge/ycrdt"

// size is how much it knows.
func (l *ledger) size() (n int) {
	if l == nil {
		return 0
	}
	for _, list := range l.wrote {
		n += len(list)
	}
	for _, x := range []idRanges[*madeMark]{l.adds, l.dels} {
		for _, list := range x {
			n += len(list)
		}
	}
	return n
}

// prune forgets what is known of text that is gone for good: a note that is written for
// weeks takes no more memory than it has text.
func (l *ledger) prune(runs []ycrdt.Run) {
	left := newLedger(nil)
	left.upTo, left.first, left.alias = l.upTo, l.first, l.alias
	for _, run := range runs {
		r := IDRun{uint64(run.ID.Client), run.ID.Clock, uint64(run.Len)}
		l.wrote.each(r, func(part IDRun, s *stroke, ok bool) {
			if ok {
				left.wrote.set(part, s)
			}
		})
		l.adds.each(r, func(part IDRun, m *madeMark, ok bool) {
			if ok {
				left.adds.set(part, m)
				left.byID[m.id] = m
			}
		})
		l.dels.each(r, func(part IDRun, m *madeMark, ok bool) {
			if ok {
				left.dels.set(part, m)
				left.byID[m.id] = m
			}
		})
	}
	*l = *left
}

// grownFrom says whether it is time to look at what of it is of no use any more.
func (l *ledger) grownFrom(had int) bool { return l.size()/minLedger > had/minLedger }

// minLedger is how much a ledger may know before it is worth a look at what of it is of
// no use any more.
const minLedger = 1024
