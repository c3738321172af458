package note

import (
	"context"
	"slices"
	"time"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/note/internal/planner"
	"github.com/relayfs/relayfs/bridge/textmerge"
	"github.com/relayfs/relayfs/bridge/ycrdt"
)

// This file is for notes whose document is the truth: those of a Source that
// shares its documents live. There is no file to keep in step, and the document
// may change at any moment. A version is the text of one state of the document
// together with the identities of its characters, taken at once.

// liveState is one state of a live document.
type liveState struct {
	raw     string
	runs    []ycrdt.Run
	modTime time.Time
	news    bool // the document tells more of its suggestions than before
	// foreign: the text holds more than characters, so that places in raw are not
	// places in the text.
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
		s.news = d.readShared(doc)
		return nil
	})
	return s, err
}

// readShared brings the table up to what others have told in the document. It reports whether that is news.
func (d *document) readShared(doc *ycrdt.Doc) bool {
	news, inOrder := d.shared.Read(doc)
	if !inOrder {
		d.table = nil
	}
	for i := range news {
		if d.table != nil {
			d.table.Add(&news[i])
		}
	}
	return len(news) > 0
}

// isAt says whether cur is the state of a live document.
func isAt(text *ycrdt.Text, cur *model.Version) bool {
	return text.String() == cur.Raw() && slices.Equal(text.Runs(), cur.Runs())
}

// changeLive makes a plan's edits in the live document, whose text is cur's, and returns
// its state then. ErrConflict, and no change, if the text is not cur's any more.
func (d *document) changeLive(ctx context.Context, cur *model.Version, plan *planner.Plan, by model.Author) (s liveState, err error) {
	rec := model.Record{Time: time.Now().UTC()}
	if len(plan.Edits) == 0 {
		rec.Update = model.EmptyUpdate()
	}
	known, err := d.tableNow()
	if err != nil {
		return s, err
	}
	err = d.live.Change(ctx, &rec, func(doc *ycrdt.Doc) error {
		text := doc.Text(model.ContentsName)
		if !isAt(text, cur) {
			return model.ErrConflict
		}
		plan.CarryOut(doc, text, cur.Raw(), by, &rec)
		s = stateOf(doc, rec.Time)
		return nil
	})
	if err != nil {
		return s, err
	}
	d.shared.Own(&rec)
	known.Add(&rec)
	return s, nil
}
