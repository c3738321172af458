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
	byKey map[intentKey]bridge.Record
}

type intentKey struct {
	path bridge.Path
	sum  bridge.ContentSum
}

// intent is one line.
type intent struct {
	Path bridge.Path `json:"path"`
	Sum  []byte      `json:"sum"`
	bridge.Record
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
	x.byKey = make(map[intentKey]bridge.Record)
	kept := lines[:0]
	for _, line := range lines {
		if in, ok := parseIntent(line); ok {
			x.byKey[in.key()] = in.Record
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

func (x *intents) add(p bridge.Path, sum bridge.ContentSum, rec bridge.Record) error {
	in := intent{p, sum[:], rec}
	line, err := json.Marshal(in)
	if err != nil {
		return err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.byKey[in.key()] = rec
	if len(x.byKey) > 2*keepIntents {
		clear(x.byKey) // all but the newest are kept as records by now
		x.byKey[in.key()] = rec
	}
	_, err = x.file.Write(append(line, '\n'))
	return err
}

// Intend notes that the file at p is about to hold a text of that fingerprint, and
// what the record of it will say.
func (s *Store) Intend(p bridge.Path, sum bridge.ContentSum, rec bridge.Record) {
	if err := s.intents.add(p, sum, rec); err != nil {
		s.log.Warn("intent not noted", bridge.LogPath, string(p), bridge.LogErr, err)
	}
}

// Intended returns the record of the write that was about to make the file at p
// hold that text.
func (s *Store) Intended(p bridge.Path, sum bridge.ContentSum) (rec bridge.Record, ok bool) {
	s.intents.mu.Lock()
	defer s.intents.mu.Unlock()
	rec, ok = s.intents.byKey[intentKey{p, sum}]
	return rec, ok
}
