package host

import (
	"context"
	"errors"
	"io/fs"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/folderdoc"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/token"
	"github.com/relayfs/relayfs/bridge/ycrdt"
)

var errTaken = errors.New("name belongs to another document")

// change runs fn, which changes the folder document, and executes the change in the source.
// What the source refuses is reverted in the document.
func (f *folder) change(ctx context.Context, n *names, by model.Author, fn func(*ycrdt.Doc) error) error {
	if err := f.follow(n); err != nil {
		return err
	}
	if f.h.ws.Options().ReadOnly {
		return &model.Error{Op: "write", Path: model.Path(f.name), Err: model.ErrReadOnly}
	}
	before := f.model.List()
	rec, err := record(f.doc, by, fn)
	if rec == nil {
		return err
	}
	rec.Ahead = true
	if kept := f.keep(n, *rec); kept != nil {
		return kept
	}
	f.carryOut(context.WithoutCancel(ctx), folderdoc.Diff(before, f.model.List()), by)
	if settled := f.follow(n); settled != nil {
		return settled
	}
	f.store.Materialized(model.DocID(f.id), n.kept, model.ContentSum{})
	return err
}

// carryOut executes changes in the source. It ignores ids that a client replaced: follow
// restores the old ones.
func (f *folder) carryOut(ctx context.Context, changes []folderdoc.Change, by model.Author) {
	made := make(map[string]bool)
	for _, c := range changes {
		if c.Kind == folderdoc.Created {
			made[c.Path] = true
		}
	}
	for _, c := range changes {
		if c.Kind == folderdoc.Removed && made[c.Path] {
			continue
		}
		if err := f.do(ctx, c, by); err != nil {
			f.h.log.Warn("a client's change of names is reverted", model.LogPath, string(f.path(c.Path)), model.LogErr, err)
		}
	}
}

func (f *folder) do(ctx context.Context, c folderdoc.Change, by model.Author) error {
	person := bridge.Restructure{By: by, Person: true}
	var err error
	switch c.Kind {
	case folderdoc.Renamed:
		_, err = f.h.ws.Rename(ctx, f.path(c.OldPath), f.path(c.Path), person)
	case folderdoc.Removed:
		if c.Entry.Type == folderdoc.TypeCanvas {
			return nil
		}
		_, err = f.h.ws.Remove(ctx, f.path(c.Path), person)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
	case folderdoc.Created:
		err = f.create(ctx, c.Entry, by)
	case folderdoc.Changed:
		if had, ok := f.index.Load().files[c.Entry.ID]; ok && c.Entry.Hash != "" {
			err = f.put(ctx, c.Entry, had.Hash)
		}
	}
	return err
}

func (f *folder) create(ctx context.Context, e folderdoc.Entry, by model.Author) error {
	p, err := model.CleanPath(string(f.path(e.Path)))
	if err != nil {
		return err
	}
	switch e.Type {
	case folderdoc.TypeFolder:
		err = f.h.ws.Mkdir(ctx, p, bridge.Restructure{Person: true})
		if errors.Is(err, fs.ErrExist) {
			return nil
		}
		return err
	case folderdoc.TypeMarkdown:
		return f.adopt(ctx, p, e.ID, by)
	case folderdoc.TypeCanvas:
		return nil
	}
	return f.put(ctx, e, "")
}

// adopt turns a loose document into the note at p.
func (f *folder) adopt(ctx context.Context, p model.Path, id string, by model.Author) error {
	if !ValidID(id) {
		return errTaken
	}
	if other, _ := f.h.find(id); other != nil {
		return errTaken
	}
	d, err := f.h.Open(ctx, id, true)
	if err != nil {
		return err
	}
	defer d.Close()
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.loose == nil {
		return errTaken
	}
	folderdoc.EnsureNonEmpty(d.Doc())
	s, err := f.h.ws.Adopt(ctx, p, model.DocID(id), d.Doc(), by)
	if err != nil {
		return err
	}
	d.channel.Store(f.id)
	d.shared, d.loose = s, nil
	d.becomeNote(s)
	return nil
}

// ValidID reports whether id is valid for a document: it has at most 200 bytes.
func ValidID(id string) bool { return token.ValidID(id) && len(id) <= 200 }
