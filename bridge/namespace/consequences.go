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

// A note that an agent made, and all of which a person rejects, is not to be: it goes,
// and so do the folders that were made for it and have nothing else in them. When the
// rejection is taken back it is made again, as it was left, with its document.

// RemoveRejected takes away those of the notes, of which something was just rejected, that an
// agent made and of which nothing is left but front matter. If that fails, they remain. It also
// takes away the folders that agents made for them, and those in which something was to be
// shown.
func (n *Consequences) RemoveRejected(ctx context.Context, notes, folders []*tree.Node) {
	for _, x := range notes {
		st := x.State()
		if err := n.removeRejected(ctx, x, st.Path); err == nil {
			folders = append(folders, st.Dir)
		} else if !errors.Is(err, model.ErrConflict) {
			n.c.Logger.Warn("a new note that was rejected stays", model.LogPath, string(st.Path), model.LogErr, err)
		}
	}
	for _, x := range folders {
		n.removeFolders(ctx, x.Place().Path)
	}
}

// recentRejections is how many entries of the journal a start looks at for a decision that was interrupted.
const recentRejections = 128

// ResumeRejections takes away the notes that an earlier process has emptied by a rejection and was killed before it could.
func (n *Names) ResumeRejections(ctx context.Context) {
	for _, f := range n.tree.Folders() {
		if _, live := f.Source.(model.Documents); live {
			continue
		}
		entries, err := f.Store.Journal(recentRejections)
		if err != nil {
			n.c.Logger.Warn("new notes that were rejected may stay", model.LogFolder, f.Name, model.LogErr, err)
			continue
		}
		for _, e := range entries {
			if e.Decision == nil || e.Decision.Verdict != model.Rejected || !e.Decision.Emptied || e.Path == "" {
				continue
			}
			if x := f.Lookup(string(e.Path)); x != nil && x.Kind == model.KindNote && x.Note.IsLeftRejected(ctx) {
				n.consequences.RemoveRejected(ctx, []*tree.Node{x}, nil)
			}
		}
	}
}

// removeRejected returns ErrConflict if the note is to stay.
func (n *Consequences) removeRejected(ctx context.Context, x *tree.Node, p model.Path) error {
	f, err := n.structureAt("remove", p)
	if err != nil {
		return model.ErrConflict
	}
	names := f.Lock()
	defer names.Unlock()
	if st := x.State(); x.Kind != model.KindNote || st.Dir == nil || st.Pending != nil || st.Elsewhere {
		return model.ErrConflict
	}
	l := x.Note.Lock()
	defer l.Unlock()
	made, err := l.RemoveRejected(ctx, f.Structure)
	if err != nil {
		return err
	}
	gone(names, x, l, nil)
	names.MadeBy(made.Made, made.Author)
	return nil
}

// removeFolders removes the folder at p, and those that it is in, as long as an agent
// made it and it is empty.
func (n *Consequences) removeFolders(ctx context.Context, p model.Path) {
	f, err := n.structureAt("remove", p)
	if err != nil {
		return
	}
	l := f.Lock()
	defer l.Unlock()
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
	if e.Decision == nil || e.Decision.Verdict != model.Rejected || !e.Decision.Emptied {
		return nil
	}
	if _, ended := model.Path(e.Rel).EndedAt(); ended {
		return nil // another note has had its name since
	}
	f, err := n.structureAt("undo", e.Path)
	if err != nil {
		return err
	}
	l := f.Lock()
	defer l.Unlock()
	return n.createAgain(ctx, l, e.Rel, e.ID, model.Author{Name: e.Decision.By})
}

// createAgain makes the note at rel that has that document, unless it is there or the document
// is not that of a note that RemoveRejected took away.
func (n *Consequences) createAgain(ctx context.Context, l *Locked, rel string, id model.DocID, by model.Author) error {
	if l.Lookup(rel) != nil {
		return nil
	}
	h, err := l.Store.Load(id)
	if err != nil {
		return model.WrapError("undo", l.Path().Join(rel), err)
	}
	left, stamp, err := note.LeftOf(h)
	if err != nil {
		return nil // it is found missing, and what became of it is told
	}
	if err := n.makeFolderAgain(ctx, l, string(model.Path(rel).Dir()), by); err != nil {
		return err
	}
	if stamp == (model.Stamp{}) {
		stamp.ModTime = time.Now().UnixNano()
	}
	seq, sum := h.Records[len(h.Records)-1].Seq, model.SumOf(left)
	e, err := l.BringFileBack(ctx, rel, stamp, []byte(left), func(post model.Stamp) error { // by which the document knows a blank file
		if err := l.Store.Place(id, seq, model.Save{Post: post, Sum: sum[:]}); err != nil {
			return err
		}
		return l.Store.Sync()
	})
	if err != nil {
		return model.WrapError("undo", l.Path().Join(rel), err)
	}
	put(l, e, by)
	l.Settle()
	l.Tell(created(l.Path().Join(rel), Restructure{}))
	return nil
}

// makeRoomAgain makes what RemoveRejected took away after a rename was rejected: the folder in
// which the rename showed a note, and the note.
func (n *Consequences) makeRoomAgain(ctx context.Context, f *Folder, rec *model.ProposalRecord) error {
	if rec.Kind != model.ProposedRename {
		return nil
	}
	l := f.Lock()
	defer l.Unlock()
	by := model.Author{Name: rec.Author, Session: rec.Session}
	if err := n.makeFolderAgain(ctx, l, rec.ToDir, by); err != nil {
		return err
	}
	id, err := l.Store.DocID(model.Path(rec.Rel))
	if errors.Is(err, fs.ErrNotExist) || rec.Dir {
		return nil
	}
	if err != nil {
		return err
	}
	return n.createAgain(ctx, l, rec.Rel, id, by)
}

func (n *Consequences) makeFolderAgain(ctx context.Context, l *Locked, rel string, by model.Author) error {
	if l.Lookup(rel) != nil {
		return nil
	}
	return n.makeFolders(ctx, l, shownAt(l, rel), Restructure{By: by})
}

// shownAt is where something at rel, which is not there, would be shown: a folder that it would be in may be
// proposed to have another path.
func shownAt(l *Locked, rel string) model.Path {
	dir, name := string(model.Path(rel).Dir()), model.Path(rel).Base()
	if x := l.Lookup(dir); x != nil {
		return x.Place().Path.Join(name)
	}
	return shownAt(l, dir).Join(name)
}

// clear removes the folder at rel, to which another one is to come back, if it is empty. If that fails, the undo says what is in the way.
func (n *Consequences) clear(ctx context.Context, f *Folder, rel string) {
	l := f.Lock()
	defer l.Unlock()
	x := l.Lookup(rel)
	if x == nil || x.Kind != model.KindDir {
		return
	}
	if st := x.State(); st.Pending == nil && !st.Elsewhere && st.Shows == 0 && len(x.Holds()) == 0 {
		_ = n.removeNow(ctx, l, x, st.Path, Restructure{})
	}
}

// Undo takes back the decisions of journal entries on proposals of one Folder; see
// Folder.Undo.
func (n *Consequences) Undo(ctx context.Context, entries []model.JournalEntry, d model.Decision) (again []model.Proposal, failed map[string]error) {
	failed = make(map[string]error)
	f, err := n.structureAt("undo", entries[0].Path)
	for _, e := range entries {
		rec, why := e.Decision.Proposal, err
		switch {
		case why != nil:
		case e.Decision.Verdict == model.Rejected:
			why = n.makeRoomAgain(ctx, f, rec)
		case rec.Dir && !slices.ContainsFunc(entries, func(e model.JournalEntry) bool { return e.Decision.Proposal.To() == rec.Rel }): // else it goes back itself
			n.clear(ctx, f, rec.Rel)
		}
		if why != nil {
			failed[rec.ID] = why
		}
	}
	if len(failed) > 0 {
		return nil, failed
	}
	return f.Undo(ctx, entries, d)
}
