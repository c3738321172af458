package proposal

import (
	"bytes"
	"context"
	"errors"
	"path"
	"time"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/tree"
)

// This file takes decisions on proposals back: what was done in the source is
// undone there, and the proposal waits again, shown as done.

// Undo takes back the decision of a journal entry on a proposal, and says what waits again;
// tree.ErrElsewhere. d is the decision to do so.
func (f *Folder) Undo(ctx context.Context, e model.JournalEntry, d model.Decision) (model.Proposal, error) {
	l := f.Lock()
	defer l.Unlock()
	rec := *e.Decision.Proposal
	rec.Accepting, rec.Via = nil, ""
	accepted := e.Decision.Verdict == model.Accepted
	found, err := l.FindDecided(&rec, accepted)
	u := undoing{Locked: l, rec: rec, d: d, n: found.Node}
	if err == nil && accepted {
		err = u.revert(ctx)
	}
	if err != nil {
		return model.Proposal{}, model.WrapError("undo", e.Path, err)
	}
	if u.n != nil && rec.Kind != model.ProposedFile { // it waits for a decision on what is there now
		if stamp, sum, err := stateOf(ctx, u.n); err == nil {
			u.rec.Stamp, u.rec.Sum = stamp, sum
		}
	}
	p, err := u.propose(found.Dir)
	l.Settle(nil)
	if err != nil {
		return model.Proposal{}, model.WrapError("undo", e.Path, err)
	}
	return p.Public(), nil
}

type undoing struct {
	*Locked
	rec model.ProposalRecord
	d   model.Decision
	n   *tree.Node // what it is about, nil if it is not there
}

// revert undoes in the source what was accepted. What a crash leaves of it is
// found out by the next process.
func (u *undoing) revert(ctx context.Context) error {
	begun := u.rec
	begun.Accepting = &u.d
	if err := u.Store.Propose(model.ProposalChange{Put: []model.ProposalRecord{begun}}); err != nil {
		return err
	}
	err := u.revertSource(ctx)
	if err != nil {
		err = errors.Join(err, u.Store.Propose(model.ProposalChange{Drop: []string{u.rec.ID}}))
	}
	return err
}

func (u *undoing) revertSource(ctx context.Context) error {
	switch u.rec.Kind {
	case model.ProposedRename:
		return u.moveSource(ctx, u.n, u.rec.To(), u.rec.Rel, tree.Target{Dir: u.Lookup(string(model.Path(u.rec.Rel).Dir())), Name: path.Base(u.rec.Rel)})
	case model.ProposedDelete:
		return u.makeAgain(ctx)
	}
	return u.revertFile(ctx)
}

func (u *undoing) makeAgain(ctx context.Context) error {
	e := model.SourceEntry{Rel: u.rec.Rel, Dir: u.rec.Dir, Mode: 0o644, Stamp: model.Stamp{ModTime: time.Now().UnixNano()}}
	var err error
	switch {
	case u.rec.Dir:
		e.Mode = 0o755
		err = u.Structure.Mkdir(ctx, u.rec.Rel)
	case u.rec.Link != "":
		linker, ok := u.Structure.(model.Linker)
		if !ok {
			return errors.ErrUnsupported
		}
		e, err = linker.MakeLink(ctx, u.rec.Rel, u.rec.Link)
	case u.rec.Old == nil:
		err = errors.New("is too large to be brought back from here; it is in the trash")
	default:
		e.Stamp, err = u.Structure.Create(ctx, u.rec.Rel, model.NewFile{Data: u.rec.Old, Mode: 0o644, ModTime: time.Now()})
	}
	if err != nil {
		return err
	}
	u.bringDocBack()
	u.n = u.PutHidden(e)
	u.rec.Stamp, u.rec.Sum = e.Stamp, model.SumOf(string(u.rec.Old))
	u.rec.Old, u.rec.Link, u.rec.Stale = nil, "", false
	if u.n.Kind == model.KindFile || u.n.Kind == model.KindLink {
		u.rec.Stamp = model.Stamp{Size: e.Stamp.Size, ModTime: e.Stamp.ModTime}
	}
	return nil
}

// bringDocBack lets the note that was brought back have its document again, with
// who wrote what.
func (u *undoing) bringDocBack() {
	at := model.Path(u.rec.Rel)
	if have, err := u.Store.DocID(at); u.rec.Doc == "" || err == nil && have == u.rec.Doc {
		return
	}
	seq, err := u.Store.Append(u.rec.Doc, at, model.Record{Update: model.EmptyUpdate(), Time: time.Now().UTC()})
	if err != nil {
		u.log.Warn("note comes back without its history", model.LogPath, u.rec.Rel, model.LogErr, err)
		return
	}
	u.Store.Materialized(u.rec.Doc, seq, model.SumOf(string(u.rec.Old)))
}

func (u *undoing) revertFile(ctx context.Context) error {
	rel := u.n.Place().Rel
	if m := model.MergerOf(u.Source, rel); m != nil && u.rec.Rel != "" {
		return u.merge(ctx, m, u.n, u.rec.New, u.rec.Old)
	}
	have, stamp, err := u.Source.Read(ctx, rel)
	if err != nil {
		return err
	}
	if !bytes.Equal(have, u.rec.New) {
		return tree.ErrElsewhere
	}
	if u.rec.Rel == "" {
		if err := u.Structure.Remove(ctx, rel); err != nil {
			return err
		}
		u.Unplaced(u.n)
		return nil
	}
	if stamp, err = u.Source.Replace(ctx, rel, model.Replacement{Expect: stamp, Data: u.rec.Old, ModTime: time.Now()}); err != nil {
		return err
	}
	u.SetStamp(u.n, stamp)
	u.rec.Stamp = model.Stamp{Size: stamp.Size, ModTime: stamp.ModTime}
	return nil
}

// propose lets the proposal wait again, and shows it as done: in dir, unless that is nil.
func (u *undoing) propose(dir *tree.Node) (*tree.Proposal, error) {
	change := model.ProposalChange{Put: []model.ProposalRecord{u.rec}, Journal: []model.Record{u.rec.Decided(u.d, time.Now().UTC())}}
	if err := u.Store.Propose(change); err != nil {
		return nil, err
	}
	p, events := u.Add(u.n, dir, u.rec)
	for _, ev := range events {
		if ev.Kind == model.EventRenamed && ev.Path == ev.OldPath {
			ev = model.Event{Kind: model.EventPending, Path: ev.Path, Dir: ev.Dir}
		}
		u.Tell(ev)
	}
	return p, nil
}
