package remote

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"time"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/remote/folderdoc"
	"github.com/relayfs/relayfs/bridge/remote/internal/listing"
	"github.com/relayfs/relayfs/bridge/remote/internal/replica"
)

func (s *Source) attachment(op, rel string) (folderdoc.Entry, error) {
	e, err := s.listing.Find(op, rel)
	switch {
	case err != nil:
	case e.Type == folderdoc.TypeFolder:
		err = listing.Failed(op, rel, model.ErrIsDir)
	case !listing.IsAttachment(e):
		err = listing.Failed(op, rel, fs.ErrNotExist)
	}
	return e, err
}

// OpenFile opens a file for reading. If flag allows writing, the error wraps model.ErrReadOnly. Later changes do not
// affect an open file.
func (s *Source) OpenFile(rel string, flag int, _ fs.FileMode) (model.File, error) {
	if flag&(os.O_WRONLY|os.O_RDWR|os.O_CREATE|os.O_TRUNC) != 0 {
		return nil, listing.Failed("open", rel, model.ErrReadOnly)
	}
	d, format, err := s.document(s.ctx, "open", rel)
	if err == nil {
		data, stamp, err := d.Read(format)
		return model.FileOf(model.Path(rel).Base(), data, time.Unix(0, stamp.ModTime)), listing.Failed("open", rel, err)
	}
	if !errors.Is(err, model.ErrNotNote) {
		return nil, err
	}
	e, err := s.attachment("open", rel)
	if err != nil {
		return nil, err
	}
	f, err := s.attachments.Open(e)
	return f, listing.Failed("open", rel, err)
}

func (s *Source) PutFile(rel string, _ []byte, _ fs.FileMode) (model.Stamp, error) {
	return model.Stamp{}, listing.Failed("write", rel, model.ErrReadOnly)
}

var errNoAttachments error = &model.ReadOnlyError{Reason: "its server stores notes and canvases, but no other files; put the file into a vault on this machine, or link to the URL of the file"}

// CheckFile returns an error for an attachment if the Source serves no attachments, or if the server has shown that it
// stores none.
func (s *Source) CheckFile(rel string) error {
	typ, _ := folderdoc.TypeOf(rel)
	if _, document := replica.FormatOf(typ); document || s.attachments.Stored() {
		return nil
	}
	return errNoAttachments
}

func (s *Source) readAttachment(rel string) ([]byte, model.Stamp, error) {
	e, err := s.attachment("read", rel)
	if err != nil {
		return nil, model.Stamp{}, err
	}
	data, err := s.attachments.Read(e)
	return data, s.attachments.Stamp(e), listing.Failed("read", rel, err)
}

// replaceAttachment sets the content of an attachment if its current stamp is expect.
func (s *Source) replaceAttachment(ctx context.Context, rel string, expect model.Stamp, data []byte) (model.Stamp, error) {
	e, err := s.attachment("write", rel)
	if err == nil && s.attachments.Stamp(e) != expect {
		err = listing.Failed("write", rel, model.ErrConflict)
	}
	if err != nil {
		return model.Stamp{}, err
	}
	before := e.Hash
	return s.putAttachment(ctx, "write", e, data, func(shared *folderdoc.Folder, e folderdoc.Entry) error {
		if now, ok := shared.Get(rel); !ok || now.Hash != before {
			return model.ErrConflict
		}
		return shared.SetFile(rel, e.Hash, e.Mimetype, e.SyncTime)
	})
}

func (s *Source) createAttachment(ctx context.Context, rel string, data []byte) (model.Stamp, error) {
	typ, _ := folderdoc.TypeOf(rel)
	_, err := s.listing.Find("create", rel)
	switch {
	case err == nil:
		return model.Stamp{}, listing.Failed("create", rel, fs.ErrExist)
	case !s.attachments.Served():
		return model.Stamp{}, listing.Failed("create", rel, errNoAttachments)
	}
	e := folderdoc.Entry{Path: rel, ID: folderdoc.NewID(), Type: typ}
	return s.putAttachment(ctx, "create", e, data, func(shared *folderdoc.Folder, e folderdoc.Entry) error {
		if _, taken := shared.Get(rel); taken {
			return fs.ErrExist
		}
		_, err := shared.Create(e)
		return err
	})
}

// putAttachment uploads data, and then calls enter to add the entry to the folder. It fails if the server is not
// connected or accepts no changes.
func (s *Source) putAttachment(ctx context.Context, op string, e folderdoc.Entry, data []byte, enter func(*folderdoc.Folder, folderdoc.Entry) error) (model.Stamp, error) {
	err := s.ReadOnlyErr()
	if err == nil && !s.schedule.Online() {
		err = model.ErrOffline
	}
	if err == nil {
		e, err = s.attachments.Upload(ctx, e, data)
	}
	if err == nil {
		err = s.listing.ChangeOwn(func(shared *folderdoc.Folder) error { return enter(shared, e) })
	}
	if err != nil {
		return model.Stamp{}, listing.Failed(op, e.Path, err)
	}
	return s.attachments.Stamp(e), nil
}
