package namespace

import (
	"context"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/namespace/internal/tree"
)

// Remove removes a note, a file or an empty folder, recoverably if the source has a place for removed files. The
// removal is a proposal, unless the structure policy is direct or the node is the author's own (see the package
// comment). It returns ErrDeletionLimit to stop a burst of deletions: within a minute an author may propose to delete
// at most 20 notes or a tenth of the root's notes, whichever is less, but always five. Deletions on which a user has
// decided do not count.
func (n *Namespace) Remove(ctx context.Context, p model.Path, o ChangeRequest) (ChangeResult, error) {
	if err := n.begin("remove", p); err != nil {
		return ChangeResult{}, err
	}
	defer n.config.Events.EndOp()
	f, err := n.structureAt("remove", p)
	if err != nil {
		return ChangeResult{}, err
	}
	id, err := n.removeIn(ctx, f, p, o)
	if err != nil {
		return ChangeResult{}, model.WrapError("remove", p, err)
	}
	n.EndRenames(ctx, f)
	return ChangeResult{Proposal: id}, nil
}

// removeIn removes a node or proposes its removal.
func (n *Namespace) removeIn(ctx context.Context, f *Root, p model.Path, o ChangeRequest) (id string, err error) {
	l := f.Lock()
	defer l.Unlock()
	x, err := n.tree.Find("remove", p)
	if err != nil {
		return "", err
	}
	st := x.State()
	switch {
	case st.ShownChildren > 0:
		return "", &model.Error{Op: "remove", Path: p, Err: model.ErrNotEmpty}
	case x.Kind == model.KindDir:
		if err := n.emptyAt(ctx, l, st); err != nil {
			return "", err
		}
	}
	// SourceChildren also has nodes that are shown elsewhere, and nodes whose deletion is proposed.
	if !st.Proposed && (n.config.Structure == Direct || len(x.SourceChildren()) == 0 && n.isAgentsOwn(x, o.Author)) {
		if _, live := l.Source.(model.Documents); live && o.Deferrable && x.Kind == model.KindNote {
			return "", model.ErrDefer
		}
		return "", n.removeNow(ctx, l, x, p, o)
	}
	if x.Kind == model.KindNote {
		if err := f.CheckDeletionLimit(o.Author); err != nil {
			return "", err
		}
	}
	return l.Delete(ctx, x, o.Author, o.Origin)
}

// emptyAt returns an error if a folder that looks empty has hidden entries.
func (n *service) emptyAt(ctx context.Context, l *Locked, dir tree.State) error {
	hidden, err := l.Structure.Hidden(ctx, dir.Rel)
	if err == nil && len(hidden) > 0 {
		err = &model.NotEmptyError{Holds: hidden}
		n.config.Logger.Warn("folder cannot be removed", model.LogPath, string(dir.Path), model.LogErr, err)
	}
	return model.WrapError("remove", dir.Path, err)
}

func (n *service) removeNow(ctx context.Context, l *Locked, x *tree.Node, p model.Path, o ChangeRequest) error {
	unlock := l.LockNotes(x)
	defer unlock()
	rel := x.Location().Rel
	if err := l.Structure.Remove(ctx, rel); err != nil {
		return err
	}
	if x.Kind == model.KindNote {
		l.EndDocs(rel)
	}
	err := l.CompleteRename(x, &o.Author)
	l.RemoveFromSource(x, false)
	l.QueueEvents(model.Event{Kind: model.EventRemoved, Path: p, Dir: x.Kind == model.KindDir, ViewChanged: true, Origin: o.Origin, By: o.Author})
	return err
}
