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
	"github.com/relayfs/relayfs/bridge/wake"
)

// Attachment is the content of an attachment. Close it at the end.
type Attachment struct {
	io.ReadSeeker
	io.Closer
	Modified time.Time
	Mimetype string
}

// Attachment opens the content with a hash of the attachment id, from the workspace or the
// uploads; "" means the hash in the folder document. Errors: fs.ErrNotExist.
func (h *Host) Attachment(id, hash string) (*Attachment, error) {
	for _, f := range h.folders {
		e, ok := f.index.Load().files[id]
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
	return &Attachment{file, file, info.ModTime(), "application/octet-stream"}, nil
}

// open opens the file of an entry; fs.ErrNotExist if it has changed since it was hashed.
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
	return &Attachment{io.NewSectionReader(file, 0, info.Size()), file, info.ModTime(), e.Mimetype}, nil
}

// put writes the file of an attachment that a client has entered, from an earlier upload.
// old is the hash of the present file, "" for a new one. The replaced content can still be
// downloaded by its hash.
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

func (f *folder) keepOld(id, hash string) error {
	a, err := f.h.Attachment(id, hash)
	if err != nil {
		return err
	}
	defer a.Close()
	return f.h.Upload(id, hash, a)
}

// fileEntry returns the entry for a file of the tree; ok is false while its hash is unknown.
// A file with the time of its entry counts as unchanged.
func (n *names) fileEntry(t bridge.TreeEntry, rel, id string, had folderdoc.Entry) (e folderdoc.Entry, ok bool) {
	e = folderdoc.Entry{Path: rel, ID: id, SyncTime: t.ModTime.UnixMilli()}
	e.Type, e.Mimetype = folderdoc.TypeOf(rel)
	if had.Hash != "" {
		e.Type, e.Mimetype = had.Type, had.Mimetype
	}
	if had.Hash != "" && had.SyncTime == e.SyncTime {
		e.Hash = had.Hash
		return e, true
	}
	if sum, ok := n.sums[rel]; ok && sum.modTime == e.SyncTime {
		e.Hash = sum.hash
		return e, true
	}
	n.unhashed = append(n.unhashed, rel)
	had.Path = rel
	return had, had.Hash != ""
}

type fileSum struct {
	modTime int64 // Unix milliseconds
	hash    string
}

// hashFiles hashes new and changed files whenever unhashed is set, until ctx ends.
func (h *Host) hashFiles(ctx context.Context, unhashed wake.Signal) {
	for range unhashed.Until(ctx) {
		for _, f := range h.folders {
			if f.hashAll(ctx) {
				h.notice(true, "")
			}
		}
	}
}

// hashAll hashes all files that need it, and reports whether it hashed any.
func (f *folder) hashAll(ctx context.Context) (found bool) {
	var rels []string
	_ = f.locked(func(n *names) error {
		rels, n.unhashed = n.unhashed, nil
		return nil
	})
	for _, rel := range rels {
		sum, err := f.hash(ctx, rel)
		if ctx.Err() != nil {
			return false
		}
		if err != nil {
			f.h.log.Debug("file is not in the folder document", model.LogPath, string(f.path(rel)), model.LogErr, err)
			continue // it is gone, or its change will be reported
		}
		_ = f.locked(func(n *names) error {
			n.sums[rel] = sum
			return nil
		})
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
	defer context.AfterFunc(ctx, func() { file.Close() })() // ends the copy
	before, err := file.Stat()
	if err != nil {
		return fileSum{}, err
	}
	sum := sha256.New()
	if _, err := io.Copy(sum, io.NewSectionReader(file, 0, before.Size())); err != nil {
		return fileSum{}, err
	}
	after, err := file.Stat()
	if err == nil && (!after.ModTime().Equal(before.ModTime()) || after.Size() != before.Size()) {
		err = fs.ErrInvalid // the change will be reported
	}
	return fileSum{before.ModTime().UnixMilli(), hex.EncodeToString(sum.Sum(nil))}, err
}
