package bridge

import (
	"slices"
	"strings"
	"sync"

	"github.com/relayfs/relayfs/bridge/model"
)

// awayList gathers what stays away of several notes.
type awayList struct {
	mu   sync.Mutex
	list []model.Away
}

func (l *awayList) add(more []model.Away) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.list = append(l.list, more...)
}

func (l *awayList) sorted() []model.Away {
	slices.SortStableFunc(l.list, func(a, b model.Away) int { return strings.Compare(string(a.Path), string(b.Path)) })
	return l.list
}
