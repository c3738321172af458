package namespace

import (
	"context"
	"errors"
	"slices"

	"github.com/relayfs/relayfs/bridge/index/links"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/namespace/internal/tree"
)

// Rename moves a note, file or folder within its Folder. It replaces an existing file only if
// o.Replace is set. Links that led there, or would lead elsewhere, are rewritten. Unless the
// structure policy is direct it is a proposal. Errors: fs.ErrNotExist, fs.ErrExist, ErrIsDir,
// ErrNotNote if it would turn another file into a note or the reverse, errors.ErrUnsupported to
// another Folder, ErrNeedsReview if the policy denies it, ErrNameTaken.
func (n *Names) Rename(ctx context.Context, oldPath, newPath model.Path, o Restructure) (Restructured, error) {
	if err := n.begin("rename", oldPath, o); err != nil {
		return Restructured{}, err
	}
	defer n.c.Activity.EndOp()
	f, err := n.structureAt("rename", oldPath)
	if err != nil {
		return Restructured{}, err
	}
	if _, err := n.structureAt("rename", newPath); err != nil {
		return Restructured{}, err
	}
	if newPath.Base() != oldPath.Base() {
		if err := n.tree.CheckNew("rename", newPath); err != nil {
			return Restructured{}, err
		}
	}
	index, err := n.c.Links.LinkIndex(ctx)
	if err != nil {
		n.c.Logger.Warn("the link index is incomplete", model.LogErr, err)
	}
	m, err := n.moveIn(ctx, f, index, oldPath, newPath, o)
	if err != nil {
		return Restructured{}, model.WrapError("rename", oldPath, err)
	}
	return n.finishMove(ctx, f, m), nil
}

func (n *Names) finishMove(ctx context.Context, f *Folder, m *moving) (res Restructured) {
	switch {
	case m.gone != "":
		n.consequences.OnWithdrawn(context.WithoutCancel(ctx), m.gone, m.o.By)
	case m.id != "":
		if p := m.n.State().Pending; p != nil && p.ID == m.id && len(m.owes) > 0 {
			res = n.finishProposed(ctx, f, p)
		}
	default:
		for _, rec := range f.TakeDone(func(rec *model.ProposalRecord) bool { return rec.ID == m.owed }) {
			res = n.finishDone(ctx, f, rec)
		}
	}
	res.Proposal, res.Warnings = m.id, m.warnings
	return res
}

type moving struct {
	n    *tree.Node
	to   tree.Target
	from model.Path
	o    Restructure
	now  bool   // done at once, without a proposal
	id   string // ID of the resulting proposal, or ""
	gone string // ID of the proposal that it withdrew, or ""

	warnings []string

	owes []model.PendingRelink
	owed string // result of Owe, "" if it was not called
}

func (n *Names) moveIn(ctx context.Context, f *Folder, index *links.Index, oldPath, newPath model.Path, o Restructure) (m *moving, err error) {
	l := f.Lock()
	defer l.Unlock()
	if m, err = n.moveOf(oldPath, newPath, o); err != nil {
		return nil, err
	}
	if err = freeAt(ctx, l, m.to); err != nil || m.n.Place().Path == newPath {
		return m, err
	}
	if warning := n.caseWarning(newPath, oldPath); warning != "" {
		n.c.Logger.Warn("new name", model.LogPath, string(newPath), "warning", warning)
		m.warnings = append(m.warnings, warning)
	}
	m.owes = n.owed(ctx, f, index, oldPath, newPath, m.n)
	st := m.n.State()
	if len(m.owes) == 0 || !m.now && !st.Virtual {
		return m, n.moveTo(ctx, l, m)
	}
	if m.owed, err = l.Owe(st.Rel, m.to.Rel(), o.By, m.owes); err != nil {
		return m, err
	}
	if err = n.moveTo(ctx, l, m); err != nil {
		return m, errors.Join(err, l.Forgive(m.owed))
	}
	return m, nil
}

func (n *Names) moveOf(oldPath, newPath model.Path, o Restructure) (*moving, error) {
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
	m := &moving{n: x, from: oldPath, o: o, now: n.c.Structure == Direct || n.isOwn(x, o.By)}
	if m.to, err = n.tree.TargetAt(x, newPath, o.Replace); err != nil {
		return nil, err
	}
	if m.now && n.c.Structure != Direct {
		m.now = m.to.There == nil && m.to.InSource() == nil
	}
	return m, nil
}

func mayMove(x *tree.Node, p model.Path) error {
	if x.KindAs(p.Base()) != x.Kind {
		return &model.Error{Op: "rename", Path: p, Err: model.ErrNotNote}
	}
	return x.MayMoveTo(p)
}

// freeAt returns an error if the target looks free but a hidden entry has the name.
func freeAt(ctx context.Context, l *Locked, to tree.Target) error {
	if to.There != nil || to.InSource() != nil {
		return nil
	}
	hidden, err := l.Structure.Hidden(ctx, to.Rel())
	if err == nil && len(hidden) > 0 {
		err = model.ErrHidden
	}
	return model.WrapError("rename", to.Path(), err)
}

func (n *Names) moveTo(ctx context.Context, l *Locked, m *moving) (err error) {
	if m.now && !m.n.State().Virtual {
		return n.moveNow(ctx, l, m)
	}
	if m.to.There != nil {
		if err := n.makeWay(ctx, l, m); err != nil {
			return err
		}
	}
	if m.id, m.gone, err = l.Move(ctx, m.n, m.to, m.o.By, m.owes); err == nil {
		l.Tell(m.event())
	}
	return err
}

func (n *Names) makeWay(ctx context.Context, l *Locked, m *moving) error {
	there := m.to.There
	if st := there.State(); !st.Elsewhere && n.isOwn(there, m.o.By) {
		return n.removeNow(ctx, l, there, st.Path, m.o)
	}
	_, err := l.Delete(ctx, there, m.o.By, m.o.Origin)
	return err
}

func (n *Names) moveNow(ctx context.Context, l *Locked, m *moving) error {
	to := m.to
	unlock := l.LockNotes(m.n)
	defer unlock()
	oldRel, newRel, inSource := m.n.Place().Rel, to.Rel(), to.InSource()
	if inSource != nil && inSource != to.There && inSource != m.n {
		return &model.Error{Op: "rename", Path: to.Path(), Err: model.ErrNameTaken}
	}
	if to.There != nil {
		if st := to.There.State(); st.Elsewhere && !st.Virtual {
			if err := l.Structure.Remove(ctx, st.Rel); err != nil {
				return err
			}
		}
	}
	if oldRel != newRel {
		if err := l.Structure.Rename(ctx, oldRel, newRel, inSource != nil && inSource == to.There); err != nil {
			return err
		}
	}
	err := l.Fulfil(m.n)
	l.Moved(m.n, to, m.o.By)
	if oldRel != newRel && m.n.Kind == model.KindNote {
		l.EndDocs(newRel) // of the replaced note
	}
	err = errors.Join(err, l.Store.Rename(model.Path(oldRel), model.Path(newRel)))
	l.CanvasesFollow(ctx, oldRel, newRel)
	l.Tell(m.event())
	return err
}

func (m *moving) event() model.Event {
	return model.Event{
		Kind: model.EventRenamed, Path: m.n.Place().Path, OldPath: m.from, Dir: m.n.Kind == model.KindDir, ViewChanged: true, Origin: m.o.Origin, By: m.o.By,
	}
}

// Exchange exchanges the names of two notes, or of two other files, of one Folder: three renames
// through a free name, which are undone if one of them fails. In suggest mode each is a proposal.
// Errors are those of Rename.
func (n *Names) Exchange(ctx context.Context, a, b model.Path, o Restructure) error {
	o.Replace = false
	x, err := n.tree.Find("rename", a)
	if err != nil {
		return err
	}
	if n.isOwn(x, o.By) { // a would be moved at once, and users would see the free name
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
