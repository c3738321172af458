package listing

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"time"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/remote/folderdoc"
	"github.com/relayfs/relayfs/bridge/remote/internal/replica"
	"github.com/relayfs/relayfs/bridge/remote/internal/schedule"
	"github.com/relayfs/relayfs/bridge/ycrdt"
)

// Clients that do not see each other's entries may give one name to two documents. This happens above all after a
// server has lost its data. Yjs keeps only one of the two entries, so the other document would be in no folder. relayfs
// makes the other document a draft with a free name, unless the first document contains its text.
//
// Relay's plugin does not notice if the name of a note that it created now belongs to another document. So if the name
// belongs to a note that this process created, and no relayfs has written to the other note, relayfs exchanges their
// names in one transaction.

type nameConflict struct {
	rel, typ     string
	ours, theirs string // IDs of the two documents
}

// nameConflictsOf returns the names in the folder's document to which an update assigns other notes. The author of such
// an update had not yet received our entries. The function applies the update to an empty document, which then has only
// the entries in the update.
func nameConflictsOf(folder *ycrdt.Doc, update []byte) (found []nameConflict) {
	whole, alone := ycrdt.NewDoc(ycrdt.Options{}), ycrdt.NewDoc(ycrdt.Options{})
	if whole.ApplyUpdate(update) != nil || alone.ApplyUpdate(whole.EncodeStateAsUpdate(folder.EncodeStateVector())) != nil {
		return nil // the caller's ApplyUpdate reports the error
	}
	here := folderdoc.Open(folder)
	for _, theirs := range folderdoc.Open(alone).List() {
		if _, ok := replica.FormatOf(theirs.Type); !ok {
			continue
		}
		if ours, ok := here.Get(theirs.Path); ok && ours.Type == theirs.Type && ours.ID != theirs.ID {
			found = append(found, nameConflict{theirs.Path, theirs.Type, ours.ID, theirs.ID})
		}
	}
	return found
}

// FolderReceives finds the documents that an update of the folder's document may deprive of their names. The caller
// must call applied after the update.
func (f *Drafts) FolderReceives(folder *ycrdt.Doc, update []byte) (applied func()) {
	conflicts := nameConflictsOf(folder, update)
	return func() { f.keepConflicting(folder, conflicts) }
}

// keepConflicting makes drafts of the documents that have lost their names in conflicts.
func (f *Drafts) keepConflicting(folder *ycrdt.Doc, conflicts []nameConflict) {
	shared := folderdoc.Open(folder)
	for _, c := range conflicts {
		now, _ := shared.Get(c.rel)
		for _, id := range []string{c.ours, c.theirs} {
			if id == now.ID || shared.Holds(id) {
				continue
			}
			err := f.keepAsDraft(shared, folderdoc.Entry{Path: c.rel, ID: id, Type: c.typ})
			f.set.Logged("keep a note whose name was taken", err)
			if err == nil {
				f.running.Go(func() { f.resolveConflict(f.set.Document(model.DocID(id)), now) })
			}
		}
	}
}

// keepAsDraft makes the document of a former entry a draft. The draft is hidden until its content has been compared
// with the document that now has its name.
func (f *Drafts) keepAsDraft(shared *folderdoc.Folder, lost folderdoc.Entry) error {
	rel := lost.Path
	taken, err := f.listing.Inside(shared, model.Parent(rel))
	if err != nil {
		return err
	}
	isTaken := func(rel string) bool { return slices.Contains(taken, path.Base(rel)) }
	if isTaken(rel) {
		lost.Path = numbered(rel, isTaken)
	}
	f.listing.Hide(model.DocID(lost.ID))
	return f.set.Drafts.ChangeFolder(func(drafts *folderdoc.Folder) error {
		_, err := drafts.Create(lost)
		return err
	})
}

// resolveConflict handles a document whose former name now belongs to another note. If the texts can be compared, it
// first tries to return the name (returnName). If that is not possible, and the other note contains all text of the
// document, it drops the document. Otherwise it lists the document as a draft, which is added to the folder.
func (f *Drafts) resolveConflict(d *replica.Document, winner folderdoc.Entry) {
	draft := f.entryOf(d.ID())
	rel := draft.Path
	format, _ := replica.FormatOf(draft.Type)
	other := f.set.Document(model.DocID(winner.ID))
	same, err := f.isContainedIn(d, other, format)
	if err == nil {
		gave, err := f.returnName(d, draft, other, winner, format)
		if f.set.Logged("return a note's name", err); gave {
			return
		}
	}
	if err == nil && same {
		f.set.Logged("drop a note whose text another note contains", f.listing.Forget(d.ID(), func() error { return f.removeDraft(rel) }))
		return
	}
	if err != nil {
		f.set.Log.Warn("two notes have the same name, and their texts cannot be compared", model.LogPath, rel, model.LogErr, err)
	}
	f.set.Log.Warn(fmt.Sprintf("%q was the name of two notes, as happens after a server loses data; the other one is now %q", winner.Path, rel), model.LogPath, rel)
	f.set.Logged("list the folder", f.listing.Unhide(d.ID(), rel))
	if !f.schedule.HasUnacknowledged(d.ID()) {
		f.Uploaded(d)
	}
}

// returnName gives the name of a note created here back to the document of another client that used the name
// concurrently. The note created here gets the draft's free name, unless the other document contains its text. gave
// reports whether returnName tried to give the name back.
func (f *Drafts) returnName(d *replica.Document, draft folderdoc.Entry, other *replica.Document, winner folderdoc.Entry, format replica.Format) (gave bool, err error) {
	if _, made := f.made.Load(other.ID()); !made {
		return false, nil
	}
	if ours, err := d.IsByAgent(); ours || err != nil {
		return false, err
	}
	free := draft.Path
	if same, err := f.isContainedIn(other, d, format); err != nil {
		return false, err
	} else if same {
		free = ""
	}
	err = f.listing.Move(func() error {
		return f.set.Folder.ChangeFolder(func(shared *folderdoc.Folder) error {
			if now, ok := shared.Get(winner.Path); !ok || now.ID != winner.ID || shared.Holds(draft.ID) {
				return nil
			}
			if err := shared.Exchange(winner.Path, draft.ID, free); err != nil {
				return err
			}
			gave = true
			f.listing.unhide(d.ID(), winner.Path)
			return errors.Join(f.removeDraft(draft.Path), f.listing.listed(shared, false))
		})
	})
	if gave && err == nil {
		f.set.Log.Warn(fmt.Sprintf("%q is a note that another client created at the same time; the one created here is now %q", winner.Path, free), model.LogPath, winner.Path)
	}
	return gave, err
}

// isContainedIn reports whether other contains all the content of d. It waits for the server, which may be the only
// place that has the content.
func (f *Drafts) isContainedIn(d, other *replica.Document, format replica.Format) (bool, error) {
	if err := f.filled(conflictTimeout, d, other); err != nil {
		return false, err
	}
	file, _, err := d.Read(format)
	if err != nil {
		return false, err
	}
	have, _, err := other.Read(format)
	return err == nil && format.Holds(have, file), err
}

// conflictTimeout is the approximate time limit for fetching the texts of two notes with one name.
const conflictTimeout = 2 * time.Minute

var errEmpty = errors.New("document is empty")

// filled waits until the documents are fetched and have content. It must wait, because the content of an entry that a
// client has just made may arrive later.
func (f *Drafts) filled(timeout time.Duration, docs ...*replica.Document) error {
	for end := time.Now().Add(timeout); ; {
		var err error
		for _, d := range docs {
			err = cmp.Or(err, f.isFilled(d))
		}
		if err == nil || time.Now().After(end) {
			return err
		}
		select {
		case <-f.ctx.Done():
			return err
		case <-time.After(schedule.RetryDelay):
		}
	}
}

func (f *Drafts) isFilled(d *replica.Document) error {
	ctx, cancel := context.WithTimeout(f.ctx, schedule.ReaderTimeout)
	defer cancel()
	if err := f.schedule.Fetched(ctx, d); err != nil {
		return err
	}
	empty, err := d.IsEmpty()
	if empty {
		return errEmpty
	}
	return err
}
