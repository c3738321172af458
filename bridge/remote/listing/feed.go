package listing

import (
	"context"
	"slices"
	"sync"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/remote/replica"
	"github.com/relayfs/relayfs/bridge/wake"
)

// feed is the changes of peers that are not reported yet.
type feed struct {
	wake wake.Signal // events or dirty has something

	mu     sync.Mutex // protects the following
	events []model.SourceEvent
	dirty  map[model.DocID]bool // documents that have changed
}

func (f *feed) add(ev model.SourceEvent) {
	f.mu.Lock()
	f.events = append(f.events, ev)
	f.mu.Unlock()
	f.wake.Set()
}

func (f *feed) addDirty(id model.DocID) {
	f.mu.Lock()
	f.dirty[id] = true
	f.mu.Unlock()
	f.wake.Set()
}

func (f *feed) take() ([]model.SourceEvent, map[model.DocID]bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	events, dirty := f.events, f.dirty
	f.events, f.dirty = nil, make(map[model.DocID]bool)
	return events, dirty
}

// forget drops the events of the listing.
func (f *feed) forget() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.events = nil
}

// Scan reports the entries. Report reports later changes.
func (l *Listing) Scan(found func(model.SourceEntry)) {
	l.mu.Lock()
	entries := slices.Clone(l.entries)
	l.feed.forget()
	l.mu.Unlock()
	for _, e := range entries {
		found(l.entryOf(e))
	}
}

// Report reports changes of peers until ctx ends.
func (l *Listing) Report(ctx context.Context, changed func(model.SourceEvent)) {
	for range l.feed.wake.Until(ctx) {
		events, dirty := l.feed.take()
		for _, ev := range events {
			changed(ev)
		}
		for id := range dirty {
			if ev, ok := l.changeOf(id); ok {
				changed(ev)
			}
		}
	}
}

// changeOf returns the event for a change of a note's text.
func (l *Listing) changeOf(id model.DocID) (model.SourceEvent, bool) {
	modTime := l.o.Set.Document(id).ModTime()
	l.mu.Lock()
	defer l.mu.Unlock()
	rel, ok := l.paths[id]
	if !ok || l.byPath[rel].ID != string(id) {
		return model.SourceEvent{}, false
	}
	e := l.entryOf(l.byPath[rel])
	e.Stamp.ModTime = modTime.UnixNano()
	return model.SourceEvent{Kind: model.EventChanged, Rel: rel, Entry: e}, true
}

// Changed records that the server has changed a document. Its lock may be held.
func (l *Listing) Changed(d *replica.Document) {
	switch {
	case d.IsNote():
		l.feed.addDirty(d.ID())
	case d == l.o.Set.Folder:
		l.Refresh()
	}
}
