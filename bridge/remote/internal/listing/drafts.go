package listing

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/remote/folderdoc"
	"github.com/relayfs/relayfs/bridge/remote/internal/replica"
	"github.com/relayfs/relayfs/bridge/remote/internal/schedule"
	"github.com/relayfs/relayfs/bridge/ycrdt"
)

// Drafts manages the new notes of a folder that the server does not have yet. A note is a draft until the server has
// acknowledged its content. Only then does relayfs add it to the folder's document, so that no peer sees a note without
// content. If another note has taken its path in the meantime, relayfs merges the content into the document of that
// note. In this comment, notes include canvases.
//
// A document that loses its name in a conflict becomes a draft, too (name_conflict.go).
//
// Drafts sends nothing. The replica of a draft is synchronised in the same way as the replica of a note.
//
// Everything is safe for concurrent use. Drafts has no lock of its own: the drafts are in a document, and Listing.Move
// serialises their moves.

type Drafts struct {
	set      *replica.Set
	listing  *Listing
	schedule *schedule.Scheduler
	ctx      context.Context
	running  sync.WaitGroup
	made     sync.Map // model.DocID of each note that this process has added, or tried to add, to the folder
}

// NewDrafts returns the Drafts of a folder. Their background work stops waiting when ctx ends.
func NewDrafts(ctx context.Context, set *replica.Set, l *Listing, y *schedule.Scheduler) *Drafts {
	return &Drafts{set: set, listing: l, schedule: y, ctx: ctx}
}

// Wait waits for background work. Call it after the context of NewDrafts has ended.
func (f *Drafts) Wait() { f.running.Wait() }

func (f *Drafts) Enter(d *replica.Document, rel, typ string) error {
	return f.listing.ChangeOwn(func(shared *folderdoc.Folder) error {
		if dir := model.Parent(rel); dir != "" {
			if _, err := shared.Create(folderdoc.Entry{Path: dir, Type: folderdoc.TypeFolder}); err != nil {
				return err
			}
		}
		return f.set.Drafts.ChangeFolder(func(drafts *folderdoc.Folder) error {
			e, err := drafts.Create(folderdoc.Entry{Path: rel, ID: string(d.ID()), Type: typ})
			if err == nil && e.ID != string(d.ID()) {
				err = fs.ErrExist
			}
			return err
		})
	})
}

func (f *Drafts) list() (drafts []folderdoc.Entry) {
	err := f.set.Drafts.ViewFolder(func(all *folderdoc.Folder) error {
		drafts = slices.DeleteFunc(all.List(), func(e folderdoc.Entry) bool { return e.Type == folderdoc.TypeFolder })
		return nil
	})
	f.set.Logged("read the drafts", err)
	return drafts
}

// NotEntered returns the number of drafts with acknowledged content that peers cannot see yet.
func (f *Drafts) NotEntered() (n int) {
	for _, e := range f.list() {
		if !f.schedule.HasUnacknowledged(model.DocID(e.ID)) {
			n++
		}
	}
	return n
}

// entryOf returns the entry of a draft. The entry has no path if the document is not a draft.
func (f *Drafts) entryOf(id model.DocID) folderdoc.Entry {
	for _, e := range f.list() {
		if e.ID == string(id) {
			return e
		}
	}
	return folderdoc.Entry{ID: string(id)}
}

// Uploaded is called when the server has all of a document. If the document is a draft that is not hidden, Uploaded
// adds it to the folder in the background.
func (f *Drafts) Uploaded(d *replica.Document) {
	if f.entryOf(d.ID()).Path != "" && !f.listing.IsHidden(d.ID()) {
		f.running.Go(func() { f.set.Logged("enter a new note", f.promote(d)) })
	}
}

// PromoteUploaded calls Uploaded for each draft that the server has acknowledged, perhaps before a restart.
func (f *Drafts) PromoteUploaded() {
	for _, e := range f.list() {
		if id := model.DocID(e.ID); !f.schedule.HasUnacknowledged(id) {
			f.Uploaded(f.set.Document(id))
		}
	}
}

func (f *Drafts) promote(d *replica.Document) error {
	entered, err := f.enterDraft(d)
	switch {
	case errors.Is(err, fs.ErrExist):
		return f.moveDraft(entered.Path)
	case err != nil || entered.ID == string(d.ID()):
		return err
	}
	return f.mergeInto(d, entered)
}

// enterDraft adds a draft to the folder's document and then deletes it from the drafts' document. A crash between the
// two steps leaves the note in both documents, so it is not lost. enterDraft returns the entry at the draft's path,
// which may belong to another note.
func (f *Drafts) enterDraft(d *replica.Document) (entered folderdoc.Entry, err error) {
	err = f.listing.Move(func() error {
		entered = f.entryOf(d.ID())
		rel := entered.Path
		if rel == "" {
			return nil // the draft was removed in the meantime
		}
		err := f.listing.ChangeOwn(func(shared *folderdoc.Folder) (err error) {
			if !shared.Holds(entered.ID) { // otherwise it was added before a crash
				entered, err = shared.Create(entered)
				f.made.Store(d.ID(), true)
			}
			return err
		})
		if err != nil || entered.ID != string(d.ID()) {
			entered.Path = rel
			return err
		}
		return f.dropDraft(rel)
	})
	return entered, err
}

func (f *Drafts) dropDraft(rel string) error {
	return f.listing.ChangeOwn(func(*folderdoc.Folder) error { return f.removeDraft(rel) })
}

func (f *Drafts) removeDraft(rel string) error {
	return f.set.Drafts.ChangeFolder(func(entries *folderdoc.Folder) error {
		if err := entries.Delete(rel); err != nil {
			return err
		}
		// Remove folders without drafts, because the shared document has the parent folders of the entry.
		list := entries.List()
		for i, e := range slices.Backward(list) {
			last := i == len(list)-1 || !strings.HasPrefix(list[i+1].Path, e.Path+"/")
			if e.Type == folderdoc.TypeFolder && last {
				if err := entries.Delete(e.Path); err != nil {
					return err
				}
				list = slices.Delete(list, i, i+1)
			}
		}
		return nil
	})
}

// moveDraft handles a draft that cannot be added at its path, because an entry of another type is there or above it: it
// moves the draft to a free name in the root and adds it to the folder.
func (f *Drafts) moveDraft(rel string) error {
	to := rel
	if dir, err := f.listing.Find("create", model.Parent(rel)); err != nil || dir.Type != folderdoc.TypeFolder {
		to = path.Base(rel) // the draft's folder has become a file
	}
	to = numbered(to, func(name string) bool {
		_, err := f.listing.Find("create", name)
		return err == nil
	})
	var id string
	err := f.listing.ChangeOwn(func(*folderdoc.Folder) error {
		return f.set.Drafts.ChangeFolder(func(entries *folderdoc.Folder) error {
			e, _ := entries.Get(rel)
			id = e.ID
			return entries.Rename(rel, to, false)
		})
	})
	if err != nil {
		return err
	}
	f.listing.Refresh()
	return f.promote(f.set.Document(model.DocID(id)))
}

// numbered returns rel with the first number from 2 with which it is not taken.
func numbered(rel string, taken func(rel string) bool) string {
	for n := 2; ; n++ {
		if free := path.Join(model.Parent(rel), model.BeforeExt(path.Base(rel), fmt.Sprintf(" %d", n))); !taken(free) {
			return free
		}
	}
}

// mergeInto adds the content of a draft to the document of the note at its path.
func (f *Drafts) mergeInto(draft *replica.Document, entered folderdoc.Entry) error {
	d := f.set.Document(model.DocID(entered.ID))
	if err := f.filled(schedule.ReaderTimeout, d); err != nil && !errors.Is(err, errEmpty) {
		return err
	}
	format, _ := replica.FormatOf(entered.Type)
	data, _, err := draft.Read(format)
	if err != nil {
		return err
	}
	rec := f.authorOf(draft)
	rec.Direct = true // the text outside the marks is text
	if err := d.Change(f.ctx, &rec, func(doc *ycrdt.Doc) (err error) {
		rec.Marks, err = format.Add(doc, data)
		return err
	}); err != nil {
		return err
	}
	f.listing.Changed(d)
	f.set.Log.Info("two notes with one name were merged", model.LogPath, entered.Path)
	return f.dropDraft(entered.Path)
}

// authorOf returns a record that has the last author of a document as its author.
func (f *Drafts) authorOf(d *replica.Document) model.Record {
	rec := model.Record{Time: time.Now().UTC()}
	h, err := f.set.Store.Load(d.ID())
	if err != nil {
		return rec
	}
	for _, r := range h.Records {
		if r.Author != "" {
			rec.Author, rec.Session = r.Author, r.Session
		}
	}
	return rec
}
