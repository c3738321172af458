package namespace

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"time"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/namespace/internal/tree"
	"github.com/relayfs/relayfs/bridge/note"
)

// If a user rejects the whole text of a note that an agent created, relayfs removes the note, and the folders that were
// created for it and are now empty. Undoing the rejection creates the note again with its last content and its
// document.

// RemoveRejected removes the notes in which a user has just rejected something, if an agent created them, users have
// only made decisions in them, and no body is left. A note that cannot be removed stays. RemoveRejected then removes
// empty folders that agents created: the folders of the removed notes, and the given folders, in which rejected
// proposals were shown.
func (n *DecisionEffects) RemoveRejected(ctx context.Context, notes, folders []*tree.Node) {
	for _, x := range notes {
		st := x.State()
		if err := n.removeRejected(ctx, x, st.Path); err == nil {
			folders = append(folders, st.Dir)
		} else if !errors.Is(err, model.ErrConflict) {
			n.config.Logger.Warn("cannot remove a rejected new note", model.LogPath, string(st.Path), model.LogErr, err)
		}
	}
	for _, x := range folders {
		n.removeFolders(ctx, x.Location().Path)
	}
}

// recentRejections is the number of journal entries that a start checks for an interrupted decision.
const recentRejections = 128

// ResumeRejections removes the notes that a rejection has emptied, if an earlier process was killed before it removed
// them.
func (n *Namespace) ResumeRejections(ctx context.Context) {
	for _, f := range n.tree.Roots() {
		if _, live := f.Source.(model.Documents); live {
			continue
		}
		entries, err := f.Store.Journal(recentRejections)
		if err != nil {
			n.config.Logger.Warn("cannot look for rejected new notes", model.LogFolder, f.Name, model.LogErr, err)
			continue
		}
		kept := make(map[model.DocID]bool) // notes that kept their files after the rejection, because of a pending rename
		for _, e := range entries {        // newest first
			if d := e.Decision; d != nil && d.Proposal != nil && d.Verdict == model.Accepted {
				kept[d.Proposal.Doc] = true
			}
			if e.Decision == nil || e.Decision.Verdict != model.Rejected || !e.Decision.Emptied || e.Path == "" || kept[e.ID] {
				continue
			}
			if x := f.Lookup(string(e.Path)); x != nil && x.Kind == model.KindNote && x.Note().IsRejected(ctx) {
				n.effects.RemoveRejected(ctx, []*tree.Node{x}, nil)
			}
		}
	}
}

// removeRejected removes the note at p. It returns ErrConflict if the note must stay.
func (n *DecisionEffects) removeRejected(ctx context.Context, x *tree.Node, p model.Path) error {
	f, err := n.structureAt("remove", p)
	if err != nil {
		return model.ErrConflict
	}
	names := f.Lock()
	defer names.Unlock()
	if st := x.State(); x.Kind != model.KindNote || st.Dir == nil || st.Pending != nil || st.Moved {
		return model.ErrConflict
	}
	l := x.Note().Lock()
	defer l.Unlock()
	made, err := l.RemoveRejected(ctx, f.Structure)
	if err != nil {
		return err
	}
	removeWithoutFile(names, x, l, nil)
	names.SetCreatedByAgent(made.Made, made.Author)
	return nil
}

// removeFolders removes the folder at p and the folders above it. It stops at the first folder that is not empty, that
// no agent created, or that a proposal concerns.
func (n *DecisionEffects) removeFolders(ctx context.Context, p model.Path) {
	f, err := n.structureAt("remove", p)
	if err != nil {
		return
	}
	l := f.Lock()
	defer l.Unlock()
	for ; p.Dir() != ""; p = p.Dir() {
		x, err := n.tree.Find("remove", p)
		if err != nil || x.State().CreatedBy.Name == "" || !n.removeEmpty(ctx, l, x) {
			return
		}
	}
}

// removeEmpty removes the folder x, unless it has contents or a proposal concerns it.
func (n *DecisionEffects) removeEmpty(ctx context.Context, l *Locked, x *tree.Node) (removed bool) {
	st := x.State()
	return st.Pending == nil && !st.Moved && st.ShownChildren == 0 && len(x.SourceChildren()) == 0 &&
		n.removeNow(ctx, l, x, st.Path, ChangeRequest{}) == nil
}

// Recreate creates the note that RemoveRejected removed after the decision e, so that e can be undone. The store still
// has the note's document. made has the note if Recreate created it, for RemoveRejected if the undo fails.
func (n *DecisionEffects) Recreate(ctx context.Context, e model.JournalEntry) (made []*tree.Node, err error) {
	if e.Decision == nil || e.Decision.Verdict != model.Rejected || !e.Decision.Emptied || e.Path == "" {
		return nil, nil
	}
	if _, ended := model.Path(e.Rel).EndedAt(); ended {
		return nil, nil // another note has taken the note's name
	}
	f, err := n.structureAt("undo", e.Path)
	if err != nil {
		return nil, err
	}
	l := f.Lock()
	defer l.Unlock()
	return n.recreate(ctx, l, e.Rel, e.ID, model.Author{Name: e.Decision.By})
}

// recreate creates the note at rel again, with the document id. It does nothing if rel exists, or if RemoveRejected
// did not remove the note of that document.
func (n *DecisionEffects) recreate(ctx context.Context, l *Locked, rel string, id model.DocID, author model.Author) (made []*tree.Node, err error) {
	if l.Lookup(rel) != nil {
		return nil, nil
	}
	h, err := l.Store.Load(id)
	if err != nil {
		return nil, model.WrapError("undo", l.Path().Join(rel), err)
	}
	left, stamp, err := note.FinalText(h)
	if err != nil {
		return nil, nil // the note is still missing, and the undo reports the reason
	}
	if _, err := n.recreateFolder(ctx, l, model.Parent(rel), author); err != nil {
		return nil, err
	}
	if stamp == (model.Stamp{}) {
		stamp.ModTime = time.Now().UnixNano()
	}
	seq, sum := h.LastSeq(), model.SumOf(left)
	// The stamp that RecordSave stores identifies the file even if the text is blank.
	e, err := l.RestoreFile(ctx, rel, id, stamp, []byte(left), func(post model.Stamp) error {
		if err := l.Store.RecordSave(id, seq, model.Save{Post: post, Sum: sum[:]}); err != nil {
			return err
		}
		return l.Store.Sync()
	})
	if err != nil {
		return nil, model.WrapError("undo", l.Path().Join(rel), err)
	}
	x := put(l, e, author)
	l.PersistChanges()
	l.QueueEvents(created(l.Path().Join(rel), ChangeRequest{}))
	return []*tree.Node{x}, nil
}

// restoreRemoved reverts the removals that followed a user's rejection of a rename or of a new file. It restores and
// returns the folder that showed the proposed name and, for a rename, the note.
func (n *DecisionEffects) restoreRemoved(ctx context.Context, f *Root, rec *model.ProposalRecord) (notes, folders []*tree.Node, err error) {
	if rec.Kind != model.ProposedRename && rec.Rel != "" {
		return nil, nil, nil
	}
	l := f.Lock()
	defer l.Unlock()
	author := model.Author{Name: rec.Author, Session: rec.Session}
	if folders, err = n.recreateFolder(ctx, l, rec.ToDir, author); err != nil || rec.Dir || rec.Rel == "" {
		return nil, folders, err
	}
	id, err := removedDoc(l.Store, rec)
	if id != "" && err == nil {
		notes, err = n.recreate(ctx, l, rec.Rel, id, author)
	}
	return notes, folders, err
}

// removedDoc returns the document of the proposal's note, which RemoveRejected may have removed, or "" if the path has
// another document or none.
func removedDoc(store model.Store, rec *model.ProposalRecord) (model.DocID, error) {
	id, err := store.DocID(model.Path(rec.Rel))
	if errors.Is(err, fs.ErrNotExist) || err == nil && rec.Doc != "" && id != rec.Doc {
		return "", nil
	}
	return id, err
}

func (n *DecisionEffects) recreateFolder(ctx context.Context, l *Locked, rel string, author model.Author) (made []*tree.Node, err error) {
	if l.Lookup(rel) != nil {
		return nil, nil
	}
	at := shownAt(l, rel)
	if err := n.makeFolders(ctx, l, at, ChangeRequest{Author: author}); err != nil {
		return nil, err
	}
	x, err := n.tree.Find("undo", at) // the source may have it at another path
	if err != nil {
		return nil, err
	}
	return []*tree.Node{x}, nil
}

// shownAt returns the path at which rel, which does not exist, would be shown. It differs from rel if a folder above it
// is proposed to be renamed.
func shownAt(l *Locked, rel string) model.Path {
	dir, name := model.Parent(rel), model.Path(rel).Base()
	if x := l.Lookup(dir); x != nil {
		return x.Location().Path.Join(name)
	}
	return shownAt(l, dir).Join(name)
}

// removeIfEmpty removes an empty folder at rel, so that the undo can restore another folder there. If it cannot remove
// the folder, the undo reports the conflict.
func (n *DecisionEffects) removeIfEmpty(ctx context.Context, f *Root, rel string) {
	l := f.Lock()
	defer l.Unlock()
	if x := l.Lookup(rel); x != nil && x.Kind == model.KindDir {
		n.removeEmpty(ctx, l, x)
	}
}

// movesBack reports whether undoing one of the entries moves the folder at rel to another path.
func movesBack(entries []model.JournalEntry, rel string) bool {
	return slices.ContainsFunc(entries, func(e model.JournalEntry) bool {
		rec := e.Decision.Proposal
		return rec.Kind == model.ProposedRename && model.Path(rec.To()).Contains(model.Path(rel))
	})
}

// Undo undoes decisions on proposals of one root, see Root.Undo.
func (n *DecisionEffects) Undo(ctx context.Context, entries []model.JournalEntry, d model.Decision) (again []model.Proposal, failed map[string]error) {
	failed = make(map[string]error)
	var notes, folders []*tree.Node // restored for the undo
	f, err := n.structureAt("undo", entries[0].Path)
	for _, e := range entries {
		rec := e.Decision.Proposal
		switch {
		case err != nil:
		case e.Decision.Verdict == model.Rejected:
			var x, dirs []*tree.Node
			x, dirs, err = n.restoreRemoved(ctx, f, rec)
			notes, folders = append(notes, x...), append(folders, dirs...)
		case rec.Dir && !movesBack(entries, rec.Rel):
			n.removeIfEmpty(ctx, f, rec.Rel)
		}
	}
	if err == nil {
		again, failed = f.Undo(ctx, entries, d)
	}
	for _, e := range entries {
		if err != nil {
			failed[e.Decision.Proposal.ID] = err
		}
	}
	if len(failed) > 0 {
		n.RemoveRejected(ctx, notes, folders)
	}
	return again, failed
}
