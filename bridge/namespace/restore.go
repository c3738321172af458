package namespace

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"slices"
	"time"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/namespace/internal/tree"
)

// Start reads the source into the tree, lets the documents follow their files, restores the proposals of earlier
// processes, and completes the operations that a crash has interrupted.
func (f *Root) Start(ctx context.Context) error {
	recs, err := f.Store.Proposals()
	if err != nil {
		return err
	}
	var docs []model.StoredDoc
	found := make(fileFinder)
	_, live := f.Source.(model.Documents)
	if !live {
		err = f.Store.Located(func(d model.StoredDoc) {
			found.add(d.File)
			found.add(d.Saved)
			docs = append(docs, d)
		})
		if err != nil {
			return err
		}
	}
	for i := range recs {
		found.add(recs[i].Stamp)
	}
	err = f.Source.Scan(ctx, func(e model.SourceEntry) {
		f.PutScanned(e)
		found.see(e)
	})
	if err == nil {
		err = f.followFiles(docs, found)
	}
	if err == nil {
		err = f.restore(ctx, recs, found)
	}
	if err != nil || live {
		return err // the process that was killed may not have been the last one to change a server's documents
	}
	f.recoverCanvases(ctx)
	return f.recoverNotes(ctx)
}

// fileFinder has the paths at which a scan finds known files, by Stamp.File. A file may have several paths.
type fileFinder map[model.Stamp][]string

func (x fileFinder) add(file model.Stamp) {
	if file.Inode != 0 {
		x[file.File()] = nil
	}
}

func (x fileFinder) see(e model.SourceEntry) {
	if rels, known := x[e.Stamp.File()]; known {
		x[e.Stamp.File()] = append(rels, e.Rel)
	}
}

// followFiles moves each document to the path of its file, because a user may have moved the file while relayfs was
// stopped. If the file of another document is there now, the document that had the path ends. Notes may turn out to
// belong to the documents whose files were not found.
func (f *Root) followFiles(docs []model.StoredDoc, found fileFinder) error {
	stays := make(map[model.Path]bool)
	var moved, restored []model.StoredDoc // restored are documents of removed notes
	for _, d := range docs {
		rels := slices.Concat(found[d.File.File()], found[d.Saved.File()])
		_, ended := d.Path.EndedAt()
		i := slices.IndexFunc(rels, func(rel string) bool { return model.Path(rel).IsNote() })
		switch {
		case slices.Contains(rels, string(d.Path)):
			stays[d.Path] = true
		case i >= 0 && ended:
			restored = append(restored, model.StoredDoc{ID: d.ID, Path: model.Path(rels[i])})
		case i >= 0:
			moved = append(moved, model.StoredDoc{ID: d.ID, Path: model.Path(rels[i])})
		}
	}
	var moves []model.StoredDoc
	to, leaves := make(map[model.Path]bool), make(map[model.DocID]bool)
	for _, d := range append(moved, restored...) {
		if !stays[d.Path] && !to[d.Path] {
			to[d.Path], leaves[d.ID] = true, true
			moves = append(moves, d)
		}
	}
	var missing []model.StoredDoc
	for _, d := range docs {
		switch _, ended := d.Path.EndedAt(); {
		case ended, leaves[d.ID]:
		case to[d.Path]:
			missing = append(missing, model.StoredDoc{ID: d.ID, Path: d.Path.Ended()})
		case f.isMissing(string(d.Path)):
			missing = append(missing, d)
		}
	}
	f.SetMissing(missing)
	if len(moves) == 0 {
		return nil
	}
	for p := range to {
		id, err := f.Store.DocID(p)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if err == nil && !leaves[id] {
			moves = slices.Insert(moves, 0, model.StoredDoc{ID: id, Path: p.Ended()})
		}
	}
	if err := f.Store.Relocate(moves); err != nil { // a note looks for its document when it is first read
		f.log.Warn("moves of notes are not in the store yet", model.LogErr, err)
	}
	return nil
}

func (f *Root) isMissing(rel string) bool {
	s, ok := f.Source.(model.Stater)
	if !ok || f.Lookup(rel) != nil {
		return false
	}
	_, err := s.Stat(rel)
	return errors.Is(err, fs.ErrNotExist)
}

// recoverCanvases replaces the old path of a renamed file in the canvases that still have it because of a crash.
func (f *Root) recoverCanvases(ctx context.Context) {
	l := f.Lock()
	defer l.Unlock()
	for _, rec := range l.completed {
		if l.Lookup(rec.Rel) == nil && l.Lookup(rec.To()) != nil {
			l.CanvasesFollow(ctx, rec.Rel, rec.To(), rec.CanvasNodes)
		}
	}
	l.queuedEvents = nil // the tree has no readers yet
}

// recoverNotes writes stored text to the files that lack the text because of a crash.
func (f *Root) recoverNotes(ctx context.Context) error {
	unsettled, err := f.Store.Unsettled()
	if err != nil {
		return err
	}
	for _, p := range unsettled {
		n := f.Lookup(string(p))
		if n == nil || n.Note() == nil {
			continue
		}
		if _, err := n.Note().Version(ctx); err != nil { // a reader gets the same error
			f.log.Warn("note not recovered", model.LogPath, string(n.Location().Path), model.LogErr, err)
		}
	}
	return nil
}

// restore adds the pending proposals of earlier processes to the tree, which shows only the source so far. The tree has
// no readers yet, so restore publishes no events.
func (f *Root) restore(ctx context.Context, recs []model.ProposalRecord, found fileFinder) error {
	recs = slices.DeleteFunc(recs, func(rec model.ProposalRecord) bool {
		switch rec.Kind {
		case model.RenameDone:
			f.completed = append(f.completed, rec)
		case model.DecisionStarted:
			f.started = append(f.started, rec)
		default:
			return f.isUnreadable(rec)
		}
		return true
	})
	recs, err := f.recoverAll(ctx, recs)
	if err != nil || len(recs) == 0 {
		return err
	}
	l := f.Lock()
	defer l.Unlock()
	if recs, err = l.locate(ctx, recs, found); err != nil {
		return err
	}
	l.Overlay(recs)
	for _, p := range l.Pending() {
		l.markStale(ctx, p.Node)
	}
	l.restoreNames(ctx)
	l.PersistChanges()
	l.queuedEvents = nil
	return nil
}

// isUnreadable reports whether Scan could not read the folder of a proposal. Nothing is known about its file then, so the
// proposal stays in the store as it is until a start that can read the folder.
func (f *Root) isUnreadable(rec model.ProposalRecord) bool {
	s, ok := f.Source.(model.Stater)
	for _, rel := range []string{rec.Rel, rec.ToDir} {
		if !ok || rel == "" || f.Lookup(rel) != nil {
			continue
		}
		if _, err := s.Stat(rel); err != nil && !errors.Is(err, fs.ErrNotExist) {
			f.log.Warn("proposal waits for a restart, because its folder cannot be read", model.LogPath, string(f.Path().Join(rec.Rel)),
				"kind", string(rec.Kind), model.LogErr, err)
			return true
		}
	}
	return false
}

// locate sets the source paths of proposals to the paths of their documents, or else of their files. While relayfs was
// stopped, a user may have moved these files, or given their names to other files. A proposal whose file was moved
// becomes stale, as it would while relayfs runs. A proposal whose note the user has changed becomes stale, too. locate
// drops a proposal whose document no longer has a file.
func (l *Locked) locate(ctx context.Context, recs []model.ProposalRecord, found fileFinder) (left []model.ProposalRecord, err error) {
	var change model.ProposalChange
	stale := make(map[string]bool)
	for _, rec := range recs { // before a document takes over the user's changes
		n, err := l.nodeOf(&rec)
		if err != nil {
			return nil, err
		}
		stale[rec.ID] = n != nil && !rec.Stale && changedInSource(ctx, n, rec)
	}
	haveRead := false
	for _, rec := range recs {
		rel := rec.Rel
		if rec.Doc != "" {
			n, err := l.nodeOf(&rec)
			if n != nil && !isNodeOf(ctx, n, &rec) {
				n = nil
			}
			if n == nil && !haveRead {
				haveRead = true
				for _, n := range l.Lookup("").Notes() { // a note finds its document when it is first read
					_, _ = n.Version(ctx)
				}
				n, err = l.nodeOf(&rec)
			}
			if err != nil {
				return nil, err
			}
			if n == nil {
				l.Invalidate(rec)
				continue
			}
			rel = n.Location().Rel
		} else if rels := found[rec.Stamp.File()]; len(rels) > 0 && !slices.Contains(rels, rel) {
			rel = rels[0]
		}
		if rel != rec.Rel {
			rec.Rel, rec.DisplacedName, stale[rec.ID] = rel, "", true
		}
		if stale[rec.ID] {
			rec.Stale = true
			change.Upserted = append(change.Upserted, rec)
		}
		left = append(left, rec)
	}
	if len(change.Upserted) == 0 {
		return left, nil
	}
	return left, l.Store.Propose(change)
}

// nodeOf returns the note at the path of the proposal's document, or nil if there is none.
func (l *Locked) nodeOf(rec *model.ProposalRecord) (*tree.Node, error) {
	if rec.Doc == "" {
		return nil, nil
	}
	p, err := l.Store.DocPath(rec.Doc)
	if n := l.Lookup(string(p)); err == nil && n != nil && n.Note() != nil {
		return n, nil
	}
	return nil, err
}

// recoverAll determines the outcomes of decisions that a crash interrupted.
func (f *Root) recoverAll(ctx context.Context, recs []model.ProposalRecord) ([]model.ProposalRecord, error) {
	var change model.ProposalChange
	var left []model.ProposalRecord
	moved := false
	rebase := func(rec *model.ProposalRecord, from, to string) { // applies a move for rec to the other records
		moved = true
		own := *rec
		for _, list := range [][]model.ProposalRecord{recs, left, f.completed} {
			for k := range list {
				list[k].Rebase(from, to)
			}
		}
		*rec = own
	}
	for i := range recs {
		rec := &recs[i]
		if rec.MovingTo != "" && f.Lookup(rec.Rel) == nil && f.Lookup(rec.MovingTo) != nil {
			from := rec.Rel
			rec.MovedToTempName()
			rebase(rec, from, rec.Rel)
			f.syncDone(ctx, rec)
		}
		d := rec.PendingDecision
		if d == nil && rec.MovingTo == "" {
			left = append(left, *rec)
			continue
		}
		rec.PendingDecision, rec.MovingTo = nil, ""
		pending, decided := f.recoverOne(ctx, rec, d)
		if decided {
			f.syncDone(ctx, rec)
			change.Journal = append(change.Journal, rec.Decided(*d, time.Now().UTC()))
		}
		if decided && rec.Kind == model.ProposedDelete && model.Path(rec.Rel).IsNote() && d.Verdict == model.Accepted {
			if err := f.Store.End(model.Path(rec.Rel)); err != nil {
				return nil, err
			}
		}
		if decided && rec.Kind == model.ProposedRename {
			from, to := rec.Rel, rec.To()
			if pending {
				from, to = to, from
			}
			rebase(rec, from, to)
		}
		if pending {
			left = append(left, *rec)
			change.Upserted = append(change.Upserted, *rec)
			continue
		}
		if decided && rec.Kind == model.ProposedRename && d.Verdict == model.Accepted {
			done := decidedRename(*rec, rec.PendingRelinks, *d, "")
			change.Upserted, f.completed = append(change.Upserted, done), append(f.completed, done)
		}
		change.Removed = append(change.Removed, rec.ID)
	}
	if moved {
		change.Upserted = slices.Concat(left, f.completed)
	}
	if len(change.Upserted)+len(change.Removed) == 0 {
		return left, nil
	}
	return left, f.Store.Propose(change)
}

// syncDone makes the source's changes for a proposal durable before the store records them. The process that made them
// may have been killed before it synced.
func (f *Root) syncDone(ctx context.Context, rec *model.ProposalRecord) {
	rels := []string{model.Parent(rec.Rel), model.Parent(rec.To())}
	if rec.Kind == model.ProposedFile && rec.Rel != "" {
		rels = []string{rec.Rel}
	}
	for _, rel := range rels {
		if err := f.sync(ctx, rel); err != nil {
			f.log.Warn("path is not synced: a power cut may undo a decision", model.LogPath, rel, model.LogErr, err)
		}
	}
}

// recoverOne reports whether the proposal is pending, and whether the interrupted decision was applied. After an
// acceptance that was applied the proposal is not pending; after an undo that was applied it is pending.
func (f *Root) recoverOne(ctx context.Context, rec *model.ProposalRecord, d *model.Decision) (pending, decided bool) {
	if d == nil {
		return true, false
	}
	there := f.Lookup(rec.Rel) != nil
	done := !there
	switch rec.Kind {
	case model.ProposedRename:
		done = !there && f.Lookup(rec.To()) != nil
	case model.ProposedFile:
		rel := rec.Rel
		if rel == "" {
			rel = rec.To()
		}
		data, _, err := f.Source.Read(ctx, rel)
		done = err == nil && bytes.Equal(data, rec.New)
	}
	if d.Verdict == model.Undone {
		return !done, !done
	}
	return !done, done
}
