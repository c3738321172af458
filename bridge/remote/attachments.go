package remote

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"sync"
	"time"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/folderdoc"
	"github.com/relayfs/relayfs/bridge/remote/internal/blobs"
	"github.com/relayfs/relayfs/bridge/remote/transport"
)

// Attachments have no document: the folder's entry names their bytes by a hash,
// and the server of Relay keeps those beside its documents. They are fetched one
// after the other while the server is there, and shown when they are here. They
// are written whole, and only with the server.

// attachments fetches what the listing lacks.
type attachments struct {
	cache  *blobs.Cache  // nil: no attachments are served
	wanted chan struct{} // holds a token when something may be missing

	mu      sync.Mutex          // protects the following
	missing []folderdoc.Entry   // what the folder's document names and cache lacks
	failed  map[string]struct{} // hashes that are tried again at the next connection
}

// openAttachments serves attachments where the server keeps any and there is a
// place for them.
func (s *Source) openAttachments() (err error) {
	s.attachments.wanted = make(chan struct{}, 1)
	s.attachments.failed = make(map[string]struct{})
	if _, ok := s.transport.(transport.Files); ok && s.o.Attachments != "" {
		s.attachments.cache, err = blobs.Open(s.o.Attachments)
	}
	return err
}

// isAttachment says whether an entry names bytes by their hash.
func isAttachment(e folderdoc.Entry) bool {
	switch e.Type {
	case folderdoc.TypeFolder, folderdoc.TypeMarkdown, folderdoc.TypeCanvas:
		return false
	}
	return blobs.ValidHash(e.Hash) && !bridge.Path(e.Path).IsNote()
}

// here replaces attachments whose bytes are not here by what they were before,
// and drops those that were not there before. The source's mu is held.
func (s *Source) here(entries []folderdoc.Entry) []folderdoc.Entry {
	a := &s.attachments
	var missing []folderdoc.Entry
	kept := entries[:0]
	for _, e := range entries {
		if isAttachment(e) && !a.cache.Has(e.Hash) {
			missing = append(missing, e)
			before, shown := s.byPath[e.Path]
			if !shown || before.ID != e.ID {
				continue
			}
			e = before
		}
		kept = append(kept, e)
	}
	a.mu.Lock()
	a.missing = missing
	a.mu.Unlock()
	if len(missing) > 0 {
		signal(a.wanted)
	}
	return kept
}

// fetchAttachments fetches until the source is closed.
func (s *Source) fetchAttachments() {
	for {
		select {
		case <-s.ctx.Done():
			return
		case <-s.attachments.wanted:
		}
		for e := s.nextMissing(); e.Hash != ""; e = s.nextMissing() {
			s.fetchAttachment(e)
		}
	}
}

// nextMissing is an attachment to fetch, the zero Entry if there is none or no
// server.
func (s *Source) nextMissing() folderdoc.Entry {
	if !s.sync.isOnline() {
		return folderdoc.Entry{} // to be connected is a reason to look again
	}
	a := &s.attachments
	a.mu.Lock()
	defer a.mu.Unlock()
	for len(a.missing) > 0 {
		e := a.missing[0]
		a.missing = a.missing[1:]
		if _, failed := a.failed[e.Hash]; !failed {
			return e
		}
	}
	return folderdoc.Entry{}
}

func (s *Source) fetchAttachment(e folderdoc.Entry) {
	name := transport.DocumentName(s.o.Folder, e.ID)
	err := s.transport.(transport.Files).Download(s.ctx, name, e.Hash, func(r io.Reader) error { return s.attachments.cache.Fill(e.Hash, r) })
	if err == nil {
		signal(s.relist)
		return
	}
	if s.ctx.Err() != nil {
		return
	}
	s.attachments.mu.Lock()
	s.attachments.failed[e.Hash] = struct{}{}
	s.attachments.mu.Unlock()
	s.log.Warn("attachment not fetched", bridge.LogPath, e.Path, bridge.LogErr, err)
}

// retryAttachments gives those that failed another chance.
func (s *Source) retryAttachments() {
	s.attachments.mu.Lock()
	clear(s.attachments.failed)
	s.attachments.mu.Unlock()
	signal(s.relist)
}

// attachment is the entry of the attachment at rel.
func (s *Source) attachment(op, rel string) (folderdoc.Entry, error) {
	e, err := s.find(op, rel)
	switch {
	case err != nil:
	case e.Type == folderdoc.TypeFolder:
		err = failed(op, rel, bridge.ErrIsDir)
	case !isAttachment(e):
		err = failed(op, rel, fs.ErrNotExist)
	}
	return e, err
}

// OpenFile opens an attachment for reading. Its bytes do not change: what comes
// later is another file.
func (s *Source) OpenFile(rel string, flag int, _ fs.FileMode) (bridge.File, error) {
	if flag&(os.O_WRONLY|os.O_RDWR|os.O_CREATE|os.O_TRUNC) != 0 {
		return nil, failed("open", rel, bridge.ErrReadOnly)
	}
	e, err := s.attachment("open", rel)
	if err != nil {
		return nil, err
	}
	f, err := s.attachments.cache.Open(e.Hash)
	if err != nil {
		return nil, failed("open", rel, err)
	}
	return attachmentFile{f, e}, nil
}

// PutFile puts nothing in an attachment's place: see OpenFile.
func (s *Source) PutFile(rel string, _ []byte, _ fs.FileMode) (bridge.Stamp, error) {
	return bridge.Stamp{}, failed("write", rel, bridge.ErrReadOnly)
}

// attachmentFile is an open attachment.
type attachmentFile struct {
	*os.File
	e folderdoc.Entry
}

func (f attachmentFile) WriteAt([]byte, int64) (int, error) { return 0, bridge.ErrReadOnly }
func (f attachmentFile) Truncate(int64) error               { return bridge.ErrReadOnly }

// stampOf names the bytes of an attachment.
func (s *Source) stampOf(e folderdoc.Entry) bridge.Stamp {
	return bridge.Stamp{Size: s.attachments.cache.Size(e.Hash), ModTime: e.SyncTime * int64(time.Millisecond)}
}

func (s *Source) readAttachment(rel string) ([]byte, bridge.Stamp, error) {
	e, err := s.attachment("read", rel)
	if err != nil {
		return nil, bridge.Stamp{}, err
	}
	data, err := s.attachments.cache.Read(e.Hash)
	if err != nil {
		return nil, bridge.Stamp{}, failed("read", rel, err)
	}
	return data, s.stampOf(e), nil
}

// replaceAttachment makes data the content of the attachment at rel, if that is
// what expect names.
func (s *Source) replaceAttachment(ctx context.Context, rel string, expect bridge.Stamp, data []byte) (bridge.Stamp, error) {
	e, err := s.attachment("write", rel)
	if err == nil && s.stampOf(e) != expect {
		err = failed("write", rel, bridge.ErrConflict)
	}
	if err != nil {
		return bridge.Stamp{}, err
	}
	before := e.Hash
	if e, err = s.upload(ctx, e, data); err != nil {
		return bridge.Stamp{}, failed("write", rel, err)
	}
	err = s.restructure(func(shared *folderdoc.Folder) error {
		if now, ok := shared.Get(rel); !ok || now.Hash != before {
			return bridge.ErrConflict
		}
		return shared.SetFile(rel, e.Hash, e.Mimetype, e.SyncTime, nil)
	})
	if err != nil {
		return bridge.Stamp{}, failed("write", rel, err)
	}
	return s.stampOf(e), nil
}

// createAttachment makes a new one.
func (s *Source) createAttachment(ctx context.Context, rel string, data []byte) (bridge.Stamp, error) {
	typ, _ := folderdoc.TypeOf(rel)
	_, err := s.find("create", rel)
	switch {
	case err == nil:
		return bridge.Stamp{}, failed("create", rel, fs.ErrExist)
	case s.attachments.cache == nil, typ == folderdoc.TypeCanvas:
		return bridge.Stamp{}, failed("create", rel, bridge.ErrNotNote)
	}
	e, err := s.upload(ctx, folderdoc.Entry{Path: rel, ID: folderdoc.NewID(), Type: typ}, data)
	if err != nil {
		return bridge.Stamp{}, failed("create", rel, err)
	}
	err = s.restructure(func(shared *folderdoc.Folder) error {
		if _, taken := shared.Get(rel); taken {
			return fs.ErrExist
		}
		_, err := shared.Create(e, nil)
		return err
	})
	if err != nil {
		return bridge.Stamp{}, failed("create", rel, err)
	}
	return s.stampOf(e), nil
}

// upload brings data to the server, before anybody is told of it, and returns e
// with what names it.
func (s *Source) upload(ctx context.Context, e folderdoc.Entry, data []byte) (folderdoc.Entry, error) {
	if err := s.Locked(); err != nil {
		return e, err
	}
	if !s.sync.isOnline() {
		return e, bridge.ErrOffline
	}
	hash, err := s.attachments.cache.Put(data)
	if err != nil {
		return e, err
	}
	_, e.Mimetype = folderdoc.TypeOf(e.Path)
	e.Hash, e.SyncTime = hash, time.Now().UnixMilli()
	err = s.transport.(transport.Files).Upload(ctx, transport.DocumentName(s.o.Folder, e.ID), e.Hash, e.Mimetype, data)
	if errors.Is(err, transport.ErrUnreachable) {
		err = errors.Join(bridge.ErrOffline, err)
	}
	return e, err
}
