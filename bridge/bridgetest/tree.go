package bridgetest

import (
	"cmp"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/relayfs/relayfs/bridge/model"
)

type tree struct {
	entries map[string]*entry
	inodes  uint64 // number of the newest inode
	changes uint64 // number of changes; makes the stamps of all states distinct
}

type entry struct {
	dir   bool
	mode  fs.FileMode
	data  []byte
	stamp model.Stamp
}

func (e *entry) describe(rel string) model.SourceEntry {
	return model.SourceEntry{Rel: rel, Dir: e.dir, Mode: e.mode, Stamp: e.stamp}
}

func (t *tree) find(rel string) (*entry, error) {
	if e := t.entries[rel]; e != nil {
		return e, nil
	}
	return nil, fs.ErrNotExist
}

func (t *tree) add(rel string, e *entry) error {
	if t.entries[rel] != nil {
		return fs.ErrExist
	}
	if err := t.wantFolder(dirOf(rel)); err != nil {
		return err
	}
	if t.entries == nil {
		t.entries = make(map[string]*entry)
	}
	if e.stamp.Inode == 0 {
		t.stamp(e, time.Now())
	}
	t.entries[rel] = e
	return nil
}

func (t *tree) stamp(e *entry, modTime time.Time) {
	t.inodes++
	e.stamp.Device, e.stamp.Inode = 1, t.inodes
	t.touch(e, modTime)
}

func (t *tree) touch(e *entry, modTime time.Time) {
	t.changes++
	e.stamp.Size, e.stamp.ModTime, e.stamp.CTime = int64(len(e.data)), modTime.UnixNano(), int64(t.changes)
}

func (t *tree) wantFolder(rel string) error {
	if rel == "" {
		return nil
	}
	e, err := t.find(rel)
	if err == nil && !e.dir {
		err = model.ErrNotDir
	}
	return err
}

// addFolders adds rel and its parents if they are missing, and returns the new folders.
func (t *tree) addFolders(rel string) (added []string, err error) {
	if rel == "" || t.wantFolder(rel) == nil {
		return nil, nil
	}
	if added, err = t.addFolders(dirOf(rel)); err != nil {
		return added, err
	}
	return append(added, rel), t.add(rel, &entry{dir: true, mode: 0o755})
}

func dirOf(rel string) string { return strings.TrimSuffix(path.Dir(rel), ".") }

// below returns rel and everything in it, parents first.
func (t *tree) below(rel string) []string {
	var list []string
	for p := range t.entries {
		if rel == "" || p == rel || strings.HasPrefix(p, rel+"/") {
			list = append(list, p)
		}
	}
	slices.SortFunc(list, func(a, b string) int {
		return cmp.Or(strings.Count(a, "/")-strings.Count(b, "/"), strings.Compare(a, b))
	})
	return list
}

func (t *tree) rename(oldRel, newRel string, replace bool) error {
	e, err := t.find(oldRel)
	if err != nil {
		return err
	}
	if err := t.wantFolder(dirOf(newRel)); err != nil {
		return err
	}
	if strings.HasPrefix(newRel, oldRel+"/") {
		return fs.ErrInvalid // as rename(2) does
	}
	switch old := t.entries[newRel]; {
	case old == nil:
	case !replace || e.dir:
		return fs.ErrExist
	case old.dir:
		return model.ErrIsDir
	}
	for _, p := range t.below(oldRel) {
		moved := t.entries[p]
		delete(t.entries, p)
		t.entries[newRel+p[len(oldRel):]] = moved
	}
	t.touch(e, time.Unix(0, e.stamp.ModTime))
	return nil
}
