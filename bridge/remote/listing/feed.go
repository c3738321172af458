package listing

import (
	"context"
	"slices"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/remote/replica"
)

// Scan reports the entries. Report reports later changes.
func (l *Listing) Scan(found func(model.SourceEntry)) {
	l.mu.Lock()
	entries := slices.Clone(l.entries)
	l.events = nil
	l.mu.Unlock()
	for _, e := range entries {
		found(l.entryOf(e))
	}
}

// Report reports changes of peers until ctx ends.
func (l *Listing) Report(ctx context.Context, changed func(model.SourceEvent)) {
	for range l.news.Until(ctx) {
		l.mu.Lock()
		events, dirty := l.events, l.dirty
		l.events, l.dirty = nil, make(map[model.DocID]bool)
		l.mu.Unlock()
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
	modTime := l.set.Document(id).ModTime()
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
	case d.Note:
		l.mu.Lock()
		l.dirty[d.ID()] = true
		l.mu.Unlock()
		l.news.Set()
	case d == l.set.Folder:
		l.Refresh()
	}
}
