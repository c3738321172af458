package schedule

import (
	"time"
)

// Progress says how many of the folder's notes are here.
type Progress struct{ Fetched, Notes int }

// progressed tells who asked for it how far the fetching is.
func (y *Scheduler) progressed() {
	if y.o.Progress != nil {
		y.o.Progress(y.progress())
	}
}

func (y *Scheduler) progress() Progress {
	y.mu.Lock()
	defer y.mu.Unlock()
	p := Progress{Notes: len(y.notes)}
	for _, id := range y.notes {
		if y.kept[id] {
			p.Fetched++
		}
	}
	return p
}

// State is how far the folder and its server are in step.
type State struct {
	Progress
	Connected bool
	Unsent    int // documents
	Synced    time.Time
	Cause     error // why there is no connection
	Problem   error // what the server refused since there is one, about one document
}

// State says how far the folder and its server are in step.
func (y *Scheduler) State() State {
	p, unsent := y.progress(), y.unsent.Len()
	y.mu.Lock()
	defer y.mu.Unlock()
	return State{Progress: p, Connected: y.online, Unsent: unsent, Synced: y.synced, Cause: y.cause, Problem: y.problem}
}
