package vault

import (
	"slices"
	"strings"
	"sync"

	"github.com/relayfs/relayfs/bridge/disk"
	"github.com/relayfs/relayfs/bridge/model"
)

// sweep deals with the temp files that an earlier process has left.
type sweep struct{ v *Vault }

// found deals with a temp file, unless it belongs to a note.
func (s *sweep) found(dir disk.Dir, name string) (l leftover, ok bool) {
	if !s.isLeft(name) {
		return l, false
	}
	t, ok := parseTag(name)
	if !ok {
		s.untagged(dir, name)
	}
	return leftover{name: name, tag: t}, ok
}

// isLeft says whether a temp file is an earlier process's, and to be dealt with.
func (s *sweep) isLeft(name string) bool {
	return !s.v.o.ReadOnly && !strings.HasPrefix(name, s.v.tempPrefix)
}

// swapDir deals with what an earlier process left in the swap folder, and returns what
// belongs to notes.
func (s *sweep) swapDir() (left []leftover) {
	if s.v.swaps.dir == nil || s.v.o.ReadOnly {
		return nil
	}
	names, err := s.v.swaps.dir.Names(-1)
	if err != nil {
		s.v.log.Warn("left-over temp files stay", model.LogErr, err)
		return nil
	}
	for _, name := range names {
		if !isTemp(name) {
			continue
		}
		if l, ok := s.found(s.v.swaps.dir, name); ok {
			l.swap = true
			left = append(left, l)
		}
	}
	return left
}

// untagged moves a temp file of which nobody knows what it is for to the trash, unless it is
// what a swap has displaced: a person may need it.
func (s *sweep) untagged(dir disk.Dir, name string) {
	if st, err := dir.Stat(name); err == nil && isDisplaced(name, &st) {
		_ = dir.Remove(name) // if it fails, the next start tries again
		return
	}
	if err := s.toRecovered(dir, name); err != nil {
		s.v.log.Warn("left-over temp file stays", model.LogPath, name, model.LogErr, err)
	}
}

func (s *sweep) toRecovered(dir disk.Dir, name string) error {
	trash, err := s.v.openTrash()
	if err != nil {
		return err
	}
	defer trash.Close()
	kept, err := moveAside(dir, name, trash, "relayfs recovered.md")
	if err == nil {
		s.v.log.Info("left-over temp file moved to the trash", model.LogPath, trashDir+"/"+kept)
	}
	return err
}

// stamps are the states of files that were found.
type stamps struct {
	mu   sync.Mutex // protects list
	list []model.Stamp
}

func (s *stamps) add(st *disk.Info) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list = append(s.list, stampOf(st))
}

func (s *stamps) has(stamp model.Stamp) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.ContainsFunc(s.list, stamp.SameFile)
}
