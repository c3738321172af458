package vault

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"unicode/utf8"

	"github.com/relayfs/relayfs/bridge/disk"
	"github.com/relayfs/relayfs/bridge/model"
)

// Scan reports everything the vault holds, parents before children, reading no
// content. Temp files that an earlier process left are moved to the trash on
// the way. model.ErrOffline if the vault is missing, or empty after it was not.
func (v *Vault) Scan(ctx context.Context, found func(model.SourceEntry)) error {
	root, id, err := v.openAnyRoot()
	if err != nil {
		return wrap("scan", v.dir, err)
	}
	defer root.Close()
	if err := v.adopt(root, id); err != nil {
		return wrap("scan", v.dir, err)
	}
	s := scan{v: v, ctx: ctx}
	if err := s.folder(root, ""); err != nil {
		return wrap("scan", v.dir, err)
	}
	if sweep := (&sweep{v}); sweep.tagged(append(s.left, sweep.swapDir()...), s.entries) {
		s = scan{v: v, ctx: ctx}
		if err := s.folder(root, ""); err != nil {
			return wrap("scan", v.dir, err)
		}
	}
	v.mu.Lock()
	v.known = s.tree
	v.mu.Unlock()
	for _, e := range s.entries {
		found(e)
	}
	return ctx.Err()
}

// adopt takes root for the vault, unless it is empty and the vault was not: that
// is what the mountpoint of a disk looks like when the disk is away.
func (v *Vault) adopt(root disk.Dir, id fileID) error {
	empty, err := isEmpty(root)
	if err != nil {
		return fmt.Errorf("%w: %v", model.ErrOffline, err)
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.away = empty && !v.known.empty()
	if v.away {
		return fmt.Errorf("%w: the directory is empty", model.ErrOffline)
	}
	v.root = id
	return nil
}

func isEmpty(dir disk.Dir) (bool, error) {
	// A folder has a link from each folder in it, on most disks: that is quicker
	// than a listing, and every look at the vault asks.
	if st, err := dir.Info(); err == nil && st.Links > 2 {
		return false, nil
	}
	names, err := dir.Names(1)
	return len(names) == 0, err
}

// scan is one walk over the whole vault.
type scan struct {
	v       *Vault
	ctx     context.Context
	tree    tree
	entries []model.SourceEntry // parents before children
	left    []leftover
}

func (s *scan) folder(dir disk.Dir, rel string) error {
	entries, left, err := s.v.list(dir, rel)
	if err != nil {
		return err
	}
	s.left = append(s.left, left...)
	for _, e := range entries {
		if err := s.ctx.Err(); err != nil {
			return err
		}
		s.tree.put(e)
		s.entries = append(s.entries, e)
		if e.Dir {
			if err := s.descend(dir, e.Rel); err != nil {
				return err
			}
		}
	}
	return nil
}

// descend scans a folder. One that cannot be read, or is gone by now, does not
// end the scan.
func (s *scan) descend(parent disk.Dir, rel string) error {
	dir, err := parent.OpenDir(path.Base(rel))
	if err == nil {
		defer dir.Close()
		err = s.folder(dir, rel)
	}
	if err == nil || s.ctx.Err() != nil {
		return err
	}
	if !errors.Is(err, fs.ErrNotExist) {
		s.v.log.Warn("folder cannot be read", model.LogPath, rel, model.LogErr, err)
	}
	return nil
}

// list describes what an open folder holds, in the order of the disk, and names what an
// earlier process has left there.
func (v *Vault) list(dir disk.Dir, rel string) (entries []model.SourceEntry, left []leftover, err error) {
	names, err := dir.Names(-1)
	if err != nil {
		return nil, nil, err
	}
	entries = make([]model.SourceEntry, 0, len(names))
	for _, name := range names {
		if isTemp(name) {
			if l, ok := (&sweep{v}).found(dir, name); ok {
				l.dir = rel
				left = append(left, l)
			}
			continue
		}
		if e, ok := v.describe(dir, rel, name); ok {
			entries = append(entries, e)
		}
	}
	return entries, left, nil
}

// describe stats one name of an open folder.
func (v *Vault) describe(dir disk.Dir, rel, name string) (e model.SourceEntry, ok bool) {
	st, err := dir.Stat(name)
	if err != nil {
		return e, false
	}
	return entryIn(dir, join(rel, name), name, &st)
}

// entryIn is entryOf for what is shown, be it a symlink, of an open folder.
func entryIn(dir disk.Dir, rel, name string, st *disk.Info) (e model.SourceEntry, ok bool) {
	e = entryOf(rel, st)
	if !isKind(st, fs.ModeSymlink) {
		return e, served(st, name)
	}
	if !utf8.ValidString(name) || isTemp(name) {
		return e, false
	}
	e.Link, ok = readLink(dir, name, rel)
	return e, ok
}

// Unplaced says whether a crash has kept the file of that stamp from its name.
func (v *Vault) Unplaced(post model.Stamp) bool { return v.unplaced.has(post) }
