package store

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"slices"
	"sync"

	"github.com/relayfs/relayfs/bridge/model"
)

const (
	// keepIntents is how many intents are kept, the newest ones: those of writes that
	// may have been interrupted, and besides, as many of those that went through,
	// which tell what relayfs wrote from what people did.
	keepIntents = 1000
	// moreIntents and moreBytes are by how much the file may grow before it is
	// written anew. Most intents take a note's text, until they are settled, and then some
	// 200 bytes.
	moreIntents = 1000
	moreBytes   = 4 << 20
	// keepTexts is how many of the intents that a process finds keep their texts.
	// Writes are kept within moments, so that one of the last ones is meant.
	keepTexts = 100
)

// intents is a file of one JSON object per line beside the store's. A line is
// written before its write and not synced: it outlives the process, which is
// what it is for, but perhaps not a power cut.
type intents struct {
	name string

	mu      sync.Mutex // protects the following
	file    *os.File
	size    int64 // of what is whole in file
	wasLong int   // len(list) and size when the file was last written anew
	wasSize int64
	list    []*intent                // oldest first
	byPath  map[model.Path][]*intent // those of list
	open    map[model.Path]*intent   // the newest, until something is kept there
}

// intent is one line.
type intent struct {
	Path model.Path `json:"path"`
	Sum  []byte     `json:"sum"`
	model.Intent
}

// load takes over what the last process left. Which of its writes went through is
// not known.
func (x *intents) load(name string) error {
	old, err := os.ReadFile(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	x.name = name
	x.byPath, x.open = make(map[model.Path][]*intent), make(map[model.Path]*intent)
	for line := range bytes.Lines(old) {
		if in, ok := parseIntent(line); ok {
			x.remember(in)
		}
	}
	for _, in := range x.list[:max(0, len(x.list)-keepTexts)] {
		in.Text = ""
	}
	return x.rewrite()
}

// parseIntent reads one line; the last one may be cut off.
func parseIntent(line []byte) (in *intent, ok bool) {
	in = new(intent)
	ok = bytes.HasSuffix(line, []byte("\n")) && json.Unmarshal(line, in) == nil && len(in.Sum) == len(model.ContentSum{})
	return in, ok
}

// remember adds the newest intent: the one before it at its path is settled. mu is
// held.
func (x *intents) remember(in *intent) {
	x.settle(in.Path)
	x.list = append(x.list, in)
	x.byPath[in.Path] = append(x.byPath[in.Path], in)
	x.open[in.Path] = in
}

// rewrite makes a new file of what is still of use, and puts it in the place of
// the old one. After an error that goes on. mu is held.
func (x *intents) rewrite() error {
	x.prune()
	var text bytes.Buffer
	lines := json.NewEncoder(&text)
	for _, in := range x.list {
		if err := lines.Encode(in); err != nil {
			return err
		}
	}
	temp := x.name + ".new"
	file, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(text.Bytes())
	if err == nil {
		err = os.Rename(temp, x.name)
	}
	if err != nil {
		return errors.Join(err, file.Close())
	}
	if x.file != nil {
		err = x.file.Close()
	}
	x.file, x.size = file, int64(text.Len())
	x.wasLong, x.wasSize = len(x.list), x.size
	return err
}

// prune forgets intents that are of no use any more. mu is held.
func (x *intents) prune() {
	open, done := 0, 0
	kept := x.list[:0:0]
	for _, in := range slices.Backward(x.list) {
		count := &done
		if x.open[in.Path] == in {
			count = &open
		}
		if *count++; *count <= keepIntents {
			kept = append(kept, in)
			continue
		}
		if x.open[in.Path] == in {
			delete(x.open, in.Path)
		}
	}
	slices.Reverse(kept)
	x.list = kept
	x.index()
}

// add notes an intent, in memory even if it cannot be written.
func (x *intents) add(p model.Path, sum model.ContentSum, what model.Intent) error {
	in := &intent{p, sum[:], what}
	line, err := json.Marshal(in)
	if err != nil {
		return err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.remember(in)
	if len(x.list) >= x.wasLong+moreIntents || x.size >= x.wasSize+moreBytes {
		x.wasLong, x.wasSize = len(x.list), x.size // not again at once if it fails
		return x.rewrite()
	}
	_, err = x.file.WriteAt(append(line, '\n'), x.size)
	if err == nil {
		x.size += int64(len(line) + 1) // else the next line is written over this one
	}
	return err
}

// settle notes that what was done at p is kept. What remains of its intent says
// that relayfs made that text, and whose it was. mu is held.
func (x *intents) settle(p model.Path) {
	in := x.open[p]
	if in == nil {
		return
	}
	delete(x.open, p)
	done := model.Intent{Record: model.Record{Author: in.Author, Session: in.Session}}
	if d := in.Decision; d != nil {
		done.Decision = &model.Decision{Batch: d.Batch}
	}
	in.Intent = done
}

// rename lets intents follow their notes: those that may be needed also into the
// next process.
func (x *intents) rename(oldPath, newPath model.Path) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	open := false
	for _, in := range x.list {
		if !oldPath.Contains(in.Path) {
			continue
		}
		to := newPath + in.Path[len(oldPath):]
		if x.open[in.Path] == in {
			open = true
			delete(x.open, in.Path)
			x.settle(to)
			x.open[to] = in
		}
		in.Path = to
	}
	if open {
		return x.rewrite()
	}
	x.index()
	return nil
}

// index makes byPath anew. mu is held.
func (x *intents) index() {
	clear(x.byPath)
	for _, in := range x.list {
		x.byPath[in.Path] = append(x.byPath[in.Path], in)
	}
}

func (x *intents) kept(p model.Path) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.settle(p)
}

// Intend notes what the file at p is about to hold, and how.
func (s *Store) Intend(p model.Path, sum model.ContentSum, in model.Intent) error {
	err := s.intents.add(p, sum, in)
	if err != nil {
		s.log.Warn("intent not noted", model.LogPath, string(p), model.LogErr, err)
	}
	return s.fail("intend", err)
}

// Intended returns the write that was about to make the file at p hold raw.
func (s *Store) Intended(p model.Path, raw string) (in model.Intent, ok bool) {
	s.intents.mu.Lock()
	defer s.intents.mu.Unlock()
	noted := s.intents.byPath[p]
	if len(noted) == 0 {
		return in, false // as with most notes: their text need not be summed up
	}
	sum := model.SumOf(raw)
	for _, in := range slices.Backward(noted) {
		if bytes.Equal(in.Sum, sum[:]) {
			return in.Intent, true
		}
	}
	return in, false
}

// Unsettled returns the last intent at p, if nothing was kept there since.
func (s *Store) Unsettled(p model.Path) (in model.Intent, ok bool) {
	s.intents.mu.Lock()
	defer s.intents.mu.Unlock()
	last := s.intents.open[p]
	if last == nil {
		return in, false
	}
	return last.Intent, true
}
