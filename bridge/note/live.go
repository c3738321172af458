package note

import (
	"context"
	"slices"
	"time"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/note/planner"
	"github.com/relayfs/relayfs/bridge/textmerge"
	"github.com/relayfs/relayfs/bridge/ycrdt"
)

// This file is for notes with an authoritative document: the notes of a Source that shares its documents live. No file
// has to match the document, and the document may change at any moment. A version is the text of one state of the
// document with the identities of its characters, read in one step.

type liveState struct {
	raw        string
	runs       []ycrdt.Run
	modTime    time.Time
	newEntries bool // the document has entries of other machines that were not read before
	// foreign is set if the text has content other than characters, so that offsets in raw are not offsets in the text.
	foreign bool
}

func stateOf(doc *ycrdt.Doc, modTime time.Time) liveState {
	text := doc.Text(model.ContentsName)
	s := liveState{raw: text.String(), runs: text.Runs(), modTime: modTime}
	s.foreign = text.Len() != textmerge.UTF16Len(s.raw)
	return s
}

func (d *document) readLive(ctx context.Context) (s liveState, err error) {
	err = d.live.View(ctx, func(doc *ycrdt.Doc, modTime time.Time) error {
		s = stateOf(doc, modTime)
		s.newEntries = d.readShared(doc)
		return nil
	})
	return s, err
}

// readShared adds the entries of other machines in the document to the table, or drops the table if they are out of
// order. It reports whether there were new entries.
func (d *document) readShared(doc *ycrdt.Doc) bool {
	added, inOrder := d.shared.Read(doc)
	if !inOrder {
		d.table = nil
	}
	for i := range added {
		if d.table != nil {
			d.table.Add(&added[i])
		}
	}
	return len(added) > 0
}

func isAt(text *ycrdt.Text, current *model.Version) bool {
	return text.String() == current.Raw() && slices.Equal(text.Runs(), current.Runs())
}

// changeLive applies a plan's edits to the live document and returns its new state. If the document no longer has the
// text of current, changeLive changes nothing and returns ErrConflict.
func (d *document) changeLive(ctx context.Context, current *model.Version, plan *planner.Plan, author model.Author) (s liveState, err error) {
	rec := plan.Record
	rec.Time = time.Now().UTC()
	if len(plan.Edits) == 0 {
		rec.Update = model.EmptyUpdate()
	}
	table, err := d.currentTable()
	if err != nil {
		return s, err
	}
	err = d.live.Change(ctx, &rec, func(doc *ycrdt.Doc) error {
		text := doc.Text(model.ContentsName)
		if !isAt(text, current) {
			return model.ErrConflict
		}
		plan.Apply(doc, text, current.Raw(), author, &rec)
		if len(plan.Edits) > 0 && len(current.CanonicalEdits()) > 0 {
			rec.Marks = append(table.Unmarked(table.UnitsOf(current.Raw(), current.Runs())), rec.Marks...)
		}
		s = stateOf(doc, rec.Time)
		return nil
	})
	if err != nil {
		return s, err
	}
	d.shared.Own(&rec)
	table.Add(&rec)
	return s, nil
}
