package namespace

import (
	"context"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/namespace/internal/tree"
)

// Remove removes a note, a file or an empty folder, recoverably if the source has a place for that. Unless the
// structure policy is direct it is a proposal. ErrDeletionLimit stops a burst of deletions: within a minute, at most 20
// notes or a tenth of the Folder, whichever is less, but always five, may be deleted before a user has decided on any
// of them.
func (n *Names) Remove(ctx context.Context, p model.Path, o Restructure) (Restructured, error) {
	if err := n.begin("remove", p, o); err != nil {
		return Restructured{}, err
	}
	defer n.c.Activity.EndOp()
	f, err := n.structureAt("remove", p)
	if err != nil {
		return Restructured{}, err
	}
	id, dropped, err := n.removeIn(ctx, f, p, o)
	if err != nil {
		return Restructured{}, model.WrapError("remove", p, err)
	}
	if dropped != "" {
		n.consequences.OnWithdrawn(ctx, dropped, o.By)
	}
	return Restructured{Proposal: id}, nil
}

// removeIn removes a node, or proposes to. dropped is the ID of the proposal that ends with it.
func (n *Names) removeIn(ctx context.Context, f *Folder, p model.Path, o Restructure) (id, dropped string, err error) {
	l := f.Lock()
	defer l.Unlock()
	x, err := n.tree.Find("remove", p)
	if err != nil {
		return "", "", err
	}
	st := x.State()
	if st.Pending != nil {
		dropped = st.Pending.ID
	}
	switch {
	case st.Shows > 0:
		return "", "", &model.Error{Op: "remove", Path: p, Err: model.ErrNotEmpty}
	case x.Kind == model.KindDir:
		if err := n.emptyAt(ctx, l, st); err != nil {
			return "", "", err
		}
	}
	// Nodes that are only shown elsewhere, or whose deletion is proposed, are in it as well.
	if !st.Virtual && (n.c.Structure == Direct || len(x.Holds()) == 0 && n.isOwn(x, o.By)) {
		return "", dropped, n.removeNow(ctx, l, x, p, o)
	}
	if !o.Confirm && x.Kind == model.KindNote {
		if err := f.Brake(o.By); err != nil {
			return "", "", err
		}
	}
	id, err = l.Delete(ctx, x, o.By, o.Origin)
	return id, dropped, err
}

// emptyAt returns an error if a folder that looks empty has hidden entries.
func (n *base) emptyAt(ctx context.Context, l *Locked, dir tree.State) error {
	hidden, err := l.Structure.Hidden(ctx, dir.Rel)
	if err == nil && len(hidden) > 0 {
		err = &model.NotEmptyError{Holds: hidden}
		n.c.Logger.Warn("folder cannot be removed", model.LogPath, string(dir.Path), model.LogErr, err)
	}
	return model.WrapError("remove", dir.Path, err)
}

func (n *base) removeNow(ctx context.Context, l *Locked, x *tree.Node, p model.Path, o Restructure) error {
	unlock := l.LockNotes(x)
	defer unlock()
	rel := x.Place().Rel
	if err := l.Structure.Remove(ctx, rel); err != nil {
		return err
	}
	if x.Kind == model.KindNote {
		l.EndDocs(rel)
	}
	err := l.Fulfil(x)
	l.Vanish(x, false)
	l.Tell(model.Event{Kind: model.EventRemoved, Path: p, Dir: x.Kind == model.KindDir, ViewChanged: true, Origin: o.Origin, By: o.By})
	return err
}
