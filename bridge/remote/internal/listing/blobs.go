package listing

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"
	"sync"

	"github.com/relayfs/relayfs/bridge/owner"
)

// MaxBlob is the maximum size of a file in bytes. It is relay-server's limit.
const MaxBlob = 250 << 20

var (
	ErrHash     = errors.New("bytes do not have the announced SHA-256")
	ErrTooLarge = errors.New("file is too large")
)

// Cache stores the bytes of attachments in a folder. The name of each file is the SHA-256 of its content. Files are
// complete, synced, and immutable.
//
// A Cache is safe for concurrent use. Fill returns ErrTooLarge, or ErrHash if the bytes do not have the announced hash.
type Cache struct {
	dir owner.Folder

	mu    sync.Mutex // guards the field below
	sizes map[string]int64
}

// OpenCache opens or creates the folder. It removes incomplete files that a crash has left.
func OpenCache(dir owner.Folder) (*Cache, error) {
	if err := dir.Make(); err != nil {
		return nil, err
	}
	entries, err := fs.ReadDir(dir.FS(), ".")
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
		case strings.HasPrefix(e.Name(), owner.PartPrefix):
			_ = dir.Remove(e.Name()) // a failure does no harm, because the file is never read
		}
	}
	return c, nil
}

// ValidHash reports whether s is a SHA-256 in lower-case hex, and so a safe name.
func ValidHash(s string) bool {
	raw, err := hex.DecodeString(s)
	return err == nil && len(raw) == sha256.Size && s == strings.ToLower(s)
}

func (c *Cache) Has(hash string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, ok := c.sizes[hash]
	return ok
}

// Size returns the number of bytes, or 0 if the cache does not have them.
func (c *Cache) Size(hash string) int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.sizes[hash]
}

func (c *Cache) Open(hash string) (*os.File, error) { return c.dir.Open(hash) }

func (c *Cache) Read(hash string) ([]byte, error) { return c.dir.Read(hash) }

func (c *Cache) Put(data []byte) (hash string, err error) {
	sum := sha256.Sum256(data)
	hash = hex.EncodeToString(sum[:])
	if c.Has(hash) {
		return hash, nil
	}
	return hash, c.Fill(hash, bytes.NewReader(data))
}

// Fill reads bytes from r and stores them durably if they have the hash.
func (c *Cache) Fill(hash string, r io.Reader) error {
	var n int64
	err := c.dir.Put(hash, func(w io.Writer) (err error) {
		sum := sha256.New()
		n, err = io.Copy(io.MultiWriter(w, sum), io.LimitReader(r, MaxBlob+1))
		switch {
		case err != nil:
			return err
		case n > MaxBlob:
			return ErrTooLarge
		case hex.EncodeToString(sum.Sum(nil)) != hash:
			return ErrHash
		}
		return nil
	})
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sizes[hash] = n
	return nil
}
