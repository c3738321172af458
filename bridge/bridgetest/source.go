package bridgetest

import (
	"bytes"
	"cmp"
	"context"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/relayfs/relayfs/bridge/model"
)

// Source is a Folder in memory: a model.Source, model.Structure and
// model.Files. The zero Source is empty.
type Source struct {
	mu      sync.Mutex // protects the following
	entries map[string]*entry
	offline bool
	inodes  uint64 // given out
	changes uint64 // made, so that no two states have the same stamp

	scanned   bool // from then on, changes of a person are reported
	events    []model.SourceEvent
	wake      chan struct{} // closed when events grows or delivered changes
	delivered int
	queued    int
}

// entry is one file or folder.
type entry struct {
	dir   bool
	mode  fs.FileMode
	data  []byte
	stamp model.Stamp
}

func (e *entry) describe(rel string) model.SourceEntry {
	return model.SourceEntry{Rel: rel, Dir: e.dir, Mode: e.mode, Stamp: e.stamp}
}

func fail(op, rel string, err error) error { return &fs.PathError{Op: op, Path: rel, Err: err} }

// lock takes the mutex, and refuses if the source is offline.
func (s *Source) lock(op, rel string) error {
	s.mu.Lock()
	if s.offline {
		s.mu.Unlock()
		return fail(op, rel, model.ErrOffline)
	}
	return nil
}

// find is the entry at rel. mu is held.
func (s *Source) find(rel string) (*entry, error) {
	if e := s.entries[rel]; e != nil {
		return e, nil
	}
	return nil, fs.ErrNotExist
}

// add makes a new entry, whose parent must be a folder. mu is held.
func (s *Source) add(rel string, e *entry) error {
	if s.entries[rel] != nil {
		return fs.ErrExist
	}
	if err := s.wantFolder(dirOf(rel)); err != nil {
		return err
	}
	if s.entries == nil {
		s.entries = make(map[string]*entry)
	}
	if e.stamp.Inode == 0 {
		s.name(e)
		s.touch(e, time.Now())
	}
	s.entries[rel] = e
	return nil
}

// touch gives an entry the stamp of a new state. mu is held.
// name gives e an inode.
func (s *Source) name(e *entry) {
	s.inodes++
	e.stamp.Device, e.stamp.Inode = 1, s.inodes
}

func (s *Source) touch(e *entry, modTime time.Time) {
	s.changes++
	e.stamp.Size, e.stamp.ModTime, e.stamp.ChgTime = int64(len(e.data)), modTime.UnixNano(), int64(s.changes)
}

func (s *Source) wantFolder(rel string) error {
	if rel == "" {
		return nil
	}
	e, err := s.find(rel)
	if err == nil && !e.dir {
		err = model.ErrNotDir
	}
	return err
}

// addFolders makes rel and its parents, if they are missing, and returns what
// was made. mu is held.
func (s *Source) addFolders(rel string) (made []string, err error) {
	if rel == "" || s.wantFolder(rel) == nil {
		return nil, nil
	}
	if made, err = s.addFolders(dirOf(rel)); err != nil {
		return made, err
	}
	return append(made, rel), s.add(rel, &entry{dir: true, mode: 0o755})
}

func dirOf(rel string) string { return strings.TrimSuffix(path.Dir(rel), ".") }

// below lists rel and everything below it, parents first. mu is held.
func (s *Source) below(rel string) []string {
	var list []string
	for p := range s.entries {
		if rel == "" || p == rel || strings.HasPrefix(p, rel+"/") {
			list = append(list, p)
		}
	}
	slices.SortFunc(list, func(a, b string) int {
		return cmp.Or(strings.Count(a, "/")-strings.Count(b, "/"), strings.Compare(a, b))
	})
	return list
}

// Scan reports everything, parents before children.
func (s *Source) Scan(ctx context.Context, found func(model.SourceEntry)) error {
	if err := s.lock("scan", ""); err != nil {
		return err
	}
	s.scanned = true
	var entries []model.SourceEntry
	for _, rel := range s.below("") {
		entries = append(entries, s.entries[rel].describe(rel))
	}
	s.mu.Unlock()
	for _, e := range entries {
		found(e)
	}
	return ctx.Err()
}

// Read returns the bytes of a file and their stamp.
func (s *Source) Read(_ context.Context, rel string) ([]byte, model.Stamp, error) {
	if err := s.lock("read", rel); err != nil {
		return nil, model.Stamp{}, err
	}
	defer s.mu.Unlock()
	e, err := s.find(rel)
	if err == nil && e.dir {
		err = model.ErrIsDir
	}
	if err != nil {
		return nil, model.Stamp{}, fail("read", rel, err)
	}
	return bytes.Clone(e.data), e.stamp, nil
}

// Replace makes r.Data the content of rel if r.Expect names the content it has.
func (s *Source) Replace(_ context.Context, rel string, r model.Replacement) (model.Stamp, error) {
	if err := s.lock("write", rel); err != nil {
		return model.Stamp{}, err
	}
	defer s.mu.Unlock()
	post := &entry{data: r.Data}
	s.name(post)
	s.touch(post, r.ModTime)
	s.mu.Unlock()
	err := r.Prepare(post.stamp)
	s.mu.Lock()
	if err != nil {
		return model.Stamp{}, err
	}
	e, err := s.find(rel)
	if err != nil || e.stamp != r.Expect {
		return model.Stamp{}, fail("write", rel, model.ErrConflict)
	}
	e.data, e.stamp = bytes.Clone(r.Data), post.stamp
	return e.stamp, nil
}

// Create makes a new file and missing folders.
func (s *Source) Create(_ context.Context, rel string, file model.NewFile) (model.Stamp, error) {
	if err := s.lock("create", rel); err != nil {
		return model.Stamp{}, err
	}
	defer s.mu.Unlock()
	if _, err := s.addFolders(dirOf(rel)); err != nil {
		return model.Stamp{}, fail("create", rel, err)
	}
	e := &entry{mode: file.Mode.Perm(), data: bytes.Clone(file.Data)}
	s.name(e)
	s.touch(e, file.ModTime)
	if s.entries[rel] != nil {
		return model.Stamp{}, fail("create", rel, fs.ErrExist)
	}
	s.mu.Unlock()
	err := file.Prepare(e.stamp)
	s.mu.Lock()
	if err != nil {
		return model.Stamp{}, err
	}
	if err := s.add(rel, e); err != nil {
		return model.Stamp{}, fail("create", rel, err)
	}
	return e.stamp, nil
}

// Chmod sets the permission bits.
func (s *Source) Chmod(_ context.Context, rel string, mode fs.FileMode) (model.Stamp, error) {
	if err := s.lock("chmod", rel); err != nil {
		return model.Stamp{}, err
	}
	defer s.mu.Unlock()
	e, err := s.find(rel)
	if err != nil {
		return model.Stamp{}, fail("chmod", rel, err)
	}
	e.mode = mode.Perm()
	return e.stamp, nil
}

// Mkdir makes one folder.
func (s *Source) Mkdir(_ context.Context, rel string) error {
	if err := s.lock("mkdir", rel); err != nil {
		return err
	}
	defer s.mu.Unlock()
	if err := s.add(rel, &entry{dir: true, mode: 0o755}); err != nil {
		return fail("mkdir", rel, err)
	}
	return nil
}

// Rename moves a file or a folder.
func (s *Source) Rename(_ context.Context, oldRel, newRel string, replace bool) error {
	if err := s.lock("rename", oldRel); err != nil {
		return err
	}
	defer s.mu.Unlock()
	if err := s.rename(oldRel, newRel, replace); err != nil {
		return fail("rename", oldRel, err)
	}
	return nil
}

func (s *Source) rename(oldRel, newRel string, replace bool) error {
	e, err := s.find(oldRel)
	if err != nil {
		return err
	}
	if err := s.wantFolder(dirOf(newRel)); err != nil {
		return err
	}
	if old := s.entries[newRel]; old != nil {
		switch {
		case !replace || e.dir:
			return fs.ErrExist
		case old.dir:
			return model.ErrIsDir
		}
	}
	for _, p := range s.below(oldRel) {
		moved := s.entries[p]
		delete(s.entries, p)
		s.entries[newRel+p[len(oldRel):]] = moved
	}
	s.touch(e, time.Unix(0, e.stamp.ModTime))
	return nil
}

// Retract takes back what Create made.
func (s *Source) Retract(_ context.Context, rel string, stamp model.Stamp) error {
	if err := s.lock("retract", rel); err != nil {
		return err
	}
	defer s.mu.Unlock()
	e, err := s.find(rel)
	if err == nil && e.stamp != stamp {
		err = model.ErrConflict
	}
	if err != nil {
		return fail("retract", rel, err)
	}
	delete(s.entries, rel)
	return nil
}

// Hidden names nothing: Scan reports all.
func (s *Source) Hidden(context.Context, string) ([]string, error) { return nil, nil }

// Remove takes a file or an empty folder away for good.
func (s *Source) Remove(_ context.Context, rel string) error {
	if err := s.lock("remove", rel); err != nil {
		return err
	}
	defer s.mu.Unlock()
	switch below := s.below(rel); {
	case len(below) == 0:
		return fail("remove", rel, fs.ErrNotExist)
	case len(below) > 1:
		return fail("remove", rel, model.ErrNotEmpty)
	}
	delete(s.entries, rel)
	return nil
}
