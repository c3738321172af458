package names

import (
	"context"
	"errors"
	"time"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/proposal"
)

// A note that an agent made, and all of which a person rejects, is not to be: it goes,
// and so do the folders that were made for it and have nothing else in them. When the
// rejection is taken back it is made again, empty at first, with its document.

// RemoveRejected takes away the note at p, the rest of which was just rejected, if an agent
// made it and nothing of it is left. If that fails, an empty note remains.
func (n *Consequences) RemoveRejected(ctx context.Context, p model.Path) {
	f, err := n.structureAt("remove", p)
	if err != nil {
		return
	}
	from, ok := f.Structure.(model.Retractor)
	if !ok {
		return
	}
	l := f.Lock()
	defer l.Unlock()
	if err = n.removeRejectedNote(ctx, l, from, p); err == nil {
		n.removeFolders(ctx, l, p.Dir())
	} else if !errors.Is(err, model.ErrConflict) {
		n.c.Logger.Warn("a new note that was rejected stays, empty", model.LogPath, string(p), model.LogErr, err)
	}
}

// removeRejectedNote returns ErrConflict if the note is to stay.
func (n *Consequences) removeRejectedNote(ctx context.Context, names *proposal.Locked, from model.Retractor, p model.Path) error {
	x, err := n.tree.Find("remove", p)
	if err != nil {
		return err
	}
	if st := x.State(); x.Kind != model.KindNote || st.Pending != nil || st.Elsewhere {
		return model.ErrConflict
	}
	l := x.Note.Lock()
	defer l.Unlock()
	if err := l.RetractEmpty(ctx, from); err != nil {
		return err
	}
	gone(names, x, l, nil)
	return nil
}

// removeFolders removes the folder at p, and those that it is in, as long as an agent
// made it in this process and it is empty.
func (n *Consequences) removeFolders(ctx context.Context, l *proposal.Locked, p model.Path) {
	for ; p.Dir() != ""; p = p.Dir() {
		x, err := n.tree.Find("remove", p)
		if err != nil {
			return
		}
		st := x.State()
		if st.CreatedBy.Name == "" || st.Pending != nil || st.Elsewhere || st.Shows > 0 || len(x.Holds()) > 0 {
			return
		}
		if n.removeNow(ctx, l, x, p, Restructure{}) != nil {
			return
		}
	}
}

// CreateAgain makes the note again that RemoveRejected took away after the decision e, so that e can
// be taken back. Its document is still in the store.
func (n *Consequences) CreateAgain(ctx context.Context, e model.JournalEntry) error {
	f, err := n.at("undo", e.Path)
	if err != nil {
		return err
	}
	if e.Decision == nil || e.Decision.Verdict != model.Rejected || !e.Decision.LeftNothing() || f.Lookup(e.Rel) != nil {
		return nil
	}
	p := f.Path().Join(e.Rel)
	if _, err := n.structureAt("undo", p); err != nil {
		return err
	}
	l := f.Lock()
	defer l.Unlock()
	if _, _, err := makeFile(ctx, l, e.Rel, model.NewFile{ModTime: time.Now()}, model.Author{Name: e.Decision.By}); err != nil {
		return model.WrapError("undo", p, err)
	}
	l.Settle(nil)
	l.Tell(created(p, Restructure{}))
	return nil
}

// Undo takes back the decision of a journal entry on a proposal; see proposal.Folder.Undo.
func (n *Consequences) Undo(ctx context.Context, e model.JournalEntry, d model.Decision) (model.Proposal, error) {
	f, err := n.structureAt("undo", e.Path)
	if err != nil {
		return model.Proposal{}, err
	}
	return f.Undo(ctx, e, d)
}
