package vault

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/vault/internal/fsat"
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
	s := scan{v: v, ctx: ctx, found: found}
	if err := s.folder(root, ""); err != nil {
		return wrap("scan", v.dir, err)
	}
	v.sweepSpares()
	v.mu.Lock()
	v.known = s.tree
	v.mu.Unlock()
	return nil
}

// adopt takes root for the vault, unless it is empty and the vault was not: that
// is what the mountpoint of a disk looks like when the disk is away.
func (v *Vault) adopt(root *os.File, id fileID) error {
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

func isEmpty(dir *os.File) (bool, error) {
	// A folder has a link from each folder in it, on most disks: that is quicker
	// than a listing, and every look at the vault asks.
	if st, err := fsat.Fstat(dir); err == nil && st.Links > 2 {
		return false, nil
	}
	names, err := dir.Readdirnames(1)
	if len(names) > 0 {
		_, err := dir.Seek(0, 0)
		return false, err
	}
	if errors.Is(err, io.EOF) {
		return true, nil
	}
	return true, err
}

// scan is one walk over the whole vault.
type scan struct {
	v     *Vault
	ctx   context.Context
	found func(model.SourceEntry)
	tree  tree
}

func (s *scan) folder(dir *os.File, rel string) error {
	entries, err := s.v.list(dir, rel)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := s.ctx.Err(); err != nil {
			return err
		}
		s.tree.put(e)
		s.found(e)
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
func (s *scan) descend(parent *os.File, rel string) error {
	dir, err := fsat.OpenDir(parent, path.Base(rel))
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

// list describes what an open folder holds, in the order of the disk.
func (v *Vault) list(dir *os.File, rel string) ([]model.SourceEntry, error) {
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	entries := make([]model.SourceEntry, 0, len(names))
	for _, name := range names {
		if isTemp(name) {
			v.sweep(dir, name)
			continue
		}
		if e, ok := v.describe(dir, rel, name); ok {
			entries = append(entries, e)
		}
	}
	return entries, nil
}

// describe stats one name of an open folder.
func (v *Vault) describe(dir *os.File, rel, name string) (e model.SourceEntry, ok bool) {
	st, err := fsat.Stat(dir, name)
	if err != nil {
		return e, false
	}
	return entryIn(dir, join(rel, name), name, &st)
}

// entryIn is entryOf for what is shown, be it a symlink, of an open folder.
func entryIn(dir *os.File, rel, name string, st *fsat.Info) (e model.SourceEntry, ok bool) {
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

// stamps are the states of files that were found.
type stamps struct {
	mu   sync.Mutex // protects list
	list []model.Stamp
}

func (s *stamps) add(st *fsat.Info) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list = append(s.list, stampOf(st))
}

func (s *stamps) has(stamp model.Stamp) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.ContainsFunc(s.list, stamp.SameFile)
}

// Unplaced says whether a crash has kept the file of that stamp from its name.
func (v *Vault) Unplaced(post model.Stamp) bool { return v.unplaced.has(post) }

// sweep moves a temp file that this process did not make to the trash: a vault
// has one owner at a time. It is not deleted: if the process that left it was killed between
// the two steps of a swap, it holds a person's save that nobody else has.
func (v *Vault) sweep(dir *os.File, name string) {
	if v.o.ReadOnly || strings.HasPrefix(name, v.tempPrefix) {
		return
	}
	st, err := fsat.Stat(dir, name)
	if err == nil && isDisplaced(name, &st) {
		_ = fsat.Remove(dir, name) // if it fails, the next start tries again
		return
	}
	if err == nil {
		v.unplaced.add(&st)
	}
	trash, err := v.openTrash()
	if err != nil {
		v.log.Warn("left-over temp file stays", model.LogPath, name, model.LogErr, err)
		return
	}
	defer trash.Close()
	kept, err := moveAside(dir, name, trash, "relayfs recovered.md")
	if err != nil {
		v.log.Warn("left-over temp file stays", model.LogPath, name, model.LogErr, err)
		return
	}
	v.log.Info("left-over temp file moved to the trash", model.LogPath, trashDir+"/"+kept)
}
