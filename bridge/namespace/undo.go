package namespace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"time"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/namespace/internal/tree"
)

// This file undoes decisions on proposals. It reverts the change in the source, makes the proposal pending again, and
// applies the proposal to the shown tree.

// Undo undoes the decisions of journal entries, which must be newest first. The Rel of an entry is the present path of
// its node. Undo undoes acceptances one by one, and then all rejections together. It undoes an exchange of names as a
// whole or not at all. The decisions concern proposals of the root and were made in one batch. Undo returns the
// proposals that are pending again, and, by ID, the errors of the other proposals, such as tree.ErrMovedSince. d is the
// decision that records the undo.
func (f *Root) Undo(ctx context.Context, entries []model.JournalEntry, d model.Decision) (again []model.Proposal, failed map[string]error) {
	l := f.Lock()
	defer l.Unlock()
	u := undoOp{Locked: l, d: d, failed: make(map[string]error)}
	var accepted, rejected []model.ProposalRecord
	moved := make(map[string]string) // paths at which the decisions left nodes that are no longer there, by proposal ID
	for _, e := range entries {
		rec := *e.Decision.Proposal
		rec.PendingDecision, rec.MovingTo = nil, ""
		if e.Decision.Verdict == model.Accepted {
			accepted = append(accepted, rec)
		} else {
			rejected = append(rejected, rec)
		}
		if n := l.Lookup(e.Rel); n == nil || n.State().Pending != nil || !isNodeOf(ctx, n, &rec) {
			moved[rec.ID] = e.Rel
		}
	}
	list := append(u.acceptances(ctx, u.wholeExchanges(accepted, moved)), u.rejections(ctx, u.wholeExchanges(rejected, moved))...)
	l.restoreNames(ctx)
	l.PersistChanges()
	for _, p := range list {
		again = append(again, p.Public())
	}
	return again, u.failed
}

type undoOp struct {
	*Locked
	d      model.Decision
	failed map[string]error // errors by proposal ID
}

// wholeExchanges returns the records without the exchanges of names in which a node has moved since. If the other nodes
// got their names back, links to that node would lead to them.
func (u *undoOp) wholeExchanges(recs []model.ProposalRecord, moved map[string]string) (whole []model.ProposalRecord) {
	for i, rec := range recs {
		for _, x := range exchangeOf(recs, i) {
			at, ok := moved[x.ID]
			switch {
			case !ok || u.failed[rec.ID] != nil:
			case x.ID == rec.ID:
				u.failed[rec.ID] = fmt.Errorf("%w; put it back at %q, or decide on that proposal, then undo the exchange of names again", tree.ErrMovedSince, u.Path().Join(at))
			default:
				u.failed[rec.ID] = fmt.Errorf("cannot be undone without %q, with which it exchanged names", u.Path().Join(x.From()))
			}
		}
		if u.failed[rec.ID] == nil {
			whole = append(whole, rec)
		}
	}
	return whole
}

// exchangeOf returns the renames that pass their names on in a circle, beginning with recs[i], or nil if recs[i] is in
// no circle.
func exchangeOf(recs []model.ProposalRecord, i int) (circle []model.ProposalRecord) {
	for at := i; len(circle) < len(recs); {
		circle = append(circle, recs[at])
		at = slices.IndexFunc(recs, func(x model.ProposalRecord) bool { return x.Kind == model.ProposedRename && x.To() == recs[at].From() })
		switch at {
		case i:
			return circle
		case -1:
			return nil
		}
	}
	return nil
}

// acceptances undoes acceptances one by one, newest first. It retries failed undos, because another undo may have freed
// the place that they need. A node with a temporary name gets its own name back as soon as possible, because the node
// of an earlier decision may be inside it.
func (u *undoOp) acceptances(ctx context.Context, left []model.ProposalRecord) (list []*tree.Proposal) {
	for again := true; again; {
		again = false
		var away []model.Path // folders that are not restored yet; nodes of earlier decisions inside them are missing, too
		left = slices.DeleteFunc(left, func(rec model.ProposalRecord) bool {
			var p *tree.Proposal
			err := tree.ErrMovedSince
			if !slices.ContainsFunc(away, func(dir model.Path) bool {
				return dir.Contains(model.Path(rec.Rel)) || dir.Contains(model.Path(rec.To()))
			}) {
				p, err = u.acceptance(ctx, rec)
			}
			if err != nil {
				u.failed[rec.ID] = err
				if rec.Dir {
					away = append(away, model.Path(rec.Rel))
				}
				return false
			}
			delete(u.failed, rec.ID)
			list, again = append(list, p), true
			u.restoreNames(ctx)
			return true
		})
	}
	return list
}

func (u *undoOp) acceptance(ctx context.Context, rec model.ProposalRecord) (*tree.Proposal, error) {
	found, err := u.FindAccepted(rec)
	if err == nil && found.Node != nil && !isNodeOf(ctx, found.Node, &rec) {
		err = tree.ErrMovedSince
	}
	if err != nil {
		return nil, err
	}
	r := revertOp{undoOp: u, current: rec, node: found.Node}
	if err := r.revert(ctx); err != nil {
		return nil, err
	}
	r.restamp(ctx, &r.current, r.node)
	p, err := r.propose(found.Dir)
	u.PersistChanges()
	return p, err
}

// rejections makes all proposals that were rejected together pending again in one step, because one proposal may need
// the place that another proposal leaves.
func (u *undoOp) rejections(ctx context.Context, recs []model.ProposalRecord) []*tree.Proposal {
	recs = slices.DeleteFunc(recs, func(rec model.ProposalRecord) bool {
		n := u.Lookup(rec.Rel)
		another := n != nil && !isNodeOf(ctx, n, &rec)
		if another {
			u.failed[rec.ID] = tree.ErrMovedSince
		}
		return another
	})
	found, elsewhere := u.FindRejected(recs)
	for _, rec := range elsewhere {
		u.failed[rec.ID] = tree.ErrMovedSince
	}
	var change model.ProposalChange
	now := time.Now().UTC()
	for i := range found {
		rec := &found[i].Record
		u.restamp(ctx, rec, found[i].Node)
		change.Upserted = append(change.Upserted, *rec)
		change.Journal = append(change.Journal, rec.Decided(u.d, now))
	}
	if len(found) == 0 {
		return nil
	}
	if err := u.Store.Propose(change); err != nil {
		for _, d := range found {
			u.failed[d.Record.ID] = err
		}
		return nil
	}
	list, events := u.AddRejected(found)
	u.QueueEvents(events...)
	return list
}

// restamp makes the record identify the present state of n. A deletion is stale if a user has changed the note after the
// decision.
func (u *undoOp) restamp(ctx context.Context, rec *model.ProposalRecord, n *tree.Node) {
	if n == nil || rec.Kind == model.ProposedFile {
		return
	}
	now := *rec
	typed := rec.Kind == model.ProposedDelete && changedInSource(ctx, n, *rec) // before identify reads the note
	if err := identify(ctx, &now, n); err == nil {
		if rec.Kind == model.ProposedDelete && now.Sum != rec.Sum {
			typed = typed || n.Note().TypedSince(ctx, rec.Sum)
		}
		now.Stale = rec.Stale || typed
		*rec = now
	}
}

type revertOp struct {
	*undoOp
	current model.ProposalRecord
	node    *tree.Node // the node of the proposal; nil if it does not exist
}

// revert undoes the accepted change in the source. If a crash interrupts it, the next process determines the outcome.
func (u *revertOp) revert(ctx context.Context) error {
	started := u.current
	started.PendingDecision = &u.d
	if err := u.Store.Propose(model.ProposalChange{Upserted: []model.ProposalRecord{started}}); err != nil {
		return err
	}
	err := u.revertSource(ctx)
	if err != nil {
		err = errors.Join(err, u.Store.Propose(model.ProposalChange{Removed: []string{u.current.ID}}))
	}
	return err
}

func (u *revertOp) revertSource(ctx context.Context) error {
	switch u.current.Kind {
	case model.ProposedRename:
		dir, name := model.Path(u.current.Rel).Dir(), path.Base(u.current.Rel)
		_, err := u.moveSource(ctx, u.node, u.current.To(), u.current.Rel, tree.Target{Dir: u.Lookup(string(dir)), Name: name}, u.current.CanvasNodes)
		return err
	case model.ProposedDelete:
		return u.recreate(ctx)
	}
	return u.revertFile(ctx)
}

func (u *revertOp) recreate(ctx context.Context) error {
	e := model.SourceEntry{Rel: u.current.Rel, Dir: u.current.Dir, Mode: 0o644, Stamp: model.Stamp{ModTime: time.Now().UnixNano()}}
	var err error
	switch {
	case u.current.Dir:
		e.Mode = 0o755
		err = u.Structure.Mkdir(ctx, u.current.Rel)
	case u.current.Link != "":
		linker, ok := u.Structure.(model.Linker)
		if !ok {
			return errors.ErrUnsupported
		}
		e, err = linker.MakeLink(ctx, u.current.Rel, u.current.Link)
	case u.current.Old == nil:
		err = errors.New("is too large for relayfs to restore; it is in the trash")
	default:
		e, err = u.RestoreFile(ctx, u.current.Rel, u.current.Doc, u.current.Stamp, u.current.Old, nil)
	}
	if err != nil {
		return err
	}
	u.reattachDoc(e.Stamp)
	u.node = u.PutHidden(e)
	u.current.Stamp, u.current.Sum = e.Stamp, model.SumOf(string(u.current.Old))
	u.current.Old, u.current.Link = nil, ""
	return nil
}

// RestoreFile restores the file that was removed from rel, with the given document, stamp and content, if the source has
// kept the file. Otherwise it creates an equal file. The argument meanwhile is the BeforeRename of that NewFile.
func (l *Locked) RestoreFile(ctx context.Context, rel string, doc model.DocID, stamp model.Stamp, data []byte, meanwhile func(model.Stamp) error) (e model.SourceEntry, err error) {
	err = fs.ErrNotExist
	if from, ok := l.Structure.(model.Restorer); ok {
		e, err = from.Restore(ctx, rel, doc, stamp, data)
	}
	if errors.Is(err, fs.ErrNotExist) {
		file := model.NewFile{Data: data, Mode: 0o644, ModTime: time.Unix(0, stamp.ModTime), BeforeRename: meanwhile}
		e = model.SourceEntry{Rel: rel, Mode: file.Mode}
		e.Stamp, err = l.Structure.Create(ctx, rel, file)
	}
	return e, err
}

// reattachDoc attaches the note's document again, with its authors, after the note was restored as a file with the
// given stamp.
func (u *revertOp) reattachDoc(file model.Stamp) {
	at := model.Path(u.current.Rel)
	if have, err := u.Store.DocID(at); u.current.Doc == "" || err == nil && have == u.current.Doc {
		return
	}
	if p, err := u.Store.DocPath(u.current.Doc); err == nil && p != "" && u.Lookup(string(p)) != nil {
		u.log.Warn("note restored without its history, which its copy has", model.LogPath, u.current.Rel, "copy", string(p))
		return
	}
	sum := model.SumOf(string(u.current.Old))
	seq, err := u.Store.Append(u.current.Doc, at, model.Record{Update: model.EmptyUpdate(), Time: time.Now().UTC(), Save: &model.Save{Post: file, Sum: sum[:]}})
	if err != nil {
		u.log.Warn("note restored without its history", model.LogPath, u.current.Rel, model.LogErr, err)
		return
	}
	u.Store.RecordFileSeq(u.current.Doc, seq, sum, file)
}

func (u *revertOp) revertFile(ctx context.Context) error {
	rel := u.node.Location().Rel
	if m := model.MergerOf(u.Source, rel); m != nil && u.current.Rel != "" {
		return u.merge(ctx, m, u.node, u.current.New, u.current.Old)
	}
	have, stamp, err := u.Source.Read(ctx, rel)
	if err != nil {
		return err
	}
	if !bytes.Equal(have, u.current.New) {
		return tree.ErrMovedSince
	}
	if u.current.Rel == "" {
		if err := u.Structure.Remove(ctx, rel); err != nil {
			return err
		}
		u.MarkProposedOnly(u.node)
		return nil
	}
	if stamp, err = u.replaceDurably(ctx, u.node, rel, stamp, have, u.current.Old); err != nil {
		return err
	}
	u.current.Stamp = stamp
	return nil
}

// propose makes the proposal pending again and applies it to the shown tree. dir is the folder that shows its node, or
// nil.
func (u *revertOp) propose(dir *tree.Node) (*tree.Proposal, error) {
	change := model.ProposalChange{Upserted: []model.ProposalRecord{u.current}, Journal: []model.Record{u.current.Decided(u.d, time.Now().UTC())}}
	if err := u.Store.Propose(change); err != nil {
		return nil, err
	}
	p, events := u.Add(u.node, dir, u.current)
	for _, ev := range events {
		if ev.Kind == model.EventRenamed && ev.Path == ev.OldPath {
			ev = model.Event{Kind: model.EventPending, Path: ev.Path, Dir: ev.Dir}
		}
		u.QueueEvents(ev)
	}
	return p, nil
}
