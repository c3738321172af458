package bridge

import (
	"slices"
	"strings"
	"sync"
)

// awayList gathers what stays away of several notes.
type awayList struct {
	mu   sync.Mutex
	list []Away
}

func (l *awayList) add(more []Away) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.list = append(l.list, more...)
}

func (l *awayList) sorted() []Away {
	slices.SortStableFunc(l.list, func(a, b Away) int { return strings.Compare(string(a.Path), string(b.Path)) })
	return l.list
}
