package store

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"sync"

	"github.com/relayfs/relayfs/bridge"
)

// keepIntents is how many intents outlive a restart: those of the writes that a
// crash may have interrupted, with plenty of room.
const keepIntents = 1000

// intents is a file of one JSON object per line beside the store's. A line is
// written before its write and not synced: it outlives the process, which is
// what it is for, but perhaps not a power cut.
type intents struct {
	mu    sync.Mutex // protects the following
	file  *os.File
	byKey map[intentKey]bridge.Author
}

type intentKey struct {
	path bridge.Path
	sum  bridge.ContentSum
}

// intent is one line.
type intent struct {
	Path    bridge.Path `json:"path"`
	Sum     []byte      `json:"sum"`
	Author  string      `json:"author"`
	Session string      `json:"session,omitempty"`
}

// open reads what the last process left and begins a new file with it.
func (x *intents) open(name string) error {
	old, err := os.ReadFile(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	lines := bytes.SplitAfter(old, []byte("\n"))
	if n := len(lines) - keepIntents; n > 0 {
		lines = lines[n:]
	}
	x.byKey = make(map[intentKey]bridge.Author)
	kept := lines[:0]
	for _, line := range lines {
		if in, ok := parseIntent(line); ok {
			x.byKey[in.key()] = bridge.Author{Name: in.Author, Session: in.Session}
			kept = append(kept, line)
		}
	}
	if x.file, err = os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600); err != nil {
		return err
	}
	w := bufio.NewWriter(x.file)
	for _, line := range kept {
		w.Write(line)
	}
	return w.Flush()
}

// parseIntent reads one line; the last one may be cut off.
func parseIntent(line []byte) (in intent, ok bool) {
	ok = bytes.HasSuffix(line, []byte("\n")) && json.Unmarshal(line, &in) == nil && len(in.Sum) == len(bridge.ContentSum{})
	return in, ok
}

func (in intent) key() intentKey {
	return intentKey{in.Path, bridge.ContentSum(in.Sum)}
}

func (x *intents) add(p bridge.Path, sum bridge.ContentSum, by bridge.Author) error {
	in := intent{p, sum[:], by.Name, by.Session}
	line, err := json.Marshal(in)
	if err != nil {
		return err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.byKey[in.key()] = by
	if len(x.byKey) > 2*keepIntents {
		clear(x.byKey) // all but the newest are kept as records by now
		x.byKey[in.key()] = by
	}
	_, err = x.file.Write(append(line, '\n'))
	return err
}

// Intend notes that by is about to make the file at p hold a text of that
// fingerprint.
func (s *Store) Intend(p bridge.Path, sum bridge.ContentSum, by bridge.Author) {
	if err := s.intents.add(p, sum, by); err != nil {
		s.log.Warn("intent not noted", bridge.LogPath, string(p), bridge.LogErr, err)
	}
}

// Intended says who was about to make the file at p hold that text.
func (s *Store) Intended(p bridge.Path, sum bridge.ContentSum) (by bridge.Author, ok bool) {
	s.intents.mu.Lock()
	defer s.intents.mu.Unlock()
	by, ok = s.intents.byKey[intentKey{p, sum}]
	return by, ok
}
