package vault

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"unicode/utf8"

	"github.com/relayfs/relayfs/bridge/disk"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/vault/internal/filereplace"
	"github.com/relayfs/relayfs/bridge/vault/internal/vaultdir"
)

// Scan reports the contents of the vault, parents before children. It reads files only to handle the temp files of an
// earlier process. It returns model.ErrOffline as Folder.Find does.
func (v *Vault) Scan(ctx context.Context, found func(model.SourceEntry)) error {
	root, err := v.folder.Find(v.tree.hadEntries)
	if err != nil {
		return wrap("scan", v.folder.Path, err)
	}
	defer root.Close()
	var s scan
	for changed := true; changed; changed = s.sweep.Finish(s.root.entries("")) {
		s = scan{v: v, ctx: ctx, sweep: v.swaps.Sweep(), byID: make(map[vaultdir.ID]*node)}
		if err := s.dir(root, "", &s.root); err != nil {
			return wrap("scan", v.folder.Path, err)
		}
	}
	for e := range s.root.entries("") {
		found(e)
	}
	v.tree.replace(s.root, s.byID)
	return ctx.Err()
}

type scan struct {
	v     *Vault
	ctx   context.Context
	sweep *filereplace.Sweep
	root  node
	byID  map[vaultdir.ID]*node
}

func (s *scan) dir(dir disk.Dir, rel string, n *node) error {
	entries, err := s.v.list(dir, rel, s.sweep)
	if err != nil {
		return err
	}
	n.children = make(map[string]*node, len(entries))
	for _, e := range entries {
		if err := s.ctx.Err(); err != nil {
			return err
		}
		child := n.put(path.Base(e.Rel), &e)
		s.byID[child.id()] = child
		if e.Dir {
			if err := s.descend(dir, e.Rel, child); err != nil {
				return err
			}
		}
	}
	return nil
}

// descend scans a folder. A folder that cannot be read, or no longer exists, does not end the scan.
func (s *scan) descend(parent disk.Dir, rel string, n *node) error {
	dir, err := parent.OpenDir(path.Base(rel))
	if err == nil {
		defer dir.Close()
		err = s.dir(dir, rel, n)
	}
	if err == nil || s.ctx.Err() != nil {
		return err
	}
	if !errors.Is(err, fs.ErrNotExist) {
		s.v.log.Warn("folder cannot be read", model.LogPath, rel, model.LogErr, err)
	}
	return nil
}

// list describes the contents of an open folder, and passes temp files to the sweep.
func (v *Vault) list(dir disk.Dir, rel string, sweep *filereplace.Sweep) ([]model.SourceEntry, error) {
	names, err := dir.Names(-1)
	if err != nil {
		return nil, err
	}
	entries := make([]model.SourceEntry, 0, len(names))
	var misnamed []string
	for _, name := range names {
		if vaultdir.IsTemp(name) {
			sweep.Add(dir, rel, name)
		} else if e, ok := vaultdir.Describe(dir, rel, name); ok {
			entries = append(entries, e)
		} else if !utf8.ValidString(name) {
			misnamed = append(misnamed, path.Join(rel, name))
		}
	}
	if len(misnamed) > 0 {
		v.misnamed.Store(rel, misnamed)
	} else {
		v.misnamed.Delete(rel)
	}
	return entries, nil
}

func (v *Vault) Misnamed() (rels []string) {
	for _, names := range v.misnamed.Range {
		for _, rel := range names.([]string) {
			if _, err := os.Lstat(filepath.Join(v.folder.Path, rel)); err == nil { // the file may no longer exist
				rels = append(rels, rel)
			}
		}
	}
	slices.Sort(rels)
	return rels
}

var _ model.MisnamedReporter = (*Vault)(nil)

// Renamed reports whether the new file of a save got its name. ok is false if Scan found no evidence.
func (v *Vault) Renamed(save model.Save) (placed, ok bool) { return v.swaps.Renamed(save) }
