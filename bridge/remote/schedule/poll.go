package schedule

import (
	"context"
	"time"

	"github.com/relayfs/relayfs/bridge/model"
)

// This file gives all notes a turn: when the folder is connected, and now and then.

// unkept are the notes that were never fetched.
func (y *Scheduler) unkept(notes []model.DocID) (list []model.DocID) {
	y.mu.Lock()
	defer y.mu.Unlock()
	for _, id := range notes {
		if !y.kept[id] {
			list = append(list, id)
		}
	}
	return list
}

// compareAll gives every note a turn, or asks the server which of them have
// changed if it tells that.
func (y *Scheduler) compareAll() {
	y.mu.Lock()
	notes, online, follows := y.notes, y.online, y.follows
	y.mu.Unlock()
	switch {
	case !online:
	case follows != nil && y.mayFollow(len(notes)):
		y.enqueue(y.unkept(notes))
		follows.compare()
	default:
		y.enqueue(notes)
	}
}

// Online says that the folder's document is connected.
func (y *Scheduler) Online() bool {
	y.mu.Lock()
	defer y.mu.Unlock()
	return y.online
}

// pollBase is how often notes that are not connected are compared, where the
// server does not tell of changes; pollNote is added for each note.
const (
	pollBase = time.Minute
	pollNote = 20 * time.Millisecond
)

// poll gives all notes a turn now and then.
func (y *Scheduler) poll(ctx context.Context) {
	for {
		y.mu.Lock()
		n := len(y.notes)
		y.mu.Unlock()
		select {
		case <-ctx.Done():
			return
		case <-time.After(pollBase + time.Duration(n)*pollNote):
		}
		y.compareAll()
		if y.Online() {
			y.folder.TryAgain()
		}
	}
}
