package listing

import (
	"context"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/remote/folderdoc"
	"github.com/relayfs/relayfs/bridge/remote/internal/replica"
)

// Scan reports all entries. Changes after that are reported by Report.
func (l *Listing) Scan(found func(model.SourceEntry)) {
	l.mu.Lock()
	l.shown, l.since, l.steps, l.relisted = l.entries, nil, nil, false
	entries := l.entries
	l.mu.Unlock()
	for _, e := range entries {
		found(l.entryOf(e))
	}
}

// Report reports changes by peers until ctx ends.
func (l *Listing) Report(ctx context.Context, changed func(model.SourceEvent)) {
	for range l.changed.Each(ctx) {
		for more := true; more && ctx.Err() == nil; {
			changed(model.SourceEvent{Next: func() (ev model.SourceEvent, ok bool) {
				ev, more = l.next()
				return ev, more
			}})
		}
	}
}

// next returns the next change to report. Changes of names come before changes of documents, whose names they show.
func (l *Listing) next() (model.SourceEvent, bool) {
	if step, ok := l.nextStep(); ok {
		return l.eventOf(step), true
	}
	e, ok := l.nextChanged()
	if !ok {
		return model.SourceEvent{}, false
	}
	entry := l.entryOf(e)
	entry.Stamp.ModTime = l.set.Document(model.DocID(e.ID)).ModTime().UnixNano()
	return model.SourceEvent{Kind: model.EventChanged, Rel: e.Path, Entry: entry}, true
}

func (l *Listing) nextStep() (step folderdoc.Change, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.relisted {
		l.shown = folderdoc.Apply(l.shown, l.since)
		l.since, l.steps, l.relisted = nil, folderdoc.Diff(l.shown, l.entries), false
	}
	if len(l.steps) == 0 {
		return step, false
	}
	step, l.steps = l.steps[0], l.steps[1:]
	l.since = append(l.since, step)
	return step, true
}

// nextChanged returns the entry of a changed document. A document with several names has several entries.
func (l *Listing) nextChanged() (e folderdoc.Entry, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for id, reported := range l.dirty {
		entries := l.byID[id]
		if l.dirty[id]++; reported+1 >= len(entries) {
			delete(l.dirty, id)
		}
		if reported < len(entries) {
			return entries[reported], true
		}
		l.Refresh() // a canvas may have its first content now
	}
	return e, false
}

// Changed records a change of a document for Report. The caller may hold the document's lock.
func (l *Listing) Changed(d *replica.Document) {
	switch {
	case d.Note:
		l.mu.Lock()
		l.dirty[d.ID()] = 0
		l.mu.Unlock()
		l.changed.Set()
	case d == l.set.Folder:
		l.Refresh()
	}
}
