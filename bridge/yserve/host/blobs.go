package host

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"

	"github.com/relayfs/relayfs/bridge/blobs"
)

// ErrHash is the error for an upload with another hash than announced.
var ErrHash = blobs.ErrHash

// Upload stores the bytes of r as a content of the attachment id, durably, under their
// hash. A client uploads first, and then enters the hash in the folder document. Errors:
// ErrHash, errors.ErrUnsupported without Options.Blobs, those of r.
func (h *Host) Upload(id, hash string, r io.Reader) error {
	dir, err := h.blobDir(id, hash)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	if _, err := blobs.Write(dir, hash, r, math.MaxInt64-1); err != nil {
		return err
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// Blobs returns the uploads for id, named by their hashes, oldest first.
func (h *Host) Blobs(id string) ([]fs.FileInfo, error) {
	dir, err := h.blobDir(id, "")
	if err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var list []fs.FileInfo
	for _, e := range entries {
		if info, err := e.Info(); err == nil && blobs.ValidHash(e.Name()) {
			list = append(list, info)
		}
	}
	slices.SortFunc(list, func(a, b fs.FileInfo) int { return a.ModTime().Compare(b.ModTime()) })
	return list, err
}

// Discard deletes the upload for id with that hash, or all if hash is "", and no other file.
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

// blobDir returns the directory of the uploads for id, each named by its hash.
func (h *Host) blobDir(id, hash string) (string, error) {
	switch {
	case h.blobs == "":
		return "", fmt.Errorf("uploads: %w", errors.ErrUnsupported)
	case !ValidID(id), hash != "" && !blobs.ValidHash(hash):
		return "", notExist(id)
	}
	return filepath.Join(h.blobs, id), nil
}
