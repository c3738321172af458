package note

import (
	"context"
	"slices"
	"time"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/planner"
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
	// foreign: the text holds more than characters, so that places in raw are not
	// places in the text.
	foreign bool
}

func stateOf(doc *ycrdt.Doc, modTime time.Time) liveState {
	text := doc.Text(contentsName)
	s := liveState{raw: text.String(), runs: text.Runs(), modTime: modTime}
	s.foreign = text.Len() != textmerge.UTF16Len(s.raw)
	return s
}

// loadLive reads a live note.
func (n *Locked) loadLive(ctx context.Context, at Place, docs model.Documents) (*model.Version, error) {
	if n.live == nil {
		d, err := docs.Document(ctx, at.Rel)
		if err != nil {
			return nil, model.WrapError("open", at.Path, err)
		}
		n.live, n.id = d, d.ID()
	}
	s, err := n.readLive(ctx)
	if err != nil {
		return nil, model.WrapError("open", at.Path, err)
	}
	return n.publishVersion(n.versionOf(s, s.modTime)), nil
}

func (d *document) readLive(ctx context.Context) (s liveState, err error) {
	err = d.live.View(ctx, func(doc *ycrdt.Doc, modTime time.Time) error {
		s = stateOf(doc, modTime)
		return nil
	})
	return s, err
}

// versionOf makes the version of a state.
func (n *Locked) versionOf(s liveState, modTime time.Time) *model.Version {
	v := model.NewVersion(s.raw, n.set.o.View, 0, modTime)
	v.SetRuns(s.runs)
	defer n.separate(v)
	if s.foreign {
		v.LockWrites()
	}
	return v
}

// refreshLive brings the note up to its document, which peers changed.
func (n *Locked) refreshLive(ctx context.Context, at Place, cur *model.Version) (*model.Event, error) {
	s, err := n.readLive(ctx)
	if err != nil {
		return nil, model.WrapError("read", at.Path, err)
	}
	if s.raw == cur.Raw() && slices.Equal(s.runs, cur.Runs()) {
		return nil, nil
	}
	return n.succeedBy(cur, n.versionOf(s, model.NextModTime(cur.ModTime(), s.modTime))), nil
}

// changeLive makes a plan's edits in the live document, whose text is cur's, and returns
// its state then. ErrConflict, and no change, if the text is not cur's any more.
func (d *document) changeLive(ctx context.Context, cur *model.Version, plan *planner.Plan, by model.Author) (s liveState, err error) {
	rec := model.Record{Time: time.Now().UTC()}
	known, err := d.ledgerNow()
	if err != nil {
		return s, err
	}
	err = d.live.Change(ctx, &rec, func(doc *ycrdt.Doc) error {
		text := doc.Text(contentsName)
		if text.String() != cur.Raw() || !slices.Equal(text.Runs(), cur.Runs()) {
			return model.ErrConflict
		}
		plan.CarryOut(doc, text, cur.Raw(), by, known, &rec)
		s = stateOf(doc, rec.Time)
		return nil
	})
	if err != nil {
		return s, err
	}
	had := known.Size()
	if known.Add(&rec); known.GrownFrom(had) {
		known.Prune(s.runs)
	}
	return s, nil
}
