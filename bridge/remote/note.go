package remote

import (
	"context"
	"io/fs"
	"time"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/folderdoc"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/remote/listing"
	"github.com/relayfs/relayfs/bridge/remote/replica"
	"github.com/relayfs/relayfs/bridge/textmerge"
	"github.com/relayfs/relayfs/bridge/ycrdt"
)

// Document returns the live document of the note at rel. It fetches one that was never
// fetched, before all others.
func (s *Source) Document(ctx context.Context, rel string) (bridge.Document, error) {
	e, err := s.listing.Find("open", rel)
	if err != nil {
		return nil, err
	}
	switch e.Type {
	case folderdoc.TypeFolder:
		return nil, listing.Failed("open", rel, model.ErrIsDir)
	case folderdoc.TypeMarkdown:
		d := s.set.Document(model.DocID(e.ID))
		return d, listing.Failed("open", rel, s.schedule.Fetched(ctx, d))
	}
	return nil, listing.Failed("open", rel, model.ErrNotNote)
}

// Read returns the text of the note, or the bytes of the attachment, at rel.
func (s *Source) Read(ctx context.Context, rel string) ([]byte, model.Stamp, error) {
	if !model.Path(rel).IsNote() {
		return s.readAttachment(rel)
	}
	live, err := s.Document(ctx, rel)
	if err != nil {
		return nil, model.Stamp{}, err
	}
	var data []byte
	var stamp model.Stamp
	d := live.(*replica.Document)
	err = d.View(ctx, func(doc *ycrdt.Doc, _ time.Time) error {
		data = []byte(doc.Text(folderdoc.ContentsName).String())
		stamp = d.Stamp(len(data))
		return nil
	})
	return data, stamp, err
}

// Replace sets the content of a note or attachment, if r.Expect names the present one.
func (s *Source) Replace(ctx context.Context, rel string, r model.Replacement) (model.Stamp, error) {
	if !model.Path(rel).IsNote() {
		return s.replaceAttachment(ctx, rel, r.Expect, r.Data)
	}
	live, err := s.Document(ctx, rel)
	if err != nil {
		return model.Stamp{}, err
	}
	d := live.(*replica.Document)
	err = d.Change(ctx, &model.Record{Time: r.ModTime.UTC()}, func(doc *ycrdt.Doc) error {
		text := doc.Text(folderdoc.ContentsName)
		have := text.String()
		if d.Stamp(len(have)) != r.Expect {
			return model.ErrConflict
		}
		edits := textmerge.SavedEdits(have, string(r.Data))
		doc.Transact(nil, func(tx *ycrdt.Txn) { textmerge.ApplyEdits(tx, text, have, edits) })
		return nil
	})
	if err != nil {
		return model.Stamp{}, listing.Failed("write", rel, err)
	}
	_, stamp, err := s.Read(ctx, rel)
	return stamp, err
}

// Create creates a note or attachment.
func (s *Source) Create(ctx context.Context, rel string, file model.NewFile) (model.Stamp, error) {
	if !model.Path(rel).IsNote() {
		return s.createAttachment(ctx, rel, file.Data)
	}
	_, err := s.NewDocument(ctx, rel, &model.Record{Time: file.ModTime.UTC()}, func(doc *ycrdt.Doc) error {
		text := doc.Text(folderdoc.ContentsName)
		doc.Transact(nil, func(tx *ycrdt.Txn) { text.Insert(tx, 0, string(file.Data)) })
		return nil
	})
	if err != nil {
		return model.Stamp{}, err
	}
	_, stamp, err := s.Read(ctx, rel)
	return stamp, err
}

// NewDocument creates a note: a draft, until the server has its content.
func (s *Source) NewDocument(ctx context.Context, rel string, rec *model.Record, fn func(*ycrdt.Doc) error) (bridge.Document, error) {
	if err := s.mayCreate(rel); err != nil {
		return nil, listing.Failed("create", rel, err)
	}
	d := s.set.Document(model.DocID(folderdoc.NewID()))
	s.listing.SetPath(d.ID(), rel)
	s.schedule.Keep(d.ID())
	err := d.Change(ctx, rec, func(doc *ycrdt.Doc) error {
		err := fn(doc)
		folderdoc.EnsureNonEmpty(doc)
		return err
	})
	if err == nil {
		err = s.drafts.Enter(d, rel)
	}
	if err != nil {
		return nil, listing.Failed("create", rel, err)
	}
	if !s.schedule.Lacks(d.ID()) {
		s.drafts.Uploaded(d) // acknowledged before it was a draft
	}
	return d, nil
}

func (s *Source) mayCreate(rel string) error {
	if err := s.Locked(); err != nil {
		return err
	}
	if err := folderdoc.CheckPath(rel); err != nil {
		return err
	}
	if !model.Path(rel).IsNote() {
		return model.ErrNotNote
	}
	if _, err := s.listing.Find("create", rel); err == nil {
		return fs.ErrExist
	}
	return nil
}
