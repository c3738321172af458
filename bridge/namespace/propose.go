package namespace

import (
	"bytes"
	"context"
	"path"
	"time"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/namespace/internal/tree"
	"github.com/relayfs/relayfs/bridge/note"
)

func (l *Locked) newRecord(kind model.ProposalKind, rel string, author model.Author) model.ProposalRecord {
	return model.ProposalRecord{
		ID: string(note.NewDocID()[:10]), Kind: kind, Rel: rel, Author: author.Name, Session: author.Session,
		Time: time.Now().UTC(), Order: l.sequence.Next(),
	}
}

// add stores a new proposal for n, or for a new file if n is nil, and shows the node in dir.
func (l *Locked) add(n, dir *tree.Node, rec model.ProposalRecord) error {
	if err := l.Store.Propose(model.ProposalChange{Upserted: []model.ProposalRecord{rec}}); err != nil {
		return err
	}
	l.Add(n, dir, rec)
	return nil
}

// ShowAt shows n, which was just added to the source, at the given destination. If the source has n at another place,
// ShowAt adds a proposal to rename it.
func (l *Locked) ShowAt(ctx context.Context, n *tree.Node, at tree.Destination, author model.Author) error {
	if at.Dir == nil || path.Base(at.Rel) == at.Name {
		return nil
	}
	rec := l.newRecord(model.ProposedRename, at.Rel, author)
	if err := identify(ctx, &rec, n); err != nil {
		return err
	}
	rec.ToDir, rec.Name = at.Dir.Location().Rel, at.Name
	return l.add(n, at.Dir, rec)
}

// WithdrawDeletion withdraws the proposal to delete n and shows n again, because an author creates it again.
func (l *Locked) WithdrawDeletion(n *tree.Node, author model.Author, origin any) error {
	deletion := n.State().Pending
	if err := l.Store.Propose(model.ProposalChange{Removed: []string{deletion.ID}}); err != nil {
		return err
	}
	for _, ev := range l.RevertAll([]*tree.Proposal{deletion}) {
		ev.Origin, ev.By = origin, author
		l.QueueEvents(ev)
	}
	return nil
}

// NewFoldersFor returns dir and the folders above it, innermost first. It stops before the first existing folder that
// no agent made.
func (l *Locked) NewFoldersFor(dir string) (made []string) {
	for ; dir != ""; dir = model.Parent(dir) {
		if x := l.Lookup(dir); x != nil && x.State().CreatedBy.Name == "" {
			break
		}
		made = append(made, dir)
	}
	return made
}

// CompleteRename removes the proposal to rename n, because n has just got its new name or another change has made the
// proposal pointless. If author is not nil, the author has removed n, and the rename's link rewrites end, too.
func (l *Locked) CompleteRename(n *tree.Node, author *model.Author) error {
	p := n.State().Pending
	if p == nil {
		return nil
	}
	change := model.ProposalChange{Removed: []string{p.ID}}
	if author != nil {
		change.Upserted = []model.ProposalRecord{withdrawnRename(p, nil, *author)}
	}
	l.Withdraw(p)
	l.completed = append(l.completed, change.Upserted...)
	return l.Store.Propose(change)
}

// identify sets the fields of a proposal that identify its node and the node's present state.
func identify(ctx context.Context, rec *model.ProposalRecord, n *tree.Node) (err error) {
	if n.Kind == model.KindNote {
		rec.Doc, rec.Stamp, rec.Sum, err = n.Note().State(ctx)
		return err
	}
	st := n.State()
	if s, ok := n.Root.Source.(model.Stater); ok && !st.Proposed {
		if e, err := s.Stat(st.Rel); err == nil {
			rec.Stamp = e.Stamp
		}
	}
	rec.Dir, rec.Stamp.Size, rec.Stamp.ModTime = n.Kind == model.KindDir, st.Size, st.ModTime.UnixNano()
	return nil
}

// isNodeOf reports whether n is the node of the proposal, and not another note that has its path now.
func isNodeOf(ctx context.Context, n *tree.Node, rec *model.ProposalRecord) bool {
	if n.Note() == nil || rec.Doc == "" {
		return true
	}
	id, err := n.Note().DocID(ctx)
	return err != nil || id == rec.Doc
}

// Move shows n at its new place and stores the proposal. All renames of n share one proposal, and id is its ID. If n
// moves back to its place in the source, Move withdraws the proposal instead. id is then empty, as for an n that exists
// only as a proposal. owes are the links to rewrite after the rename.
func (l *Locked) Move(ctx context.Context, n *tree.Node, to tree.Target, author model.Author, owes []model.PendingRelink) (id string, err error) {
	st := n.State()
	p := st.Pending
	if st.Proposed {
		p = st.Content
	}
	rec := l.newRecord(model.ProposedRename, st.Rel, author)
	if err := identify(ctx, &rec, n); err != nil {
		return "", err
	}
	if p != nil {
		if rec = p.Record(); rec.Kind == model.ProposedRename {
			// A proposed file keeps its author when another agent renames the file.
			rec.Author, rec.Session = author.Name, author.Session
		}
	}
	rec.ToDir, rec.Name, rec.Blocked = to.Dir.Location().Rel, to.Name, false
	rec.AddPendingRelinks(owes)
	change := model.ProposalChange{Upserted: []model.ProposalRecord{rec}}
	withdrawn := st.Moved && to.InSource() == n
	if withdrawn {
		change = model.ProposalChange{Upserted: []model.ProposalRecord{withdrawnRename(p, rec.PendingRelinks, author)}, Removed: []string{rec.ID}}
	} else if !st.Proposed {
		id = rec.ID
	}
	if err := l.Store.Propose(change); err != nil {
		return "", err
	}
	if withdrawn {
		l.Withdraw(p)
		l.completed = append(l.completed, change.Upserted...)
	}
	if p == nil {
		l.Add(n, to.Dir, rec)
	} else {
		p.Show(to.Dir, rec)
	}
	return id, nil
}

// withdrawnRename is decidedRename for a rename that the author ends by another change of its node.
func withdrawnRename(p *tree.Proposal, owes []model.PendingRelink, author model.Author) model.ProposalRecord {
	_, lost := p.Node.Location().Path.Split()
	rec := decidedRename(p.Record(), owes, withdrawal(author), lost)
	rec.Author, rec.Session = author.Name, author.Session
	return rec
}

func withdrawal(author model.Author) model.Decision {
	return model.Decision{Batch: model.NewBatch(), Verdict: model.Rejected, By: author.Name, Withdrawn: true}
}

// Delete hides n and returns the ID of the proposal to delete it, or "" if n exists only as a proposal. It withdraws
// the other proposals for n. The journal records withdrawn content, unless n exists only as a proposal of the same
// session. It also records the withdrawn rename of a node in the source if another author had proposed it.
func (l *Locked) Delete(ctx context.Context, n *tree.Node, author model.Author, origin any) (id string, err error) {
	st := n.State()
	rec := l.newRecord(model.ProposedDelete, st.Rel, author)
	if err := identify(ctx, &rec, n); err != nil {
		return "", err
	}
	var change model.ProposalChange
	if !st.Proposed {
		change.Upserted = []model.ProposalRecord{rec}
	}
	lapse := func(old model.ProposalRecord) { change.Journal = append(change.Journal, withdrawnRecord(old, author)) }
	var ended []model.ProposalRecord
	if st.Pending != nil {
		old := st.Pending.Record()
		ended = []model.ProposalRecord{withdrawnRename(st.Pending, old.PendingRelinks, author)}
		change.Removed, change.Upserted = append(change.Removed, old.ID), append(change.Upserted, ended...)
		if old.Author != author.Name {
			lapse(old)
		}
	}
	if st.Content != nil {
		old := st.Content.Record()
		change.Removed = append(change.Removed, old.ID)
		if !st.Proposed || !author.Is(model.Author{Name: old.Author, Session: old.Session}) {
			lapse(old)
		}
	}
	if err := l.Store.Propose(change); err != nil {
		return "", err
	}
	l.completed = append(l.completed, ended...)
	l.QueueEvents(model.Event{Kind: model.EventRemoved, Path: st.Path, Dir: n.Kind == model.KindDir, ViewChanged: true, Origin: origin, By: author})
	if st.Proposed {
		l.Withdraw(st.Content)
		l.Forget(n)
		return "", nil
	}
	l.Add(n, nil, rec)
	return rec.ID, nil
}

func withdrawnRecord(old model.ProposalRecord, author model.Author) model.Record {
	return old.Decided(withdrawal(author), time.Now().UTC())
}

func (l *Locked) File(at tree.Destination, data []byte, author model.Author) (id string, err error) {
	rec := l.newRecord(model.ProposedFile, "", author)
	rec.ToDir, rec.Name, rec.New = at.Dir.Location().Rel, at.Name, data
	if err := l.add(nil, at.Dir, rec); err != nil {
		return "", err
	}
	return rec.ID, nil
}

// Content proposes data as the content of the file n. It replaces content that was proposed earlier; the journal
// records the earlier content if another session proposed it. If the file in the source already has this content, no
// proposal remains, and id is empty. base is the sum of the content that the writer has read, or zero for any content.
// Content returns model.ErrConflict if the sum of the content that readers see differs from base.
func (l *Locked) Content(ctx context.Context, n *tree.Node, data []byte, base model.ContentSum, author model.Author, origin any) (id string, err error) {
	st := n.State()
	rec := l.newRecord(model.ProposedFile, st.Rel, author)
	rec.New = data
	needless := false
	if st.Proposed {
		rec.ToDir, rec.Name = st.Dir.Location().Rel, st.Name
	} else {
		have, stamp, err := l.Source.Read(ctx, rec.Rel)
		if err != nil {
			return "", err
		}
		rec.Old, rec.Stamp = append([]byte{}, have...), stamp
		needless = bytes.Equal(have, data)
	}
	change := model.ProposalChange{Upserted: []model.ProposalRecord{rec}}
	shown := rec.Old
	if st.Content != nil {
		// The writer saw the proposed content, not the user's later changes.
		old := st.Content.Record()
		shown = old.New
		rec.Old, rec.Stamp, rec.Stale = old.Old, old.Stamp, old.Stale
		change = model.ProposalChange{Upserted: []model.ProposalRecord{rec}, Removed: []string{old.ID}}
		if !author.Is(model.Author{Name: old.Author, Session: old.Session}) {
			change.Journal = []model.Record{withdrawnRecord(old, author)}
		}
	}
	if base != (model.ContentSum{}) && base != model.SumOf(string(shown)) {
		return "", model.ErrConflict
	}
	if st.Content != nil && !needless && bytes.Equal(shown, data) {
		return st.Content.ID, nil
	}
	if needless {
		change.Upserted = nil
	}
	if err := l.Store.Propose(change); err != nil {
		return "", err
	}
	l.QueueEvents(model.Event{Kind: model.EventChanged, Path: st.Path, ViewChanged: true, Origin: origin, By: author})
	if needless {
		l.Withdraw(st.Content)
		return "", nil
	}
	l.Add(n, nil, rec)
	return rec.ID, nil
}
