package listing

import (
	"context"
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/remote/folderdoc"
	"github.com/relayfs/relayfs/bridge/remote/internal/replica"
	"github.com/relayfs/relayfs/bridge/remote/internal/schedule"
	"github.com/relayfs/relayfs/bridge/store"
	"github.com/relayfs/relayfs/bridge/ycrdt"
)

// parts are the callbacks of a folder without a server.
type parts struct {
	*Listing
	*schedule.Scheduler
	*Drafts
}

func newTestDrafts(t *testing.T) *Drafts {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	log := slog.New(slog.DiscardHandler)
	st, err := store.Open(filepath.Join(t.TempDir(), "store.db"), store.Options{})
	noError(t, err)
	problems := model.NewProblems(log, error.Error)
	p := new(parts)
	set := replica.NewSet(replica.Options{Name: "team", Store: st, Client: 7, Resync: time.Hour, Log: log, Problems: problems}, p)
	attachments, err := OpenAttachments("", nil, "team", problems)
	noError(t, err)
	y, err := schedule.New(ctx, set, st, nil, nil)
	noError(t, err)
	l := New(ctx, set, attachments, y.SetNotes)
	f := NewDrafts(ctx, set, l, y)
	*p = parts{l, y, f}
	t.Cleanup(func() {
		cancel()
		f.Wait()
		noError(t, st.Close())
	})
	return f
}

func noError(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// newNote returns a document with a text that the server has not acknowledged.
func (f *Drafts) newNote(t *testing.T, text string) *replica.Document {
	t.Helper()
	d := f.set.Document(model.DocID(folderdoc.NewID()))
	f.schedule.SetFetched(d.ID())
	noError(t, d.Change(t.Context(), &model.Record{}, func(doc *ycrdt.Doc) error {
		contents := doc.Text(model.ContentsName)
		doc.Transact(func(tx *ycrdt.Txn) { contents.Insert(tx, 0, text) })
		return nil
	}))
	return d
}

func create(t *testing.T, folder *replica.Document, e folderdoc.Entry) folderdoc.Entry {
	t.Helper()
	noError(t, folder.ChangeFolder(func(entries *folderdoc.Folder) (err error) {
		e, err = entries.Create(e)
		return err
	}))
	return e
}

// at returns the ID of the shared entry at a path.
func (f *Drafts) at(t *testing.T, rel string) (id string) {
	t.Helper()
	noError(t, f.set.Folder.ViewFolder(func(shared *folderdoc.Folder) error {
		e, _ := shared.Get(rel)
		id = e.ID
		return nil
	}))
	return id
}

// A draft whose name is taken stays in its folder, unless the folder has become a file.
func TestDraftOfATakenName(t *testing.T) {
	for name, tt := range map[string]struct {
		taken folderdoc.Entry
		want  string
	}{
		"name":   {folderdoc.Entry{Path: "a/b.c/n.md", Type: folderdoc.TypeFolder}, "a/b.c/n 2.md"},
		"folder": {folderdoc.Entry{Path: "a/b.c", Type: folderdoc.TypeFile}, "n 2.md"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newTestDrafts(t)
			create(t, f.set.Folder, tt.taken)
			noError(t, f.listing.List(true))
			d := f.newNote(t, "text\n")
			create(t, f.set.Drafts, folderdoc.Entry{Path: "a/b.c/n.md", ID: string(d.ID()), Type: folderdoc.TypeMarkdown})
			noError(t, f.promote(d))
			if got := f.at(t, tt.want); got != string(d.ID()) {
				t.Errorf("%s has the ID %q, want %q", tt.want, got, d.ID())
			}
		})
	}
}

// A document that cannot get its name back stays a draft.
func TestNameIsNotReturned(t *testing.T) {
	f := newTestDrafts(t)
	ours, theirs := f.newNote(t, "ours\n"), f.newNote(t, "theirs\n")
	f.made.Store(ours.ID(), true)
	winner := create(t, f.set.Folder, folderdoc.Entry{Path: "n.md", ID: string(ours.ID()), Type: folderdoc.TypeMarkdown})
	draft := create(t, f.set.Drafts, folderdoc.Entry{Path: "n 2.md", ID: string(theirs.ID()), Type: folderdoc.TypeMarkdown})
	create(t, f.set.Folder, folderdoc.Entry{Path: "n 2.md", ID: folderdoc.NewID(), Type: folderdoc.TypeMarkdown}) // by a peer, a moment later
	format, _ := replica.FormatOf(folderdoc.TypeMarkdown)
	gave, err := f.returnName(theirs, draft, ours, winner, format)
	if gave || err == nil {
		t.Errorf("returnName = %v, %v", gave, err)
	}
	if got := f.entryOf(theirs.ID()).Path; got != "n 2.md" {
		t.Errorf("the draft is at %q", got)
	}
}
