package listing

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// MaxBlob is the size in bytes of the largest file, relay-server's limit.
const MaxBlob = 250 << 20

var (
	ErrHash     = errors.New("bytes do not have the announced SHA-256")
	ErrTooLarge = errors.New("file is too large")
)

// A Cache stores the bytes of attachments in directories, each file named by
// the SHA-256 of its content. Files are complete, synced, and immutable.
//
//	c, err := OpenCache(dir)
//	hash, err := c.Put(data)
//	f, err := c.Open(hash)
//
// A Cache is safe for concurrent use. Errors are those of package os; ErrHash is for bytes
// with another hash than announced.
type Cache struct {
	dir string

	mu    sync.Mutex // protects the following
	sizes map[string]int64
}

// OpenCache opens or creates the directory, and removes what a crash left unfinished.
func OpenCache(dir string) (*Cache, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	c := &Cache{dir: dir, sizes: make(map[string]int64)}
	for _, e := range entries {
		info, err := e.Info()
		switch {
		case err != nil:
			return nil, err
		case ValidHash(e.Name()):
			c.sizes[e.Name()] = info.Size()
		case strings.HasPrefix(e.Name(), partPrefix):
			_ = os.Remove(filepath.Join(dir, e.Name())) // it does no harm
		}
	}
	return c, nil
}

const partPrefix = ".part-"

// ValidHash reports whether s is a SHA-256 in lower-case hex, and so a safe name.
func ValidHash(s string) bool {
	raw, err := hex.DecodeString(s)
	return err == nil && len(raw) == sha256.Size && s == strings.ToLower(s)
}

// Has reports whether the bytes are here.
func (c *Cache) Has(hash string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, ok := c.sizes[hash]
	return ok
}

// Size returns the number of bytes, 0 if they are not here.
func (c *Cache) Size(hash string) int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.sizes[hash]
}

// OpenCache opens a file for reading.
func (c *Cache) Open(hash string) (*os.File, error) { return os.Open(filepath.Join(c.dir, hash)) }

// Read reads a file.
func (c *Cache) Read(hash string) ([]byte, error) { return os.ReadFile(filepath.Join(c.dir, hash)) }

// Put stores data and returns its hash.
func (c *Cache) Put(data []byte) (hash string, err error) {
	sum := sha256.Sum256(data)
	hash = hex.EncodeToString(sum[:])
	if c.Has(hash) {
		return hash, nil
	}
	return hash, c.Fill(hash, bytes.NewReader(data))
}

// Fill stores the bytes of r, durably, if they have the hash.
func (c *Cache) Fill(hash string, r io.Reader) error {
	n, err := WriteBlob(c.dir, hash, r, MaxBlob)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sizes[hash] = n
	return nil
}

// WriteBlob stores the bytes of r, at most limit, in a synced file in dir, if they have the
// hash, and returns their number. The name of the file is durable when dir is synced.
func WriteBlob(dir, hash string, r io.Reader, limit int64) (n int64, err error) {
	f, err := os.CreateTemp(dir, partPrefix)
	if err != nil {
		return 0, err
	}
	defer os.Remove(f.Name()) // gone after the rename
	sum := sha256.New()
	n, err = io.Copy(io.MultiWriter(f, sum), io.LimitReader(r, limit+1))
	switch {
	case err != nil:
	case n > limit:
		err = ErrTooLarge
	case hex.EncodeToString(sum.Sum(nil)) != hash:
		err = ErrHash
	default:
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return 0, err
	}
	return n, os.Rename(f.Name(), filepath.Join(dir, hash))
}
