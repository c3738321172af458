package namespace

import (
	"context"
	"errors"
	"slices"

	"github.com/relayfs/relayfs/bridge/index/links"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/namespace/internal/tree"
)

// Rename moves a note, file or folder within its root. It replaces an existing file only if o.Replace is set. It
// rewrites links that led to the old path, or that would now lead to another file. The rename is a proposal, unless the
// structure policy is direct, or the node is the author's own and the new name is free. Errors: fs.ErrNotExist,
// fs.ErrExist, ErrIsDir, ErrOtherKind if it would turn a note into a file of another type or the reverse,
// errors.ErrUnsupported for another root, ErrNeedsReview if the policy denies it, ErrNameTaken.
func (n *Namespace) Rename(ctx context.Context, oldPath, newPath model.Path, o ChangeRequest) (ChangeResult, error) {
	if err := n.begin("rename", oldPath); err != nil {
		return ChangeResult{}, err
	}
	defer n.config.Events.EndOp()
	f, err := n.structureAt("rename", oldPath)
	if err != nil {
		return ChangeResult{}, err
	}
	if _, err := n.structureAt("rename", newPath); err != nil {
		return ChangeResult{}, err
	}
	if newPath.Base() != oldPath.Base() {
		if err := n.tree.CheckNew("rename", newPath); err != nil {
			return ChangeResult{}, err
		}
	}
	index, err := n.config.Links.LinkIndex(ctx)
	if err != nil {
		n.config.Logger.Warn("the link index is incomplete", model.LogErr, err)
	}
	m, err := n.renameWithin(ctx, f, index, oldPath, newPath, o)
	if err != nil {
		return ChangeResult{}, model.WrapError("rename", oldPath, err)
	}
	return n.finishMove(ctx, f, m), nil
}

func (n *Namespace) finishMove(ctx context.Context, f *Root, m *renameOp) (res ChangeResult) {
	n.EndRenames(ctx, f)
	switch {
	case m.id != "":
		if p := m.node.State().Pending; p != nil && p.ID == m.id && len(m.relinks) > 0 {
			res = n.finishProposed(ctx, f, p)
		}
	default:
		for _, rec := range f.TakeCompleted(func(rec *model.ProposalRecord) bool { return rec.ID == m.recorded }) {
			res = n.finishDone(ctx, f, rec)
		}
	}
	res.Proposal = m.id
	return res
}

type renameOp struct {
	node *tree.Node
	to   tree.Target
	from model.Path
	req  ChangeRequest
	now  bool   // the rename is applied without a proposal
	id   string // ID of the resulting proposal, or ""

	relinks  []model.PendingRelink
	recorded string // result of RecordRename; "" if it was not called
}

func (n *Namespace) renameWithin(ctx context.Context, f *Root, index *links.Index, oldPath, newPath model.Path, o ChangeRequest) (m *renameOp, err error) {
	l := f.Lock()
	defer l.Unlock()
	if m, err = n.newRenameOp(oldPath, newPath, o); err != nil {
		return nil, err
	}
	if err = checkTargetFree(ctx, l, m.to); err != nil || m.node.Location().Path == newPath {
		return m, err
	}
	if warning := n.caseWarning(newPath, oldPath); warning != "" {
		n.config.Logger.Warn("new name", model.LogPath, string(newPath), "warning", warning)
	}
	m.relinks = n.affectedLinks(ctx, f, index, oldPath, newPath, m.node)
	st := m.node.State()
	if len(m.relinks) == 0 || !m.now && !st.Proposed {
		return m, n.moveTo(ctx, l, m)
	}
	if m.recorded, err = l.RecordRename(st.Rel, m.to.Rel(), o.Author, m.relinks); err != nil {
		return m, err
	}
	if err = n.moveTo(ctx, l, m); err != nil {
		return m, errors.Join(err, l.DropRename(m.recorded))
	}
	return m, nil
}

func (n *Namespace) newRenameOp(oldPath, newPath model.Path, o ChangeRequest) (*renameOp, error) {
	x, err := n.tree.Find("rename", oldPath)
	if err != nil {
		return nil, err
	}
	if err := mayMove(x, newPath); err != nil {
		return nil, err
	}
	if err := n.tree.MayMove("rename", x); err != nil {
		return nil, err
	}
	if content := x.State().Content; content != nil {
		if err := checkContent(newPath, content.Record().New); err != nil {
			return nil, err
		}
	}
	m := &renameOp{node: x, from: oldPath, req: o, now: n.config.Structure == Direct || n.isAgentsOwn(x, o.Author)}
	if m.to, err = n.tree.TargetAt(x, newPath, o.Replace); err != nil {
		return nil, err
	}
	if m.now && n.config.Structure != Direct {
		// The source may still have the target's folder in x, although it is shown elsewhere.
		isInside := model.Path(x.State().Rel).Contains(model.Path(m.to.Rel()))
		m.now = m.to.Existing == nil && m.to.InSource() == nil && !isInside
	}
	return m, nil
}

func mayMove(x *tree.Node, p model.Path) error {
	if x.KindAs(p.Base()) != x.Kind {
		return &model.Error{Op: "rename", Path: p, Err: model.ErrOtherKind}
	}
	return x.MayMoveTo(p)
}

// checkTargetFree returns an error if the target looks free but a hidden entry has the name.
func checkTargetFree(ctx context.Context, l *Locked, to tree.Target) error {
	if to.Existing != nil || to.InSource() != nil {
		return nil
	}
	hidden, err := l.Structure.Hidden(ctx, to.Rel())
	if err == nil && len(hidden) > 0 {
		err = model.ErrHidden
	}
	return model.WrapError("rename", to.Path(), err)
}

func (n *Namespace) moveTo(ctx context.Context, l *Locked, m *renameOp) (err error) {
	if m.now && !m.node.State().Proposed {
		return n.moveNow(ctx, l, m)
	}
	if m.to.Existing != nil {
		if err := n.removeTarget(ctx, l, m); err != nil {
			return err
		}
	}
	if m.id, err = l.Move(ctx, m.node, m.to, m.req.Author, m.relinks); err == nil {
		l.QueueEvents(m.event())
	}
	return err
}

func (n *Namespace) removeTarget(ctx context.Context, l *Locked, m *renameOp) error {
	there := m.to.Existing
	if st := there.State(); !st.Moved && n.isAgentsOwn(there, m.req.Author) {
		return n.removeNow(ctx, l, there, st.Path, m.req)
	}
	_, err := l.Delete(ctx, there, m.req.Author, m.req.Origin)
	return err
}

func (n *Namespace) moveNow(ctx context.Context, l *Locked, m *renameOp) error {
	to := m.to
	unlock := l.LockNotes(m.node)
	defer unlock()
	oldRel, newRel, inSource := m.node.Location().Rel, to.Rel(), to.InSource()
	if inSource != nil && inSource != to.Existing && inSource != m.node {
		return &model.Error{Op: "rename", Path: to.Path(), Err: model.ErrNameTaken}
	}
	if to.Existing != nil {
		if st := to.Existing.State(); st.Moved && !st.Proposed {
			if err := l.Structure.Remove(ctx, st.Rel); err != nil {
				return err
			}
		}
	}
	if oldRel != newRel {
		if err := l.Structure.Rename(ctx, oldRel, newRel, inSource != nil && inSource == to.Existing); err != nil {
			return err
		}
	}
	err := l.CompleteRename(m.node, nil)
	l.MoveInSource(m.node, to, m.req.Author)
	if oldRel != newRel && m.node.Kind == model.KindNote {
		l.EndDocs(newRel) // ends the document of the replaced note
	}
	err = errors.Join(err, l.Store.Rename(model.Path(oldRel), model.Path(newRel)))
	l.CanvasesFollow(ctx, oldRel, newRel, nil)
	l.QueueEvents(m.event())
	return err
}

func (m *renameOp) event() model.Event {
	return model.Event{
		Kind: model.EventRenamed, Path: m.node.Location().Path, OldPath: m.from, Dir: m.node.Kind == model.KindDir, ViewChanged: true, Origin: m.req.Origin, By: m.req.Author,
	}
}

// Exchange exchanges the names of two notes, or of two other files, of one root. It makes three renames through a free
// name, and undoes them if one of them fails. Each of them may be a proposal, see Rename. It returns the errors of
// Rename.
func (n *Namespace) Exchange(ctx context.Context, a, b model.Path, o ChangeRequest) error {
	o.Replace = false
	x, err := n.tree.Find("rename", a)
	if err != nil {
		return err
	}
	if n.isAgentsOwn(x, o.Author) { // otherwise the first step would need no proposal, and users would see the name
		a, b = b, a
	}
	aside, err := n.tree.FreeBeside(a)
	if err != nil {
		return err
	}
	steps := [][2]model.Path{{a, aside}, {b, a}, {aside, b}}
	for i, step := range steps {
		if _, err = n.Rename(ctx, step[0], step[1], o); err == nil {
			continue
		}
		for _, done := range slices.Backward(steps[:i]) {
			if _, undo := n.Rename(ctx, done[1], done[0], o); undo != nil {
				return errors.Join(err, undo)
			}
		}
		return err
	}
	return nil
}
