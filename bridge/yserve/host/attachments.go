package host

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/folderdoc"
	"github.com/relayfs/relayfs/bridge/model"
)

// This file is about what is no note: in the folder document it is an entry with
// the hash of its bytes.

// Attachment is the content of an attachment, to be read. Close it at the end.
type Attachment struct {
	io.ReadSeeker
	Modified time.Time
	Mimetype string
	close    func() error
}

// Close lets go of the content.
func (a *Attachment) Close() error { return a.close() }

// Attachment opens the content with that hash of the attachment id: of the file
// in the workspace, or what was uploaded. hash "" stands for the one that the
// folder document has. Errors: fs.ErrNotExist.
func (h *Host) Attachment(id, hash string) (*Attachment, error) {
	for _, f := range h.folders {
		e, ok := f.attachment(id)
		switch {
		case !ok:
			continue
		case hash == "":
			hash = e.Hash
		}
		if e.Hash != hash {
			continue
		}
		if a, err := f.open(e); err == nil {
			return a, nil
		}
	}
	dir, err := h.blobDir(id, hash)
	if err != nil || hash == "" {
		return nil, notExist(id)
	}
	file, err := os.Open(filepath.Join(dir, hash))
	if err != nil {
		return nil, notExist(id)
	}
	info, err := file.Stat()
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return &Attachment{file, info.ModTime(), "application/octet-stream", file.Close}, nil
}

// attachment is the entry of an attachment.
func (f *folder) attachment(id string) (folderdoc.Entry, bool) {
	f.index.RLock()
	defer f.index.RUnlock()
	e, ok := f.files[id]
	return e, ok
}

// open opens the file of an entry, unless it has changed since it was hashed.
func (f *folder) open(e folderdoc.Entry) (*Attachment, error) {
	file, err := f.h.ws.OpenPeoplesFile(f.path(e.Path))
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err == nil && info.ModTime().UnixMilli() != e.SyncTime {
		err = notExist(e.ID)
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return &Attachment{io.NewSectionReader(file, 0, info.Size()), info.ModTime(), e.Mimetype, file.Close}, nil
}

// put does what a client says who entered an attachment: the file gets the bytes
// that were uploaded before. old is the hash of what is there, "" for a new file.
// What is replaced can still be had by its hash.
func (f *folder) put(ctx context.Context, e folderdoc.Entry, old string) error {
	dir, err := f.h.blobDir(e.ID, e.Hash)
	if err != nil {
		return err
	}
	data, err := os.ReadFile(filepath.Join(dir, e.Hash))
	if err != nil {
		return err
	}
	var had model.ContentSum
	if old != "" {
		if _, err := hex.Decode(had[:], []byte(old)); err != nil {
			return err
		}
		if err := f.keepOld(e.ID, old); err != nil {
			return err
		}
	}
	modified := time.Now()
	if e.SyncTime > 0 {
		modified = time.UnixMilli(e.SyncTime)
	}
	return f.h.ws.PutPeoplesFile(ctx, f.path(e.Path), data, had, modified)
}

// keepOld keeps the content that is about to be replaced.
func (f *folder) keepOld(id, hash string) error {
	a, err := f.h.Attachment(id, hash)
	if err != nil {
		return err
	}
	defer a.Close()
	return f.h.Upload(id, hash, a)
}

// fileEntry is the entry that a file of the tree should have; ok is false while
// its hash is not known. What has the time that its entry has is taken for
// unchanged. f.mu is held.
func (f *folder) fileEntry(t bridge.TreeEntry, rel, id string, had folderdoc.Entry) (e folderdoc.Entry, ok bool) {
	e = folderdoc.Entry{Path: rel, ID: id, SyncTime: t.ModTime.UnixMilli()}
	e.Type, e.Mimetype = folderdoc.TypeOf(rel)
	if had.Hash != "" {
		e.Type, e.Mimetype = had.Type, had.Mimetype
	}
	if had.Hash != "" && had.SyncTime == e.SyncTime {
		e.Hash = had.Hash
		return e, true
	}
	if sum, known := f.sums[rel]; known && sum.modTime == e.SyncTime {
		e.Hash = sum.hash
		return e, true
	}
	f.unhashed = append(f.unhashed, rel)
	had.Path = rel
	return had, had.Hash != ""
}

// fileSum is the hash of a file that had that time.
type fileSum struct {
	modTime int64 // Unix milliseconds
	hash    string
}

// hashFiles finds out the hashes of files that are new or have changed, and
// enters them, whenever wake is signalled, until ctx ends.
func (h *Host) hashFiles(ctx context.Context, wake <-chan struct{}) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-wake:
		}
		for _, f := range h.folders {
			if f.hashAll(ctx) {
				h.pending.signal(true, "")
			}
		}
	}
}

// hashAll says whether it has found out a hash.
func (f *folder) hashAll(ctx context.Context) (found bool) {
	f.mu.Lock()
	rels := f.unhashed
	f.unhashed = nil
	f.mu.Unlock()
	for _, rel := range rels {
		sum, err := f.hash(ctx, rel)
		if ctx.Err() != nil {
			return false
		}
		if err != nil {
			f.h.log.Debug("file is not offered", model.LogPath, string(f.path(rel)), model.LogErr, err)
			continue // it has gone, or its change is reported yet
		}
		f.mu.Lock()
		f.sums[rel] = sum
		f.mu.Unlock()
		found = true
	}
	return found
}

func (f *folder) hash(ctx context.Context, rel string) (fileSum, error) {
	file, err := f.h.ws.OpenPeoplesFile(f.path(rel))
	if err != nil {
		return fileSum{}, err
	}
	defer file.Close()
	before, err := file.Stat()
	if err != nil {
		return fileSum{}, err
	}
	sum := sha256.New()
	if _, err := io.Copy(sum, untilDone{ctx, io.NewSectionReader(file, 0, before.Size())}); err != nil {
		return fileSum{}, err
	}
	after, err := file.Stat()
	if err == nil && (!after.ModTime().Equal(before.ModTime()) || after.Size() != before.Size()) {
		err = fs.ErrInvalid // it is being written: its change will be reported
	}
	return fileSum{before.ModTime().UnixMilli(), hex.EncodeToString(sum.Sum(nil))}, err
}

// untilDone reads until a context ends.
type untilDone struct {
	ctx context.Context
	r   io.Reader
}

func (u untilDone) Read(p []byte) (int, error) {
	if err := u.ctx.Err(); err != nil {
		return 0, err
	}
	return u.r.Read(p)
}
