package drafts

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/relayfs/relayfs/bridge/folderdoc"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/remote/listing"
	"github.com/relayfs/relayfs/bridge/remote/replica"
	"github.com/relayfs/relayfs/bridge/remote/schedule"
	"github.com/relayfs/relayfs/bridge/ycrdt"
)

// Clients that know nothing of each other's entries may give one name to two
// documents: while a server has lost its data, above all. Of the two entries Yjs keeps
// one, and the other document would be in no folder. It becomes a draft under a free
// name, unless its text stands in the other one as well.

// clash is a name that was given to two documents.
type clash struct {
	rel          string
	ours, theirs string // ids
}

// clashesOf finds the names that an update which is about to be applied to the
// folder's document gives to other notes, by clients that did not know ours: what it
// says by itself, without what is here, is not about that. The folder's lock is held.
func clashesOf(folder *ycrdt.Doc, update []byte) (found []clash) {
	news, err := ycrdt.DiffUpdate(update, folder.EncodeStateVector())
	if err != nil {
		return nil // it is refused when it is applied
	}
	alone := ycrdt.NewDoc(ycrdt.Options{})
	if alone.ApplyUpdate(news, nil) != nil {
		return nil
	}
	here := folderdoc.Open(folder)
	for _, theirs := range folderdoc.Open(alone).List() {
		if theirs.Type != folderdoc.TypeMarkdown {
			continue
		}
		if ours, ok := here.Get(theirs.Path); ok && ours.Type == folderdoc.TypeMarkdown && ours.ID != theirs.ID {
			found = append(found, clash{theirs.Path, ours.ID, theirs.ID})
		}
	}
	return found
}

// FolderReceives keeps the documents that lose their names by an update which is about to
// be applied to the folder's document; applied is called after that. The folder's lock is
// held.
func (f *Drafts) FolderReceives(folder *ycrdt.Doc, update []byte) (applied func()) {
	clashes := clashesOf(folder, update)
	return func() { f.keepLosers(folder, clashes) }
}

// keepLosers makes drafts of the documents that have lost their names in clashes. The
// folder's lock is held, and the update has been applied.
func (f *Drafts) keepLosers(folder *ycrdt.Doc, clashes []clash) {
	shared := folderdoc.Open(folder)
	for _, c := range clashes {
		now, _ := shared.Get(c.rel)
		for _, id := range []string{c.ours, c.theirs} {
			if id == now.ID || shared.Holds(id) {
				continue
			}
			err := f.keepLoser(shared, c.rel, id)
			f.logged("keep a note whose name was taken", err)
			if err == nil {
				f.running.Go(func() { f.settleLoser(f.o.Set.Document(model.DocID(id)), now) })
			}
		}
	}
}

// keepLoser makes the document id, which was at rel, a draft. It is not shown before
// the two texts are known.
func (f *Drafts) keepLoser(shared *folderdoc.Folder, rel, id string) error {
	taken, err := f.o.Listing.Inside(shared, listing.Parent(rel))
	if err != nil {
		return err
	}
	free := rel
	for n := 2; slices.Contains(taken, path.Base(free)); n++ {
		ext := path.Ext(rel)
		free = fmt.Sprintf("%s %d%s", strings.TrimSuffix(rel, ext), n, ext)
	}
	f.o.Listing.Withhold(model.DocID(id))
	return f.o.Set.Drafts().Change(f.ctx, &model.Record{}, func(doc *ycrdt.Doc) error {
		_, err := folderdoc.Open(doc).Create(folderdoc.Entry{Path: free, ID: id, Type: folderdoc.TypeMarkdown}, nil)
		return err
	})
}

// settleLoser shows a document whose name another note has now under its own, and
// enters it in the folder; or drops it if it says nothing that the other does not.
func (f *Drafts) settleLoser(d *replica.Document, winner folderdoc.Entry) {
	rel := f.pathOf(d.ID())
	same, err := f.saysNothingNew(d, f.o.Set.Document(model.DocID(winner.ID)))
	if err == nil && same {
		f.logged("drop a note whose text another has", f.o.Listing.Restructure(func(*folderdoc.Folder) error {
			defer f.o.Listing.Release(d.ID(), "")
			return f.removeDraft(rel)
		}))
		return
	}
	if err != nil {
		f.o.Log.Warn("two notes were given one name, and their texts could not be compared", model.LogPath, rel, model.LogErr, err)
	}
	f.o.Log.Warn(fmt.Sprintf("%q was given to two notes, as by a server that had lost its data: the other one is %q now", winner.Path, rel), model.LogPath, rel)
	f.logged("list the folder", f.o.Listing.ReleaseListed(d.ID(), rel))
	if !f.o.Scheduler.Lacks(d.ID()) {
		f.Uploaded(d)
	}
}

// saysNothingNew says whether all text of d stands in the other document. It waits for
// the server, which may have either of them alone.
func (f *Drafts) saysNothingNew(d, other *replica.Document) (bool, error) {
	var err error
	for end := time.Now().Add(losersPatience); time.Now().Before(end) && f.ctx.Err() == nil; {
		ctx, cancel := context.WithTimeout(f.ctx, schedule.ReaderPatience)
		if err = f.o.Scheduler.Fetched(ctx, d); err == nil {
			err = f.o.Scheduler.Fetched(ctx, other)
		}
		cancel()
		if err == nil {
			break
		}
		select {
		case <-f.ctx.Done():
		case <-time.After(schedule.RetryDelay):
		}
	}
	if err != nil {
		return false, err
	}
	text, err := d.Text()
	if err != nil {
		return false, err
	}
	have, err := other.Text()
	return strings.Contains(have, text), err
}

// losersPatience bounds how long the texts of two notes that were given one name are
// waited for.
const losersPatience = 2 * time.Minute
