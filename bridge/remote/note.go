package remote

import (
	"cmp"
	"context"
	"errors"
	"io/fs"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/remote/folderdoc"
	"github.com/relayfs/relayfs/bridge/remote/internal/canvasdoc"
	"github.com/relayfs/relayfs/bridge/remote/internal/listing"
	"github.com/relayfs/relayfs/bridge/remote/internal/replica"
	"github.com/relayfs/relayfs/bridge/ycrdt"
)

// Document returns the live document of the note at rel. If the document was never fetched, Document fetches it first,
// before all other documents.
func (s *Source) Document(ctx context.Context, rel string) (model.Document, error) {
	d, _, err := s.document(ctx, "open", rel)
	if err == nil && !model.Path(rel).IsNote() {
		err = listing.Failed("open", rel, model.ErrNotNote)
	}
	if err != nil {
		return nil, err
	}
	return d, nil
}

// document returns the fetched document of the note or canvas at rel. For other files the error is model.ErrNotNote.
func (s *Source) document(ctx context.Context, op, rel string) (*replica.Document, replica.Format, error) {
	e, err := s.listing.Find(op, rel)
	if err != nil {
		return nil, replica.Format{}, err
	}
	format, ok := replica.FormatOf(e.Type)
	switch {
	case e.Type == folderdoc.TypeFolder:
		return nil, format, listing.Failed(op, rel, model.ErrIsDir)
	case !ok:
		return nil, format, listing.Failed(op, rel, model.ErrNotNote)
	}
	d := s.set.Document(model.DocID(e.ID))
	if e.Type == folderdoc.TypeCanvas { // a canvas is listed only once it is fetched
		return d, format, nil
	}
	return d, format, listing.Failed(op, rel, s.schedule.Fetched(ctx, d))
}

func (s *Source) Read(ctx context.Context, rel string) ([]byte, model.Stamp, error) {
	d, format, err := s.document(ctx, "read", rel)
	switch {
	case errors.Is(err, model.ErrNotNote):
		return s.readAttachment(rel)
	case err != nil:
		return nil, model.Stamp{}, err
	}
	return d.Read(format)
}

// Replace sets the content of a canvas or an attachment if r.IfMatch is its current stamp. A note changes only through
// its Document.
func (s *Source) Replace(ctx context.Context, rel string, r model.Replacement) (model.Stamp, error) {
	d, _, err := s.document(ctx, "write", rel)
	switch {
	case errors.Is(err, model.ErrNotNote):
		return s.replaceAttachment(ctx, rel, r.IfMatch, r.Data)
	case err != nil:
		return model.Stamp{}, err
	case model.Path(rel).IsNote():
		return model.Stamp{}, listing.Failed("write", rel, errors.ErrUnsupported)
	}
	stamp, err := d.ReplaceCanvas(ctx, &model.Record{Time: r.ModTime.UTC()}, r.IfMatch, r.Data)
	return stamp, listing.Failed("write", rel, err)
}

// CanMerge reports whether a file is a canvas. Writes to a canvas are merged.
func (s *Source) CanMerge(rel string) bool {
	if e, err := s.listing.Find("merge", rel); err == nil {
		return e.Type == folderdoc.TypeCanvas
	}
	typ, _ := folderdoc.TypeOf(rel)
	return typ == folderdoc.TypeCanvas
}

// Normalize returns the bytes that a new canvas has after data was written to it.
func (s *Source) Normalize(data []byte) ([]byte, error) {
	data, err := canvasdoc.Normalize(data)
	return data, listing.Failed("write", "", err)
}

// Merge merges data, a writer's new version of base, into a canvas.
func (s *Source) Merge(ctx context.Context, rel string, base, data []byte) (model.Stamp, error) {
	d, format, err := s.document(ctx, "write", rel)
	if err != nil {
		return model.Stamp{}, err
	}
	err = d.Change(ctx, &model.Record{}, func(doc *ycrdt.Doc) error { return canvasdoc.Write(doc, base, data) })
	if err != nil {
		return model.Stamp{}, listing.Failed("write", rel, err)
	}
	_, stamp, err := d.Read(format)
	return stamp, err
}

func (s *Source) Create(ctx context.Context, rel string, file model.NewFile) (model.Stamp, error) {
	typ, _ := folderdoc.TypeOf(rel)
	format, ok := replica.FormatOf(typ)
	if !ok {
		return s.createAttachment(ctx, rel, file.Data)
	}
	d, err := s.newDocument(rel, typ, &model.Record{Time: file.ModTime.UTC()}, func(doc *ycrdt.Doc) error {
		_, err := format.Add(doc, file.Data)
		return err
	})
	if err != nil {
		return model.Stamp{}, err
	}
	_, stamp, err := d.Read(format)
	return stamp, err
}

// NewDocument creates a note. It is a draft until the server has its content.
func (s *Source) NewDocument(_ context.Context, rel string, rec *model.Record, fn func(*ycrdt.Doc) error) (model.Document, error) {
	if !model.Path(rel).IsNote() {
		return nil, listing.Failed("create", rel, model.ErrNotNote)
	}
	return s.newDocument(rel, folderdoc.TypeMarkdown, rec, fn)
}

func (s *Source) newDocument(rel, typ string, rec *model.Record, fn func(*ycrdt.Doc) error) (*replica.Document, error) {
	if err := s.mayCreate(rel); err != nil {
		return nil, listing.Failed("create", rel, err)
	}
	d := s.set.Document(model.DocID(folderdoc.NewID()))
	s.listing.SetPath(d.ID(), rel)
	s.schedule.SetFetched(d.ID())
	err := d.Change(s.ctx, rec, func(doc *ycrdt.Doc) error {
		err := fn(doc)
		folderdoc.EnsureNonEmpty(doc)
		return err
	})
	if err == nil {
		err = s.drafts.Enter(d, rel, typ)
	}
	if err != nil {
		return nil, listing.Failed("create", rel, err)
	}
	if !s.schedule.HasUnacknowledged(d.ID()) {
		s.drafts.Uploaded(d) // the server acknowledged the content before it was a draft
	}
	return d, nil
}

// Restore gives the document of a removed note or canvas the name rel again, with all that users have typed in it. It is
// a draft while the server is not connected: if a user has moved it in the meantime, it keeps the user's name.
func (s *Source) Restore(_ context.Context, rel string, id model.DocID, _ model.Stamp, _ []byte) (model.SourceEntry, error) {
	typ, _ := folderdoc.TypeOf(rel)
	format, ok := replica.FormatOf(typ)
	if id == "" || !ok {
		return model.SourceEntry{}, fs.ErrNotExist
	}
	err := s.mayCreate(rel)
	if err == nil {
		err = s.set.Folder.ViewFolder(func(shared *folderdoc.Folder) error {
			if shared.Holds(string(id)) {
				return fs.ErrExist
			}
			return nil
		})
	}
	d := s.set.Document(id)
	if err == nil {
		err = s.drafts.Enter(d, rel, typ)
	}
	if err != nil {
		return model.SourceEntry{}, listing.Failed("restore", rel, err)
	}
	if s.schedule.Online() && !s.schedule.HasUnacknowledged(id) {
		s.drafts.Uploaded(d)
	}
	_, stamp, err := d.Read(format)
	return model.SourceEntry{Rel: rel, Mode: 0o644, Stamp: stamp}, err
}

func (s *Source) mayCreate(rel string) error {
	if err := s.ReadOnlyErr(); err != nil {
		return err
	}
	if err := folderdoc.CheckPath(rel); err != nil {
		return err
	}
	if _, err := s.listing.Find("create", rel); err == nil {
		return fs.ErrExist
	}
	if hidden, err := s.listing.Hidden(rel); err != nil || len(hidden) > 0 {
		return cmp.Or(err, fs.ErrExist)
	}
	return nil
}
