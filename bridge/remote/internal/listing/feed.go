package listing

import (
	"context"
	"slices"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/remote/internal/replica"
)

// Scan reports all entries. Changes after that are reported by Report.
func (l *Listing) Scan(found func(model.SourceEntry)) {
	l.mu.Lock()
	entries := slices.Clone(l.entries)
	l.events = nil
	l.mu.Unlock()
	for _, e := range entries {
		found(l.entryOf(e))
	}
}

// Report reports changes by peers until ctx ends.
func (l *Listing) Report(ctx context.Context, changed func(model.SourceEvent)) {
	for range l.changed.Each(ctx) {
		l.mu.Lock()
		events, dirty := l.events, l.dirty
		l.events, l.dirty = nil, make(map[model.DocID]bool)
		l.mu.Unlock()
		for _, c := range events {
			changed(l.eventOf(c))
		}
		for id := range dirty {
			entries := l.entriesOf(id)
			if len(entries) == 0 {
				l.Refresh() // a canvas may have its first content now
			}
			for _, entry := range entries {
				e := l.entryOf(entry)
				e.Stamp.ModTime = l.set.Document(id).ModTime().UnixNano()
				changed(model.SourceEvent{Kind: model.EventChanged, Rel: e.Rel, Entry: e})
			}
		}
	}
}

// Changed records a change of a document for Report. The caller may hold the document's lock.
func (l *Listing) Changed(d *replica.Document) {
	switch {
	case d.Note:
		l.mu.Lock()
		l.dirty[d.ID()] = true
		l.mu.Unlock()
		l.changed.Set()
	case d == l.set.Folder:
		l.Refresh()
	}
}
