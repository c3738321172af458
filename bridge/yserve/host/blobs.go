package host

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// ErrHash says that uploaded bytes are not those that were announced.
var ErrHash = errors.New("bytes do not have that SHA-256")

// Blob is what was uploaded as the content of an attachment.
type Blob struct {
	Hash    string // SHA-256, lower-case hex
	Size    int64
	Created time.Time
}

// Upload keeps what r holds as the content of the attachment id, durably, under
// its hash. A client uploads first, and then enters the hash in the folder
// document. Errors: ErrHash, errors.ErrUnsupported without Options.Blobs, those
// of r.
func (h *Host) Upload(id, hash string, r io.Reader) error {
	dir, err := h.blobDir(id, hash)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, ".upload-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	sum := sha256.New()
	_, err = io.Copy(io.MultiWriter(f, sum), r)
	if err == nil && hex.EncodeToString(sum.Sum(nil)) != hash {
		err = ErrHash
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), filepath.Join(dir, hash)); err != nil {
		return err
	}
	return syncDir(dir)
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// Blobs lists what was uploaded for id, oldest first.
func (h *Host) Blobs(id string) ([]Blob, error) {
	dir, err := h.blobDir(id, "")
	if err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var list []Blob
	for _, e := range entries {
		if info, err := e.Info(); err == nil && validHash(e.Name()) {
			list = append(list, Blob{e.Name(), info.Size(), info.ModTime()})
		}
	}
	slices.SortFunc(list, func(a, b Blob) int { return a.Created.Compare(b.Created) })
	return list, err
}

// Discard forgets what was uploaded for id with that hash, or with any if hash is
// "". Files of the workspace stay.
func (h *Host) Discard(id, hash string) error {
	dir, err := h.blobDir(id, hash)
	if err != nil {
		return err
	}
	if hash == "" {
		return os.RemoveAll(dir)
	}
	err = os.Remove(filepath.Join(dir, hash))
	if errors.Is(err, fs.ErrNotExist) {
		return notExist(id)
	}
	return err
}

// blobDir holds what was uploaded for id, each under its hash.
func (h *Host) blobDir(id, hash string) (string, error) {
	switch {
	case h.blobs == "":
		return "", fmt.Errorf("uploads: %w", errors.ErrUnsupported)
	case !ValidID(id), hash != "" && !validHash(hash):
		return "", notExist(id)
	}
	return filepath.Join(h.blobs, id), nil
}

// validHash says whether hash is a SHA-256 in lower-case hex.
func validHash(hash string) bool {
	sum, err := hex.DecodeString(hash)
	return err == nil && len(sum) == sha256.Size && hex.EncodeToString(sum) == hash
}
