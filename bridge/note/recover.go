package note

import (
	"context"
	"time"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/textmerge"
	"github.com/relayfs/relayfs/bridge/ycrdt"
)

// The document is what the store's records say; the file is a replica of it. A record is
// kept before the file gets its text, so that a crash leaves a file that lacks the last
// records, and a record says what the file's stamp was before and after. A person's save is
// a stamp that relayfs did not make.

// catchUp compares the store's history with the file that was just read. What the history
// has and the file lacks is put there; what a person has saved while nobody followed the
// file becomes a record.
func (n *Locked) catchUp(ctx context.Context, at Place) error {
	id, err := n.lookupID(at)
	if err != nil || id == "" {
		return err
	}
	n.id = id
	h, err := n.store.Load(id)
	if err != nil {
		return model.WrapError("open", at.Path, err)
	}
	cur := n.cur.Load()
	if cur.ReadOnly() || len(h.Records) == 0 || h.Settled(model.SumOf(cur.Raw())) {
		return nil
	}
	return n.recover(ctx, at, h)
}

// state is the text after a record.
type state struct {
	version *model.Version
	save    *model.Save // of the record
	inFile  bool        // the file has held it
}

// recover brings file and document together again. The rows of its table, the first one
// that fits:
//
//	the file holds the newest text          they are in step
//	its stamp is before or after a save     a crash has kept the newest text from it, or torn it: it gets that
//	it holds what it held last              the same, of a note that people edit live
//	otherwise                               a person has saved since: what that changes of what the file
//	                                        held last is carried onto the newest text
//
// A save of the last two does not revert what the file never held, and a file that was set
// back to an old text, from a backup or by git, is a person's save like any other.
func (n *Locked) recover(ctx context.Context, at Place, h model.History) error {
	states, doc, err := statesOf(h)
	if err != nil {
		return model.WrapError("open", at.Path, err)
	}
	file, stamp := n.cur.Load(), n.stamp
	head := states[len(states)-1].version
	n.use(doc)
	n.kept = h.Records[len(h.Records)-1].Seq
	if head.Raw() == file.Raw() {
		n.settle(ctx, at, file)
		return nil
	}
	held := lastHeld(states, n.source, file.Raw())
	interrupted := isInterrupted(states, stamp) || held.Raw() == file.Raw()
	if !interrupted && held == head {
		return n.keep(at, model.SumOf(file.Raw()), []model.Record{changeDoc(n.doc, head.Raw(), textmerge.SavedEdits(head.Raw(), file.Raw()), sourceOrigin{})})
	}
	n.publish(n.newVersion(head.Raw(), model.NextModTime(file.ModTime(), time.Now())))
	n.set.o.Logger.Info("changes that a crash has kept from the file are put into it", model.LogPath, string(at.Path))
	if interrupted {
		n.markDirty(file)
		if err := n.putInFile(ctx, at, n.cur.Load(), n.cur.Load().ModTime()); err != nil {
			n.set.o.Logger.Warn("they will be put there later", model.LogPath, string(at.Path), model.LogErr, err)
			n.flushAfter(flushRetry)
		}
		return nil
	}
	n.markDirty(held)
	n.flushAfter(0)
	n.stamp = model.Stamp{} // no write before what a person saved is taken over
	if _, err := n.takeOver(ctx, held, file.Raw(), stamp); err != nil {
		n.set.o.Logger.Warn("a person's change is merged later", model.LogPath, string(at.Path), model.LogErr, err)
	}
	return nil
}

// settle makes the file durable, which holds what the store has, and notes that. The process
// that wrote it may have been killed before it did.
func (n *Locked) settle(ctx context.Context, at Place, file *model.Version) {
	if s, ok := n.source.(model.Synced); ok {
		if err := s.Sync(ctx, at.Rel); err != nil {
			n.set.o.Logger.Warn("note is not synced: a power cut may bring back what it held", model.LogPath, string(at.Path), model.LogErr, err)
			return
		}
	}
	n.store.Materialized(n.id, n.kept, model.SumOf(file.Raw()))
}

// statesOf replays a history: the states of the document since the file was last known to
// hold one, which is the first of them. A record that is not ahead of the file was taken
// from it.
func statesOf(h model.History) ([]state, *ycrdt.Doc, error) {
	doc := ycrdt.NewDoc(ycrdt.Options{})
	text := doc.Text(contentsName)
	var states []state
	for i, rec := range h.Records {
		if rec.Seq > h.Materialized && len(states) == 0 {
			states = append(states, state{version: rawState(text), inFile: true})
		}
		if err := doc.ApplyUpdate(rec.Update, sourceOrigin{}); err != nil {
			return nil, nil, err
		}
		if rec.Seq > h.Materialized || i == len(h.Records)-1 {
			save := rec.Save
			if save != nil && len(save.Sum) == 0 { // it was taken back
				save = nil
			}
			states = append(states, state{rawState(text), save, save != nil || !rec.Ahead})
		}
	}
	dropObjects(doc, text)
	return states, doc, nil
}

func rawState(text *ycrdt.Text) *model.Version { return model.RawVersion(text.String(), text.Runs()) }

// lastHeld is the newest text that the file has held before somebody saved what it holds now.
// The last save may have been interrupted before the file got its text.
func lastHeld(states []state, source model.Source, now string) *model.Version {
	saves := 0
	for i := len(states) - 1; i > 0; i-- {
		s := states[i]
		if s.save != nil {
			saves++
		}
		if !s.inFile {
			continue
		}
		if s.save == nil || saves > 1 {
			return s.version
		}
		switch placed, known := wasPlaced(source, s.save.Post); {
		case placed:
			return s.version
		case !known: // a power cut has taken what would tell
			return textmerge.Nearest([]*model.Version{lastHeld(states[:i], source, now), s.version}, (*model.Version).Raw, now)
		}
	}
	return states[0].version
}

// wasPlaced says whether the file of that stamp got its name, as far as the source can tell.
func wasPlaced(source model.Source, post model.Stamp) (placed, known bool) {
	if p, ok := source.(model.Placer); ok {
		return p.Placed(post)
	}
	return true, true
}

// isInterrupted says whether the stamp is that of the file before or after a save of relayfs that
// may have been interrupted.
func isInterrupted(states []state, stamp model.Stamp) bool {
	for _, s := range states[1:] {
		if s.save != nil && (stamp.SameFile(s.save.Pre) || stamp.SameFile(s.save.Post)) {
			return true
		}
	}
	return false
}
