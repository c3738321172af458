package control

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"sync"
	"time"

	"github.com/relayfs/relayfs/bridge/owner"
	"github.com/relayfs/relayfs/bridge/remote/token"
)

// cachedToken is a token with its expiry, as in the service's answers and in the cache.
type cachedToken struct {
	token.ClientToken
	Name       string `json:"name,omitempty"` // document name, only in the cache
	ExpiryTime int64  `json:"expiryTime"`     // Unix milliseconds; 0 if unknown
}

func (k cachedToken) validAt(t time.Time) bool {
	return k.ExpiryTime == 0 || t.UnixMilli() < k.ExpiryTime
}

// cache has tokens by document name, in memory and as lines of a file. It ignores disk errors: tokens that it cannot
// write are requested again after a restart.
type cache struct {
	dir  owner.Folder // "" for memory only
	file string

	mu     sync.Mutex // guards the fields below, and the file
	tokens map[string]cachedToken
	lines  int // lines in the file
}

// maxObsoleteLines is the number of obsolete lines after which the file is rewritten.
const maxObsoleteLines = 100

// openCache reads the valid tokens of a file.
func openCache(dir owner.Folder, file string, now time.Time) *cache {
	c := &cache{dir: dir, file: file, tokens: make(map[string]cachedToken)}
	data, err := dir.Read(file)
	if err != nil {
		return c
	}
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, 4*maxToken)
	for lines.Scan() {
		var k cachedToken
		if json.Unmarshal(lines.Bytes(), &k) == nil && isName(k.Name) {
			c.tokens[k.Name] = k
		}
	}
	maps.DeleteFunc(c.tokens, func(_ string, k cachedToken) bool { return !k.validAt(now) })
	c.rewrite()
	return c
}

func (c *cache) get(name string) (cachedToken, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	k, ok := c.tokens[name]
	return k, ok
}

func (c *cache) drop(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.tokens, name) // from the file, it is rejected once more after a restart
}

func (c *cache) put(name string, k cachedToken) {
	k.Name = name
	c.mu.Lock()
	defer c.mu.Unlock()
	c.tokens[name] = k
	if c.dir == "" {
		return
	}
	if c.lines++; c.lines > 2*len(c.tokens)+maxObsoleteLines {
		c.rewrite()
		return
	}
	f, err := c.dir.Append(c.file)
	if err != nil {
		return
	}
	defer f.Close()
	_ = json.NewEncoder(f).Encode(k)
}

// rewrite replaces the file. The caller holds the lock if the cache is shared.
func (c *cache) rewrite() {
	if c.dir.Put(c.file, func(f io.Writer) error {
		w := bufio.NewWriter(f)
		for _, k := range c.tokens {
			if err := json.NewEncoder(w).Encode(k); err != nil {
				return err
			}
		}
		return w.Flush()
	}) == nil {
		c.lines = len(c.tokens)
	}
}
