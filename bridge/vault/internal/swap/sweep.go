package swap

import (
	"github.com/relayfs/relayfs/bridge/disk"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/vault/internal/folder"
)

// Sweep deals with the temp files that an earlier process has left.
//
// A swap gives a new file its name before its bytes are on the disk, so a power cut can
// leave a note whose bytes are missing. Then the pre-image is there, since it is removed
// last. The names of temp files tell for which note a file is and what it was to hold, so
// that the two are found and the pre-image is put back. (What the new file held is in the
// log, if that was synced.)
type Sweep struct {
	s    *Swapper
	left []leftover
}

// leftover is a temp file with a tag.
type leftover struct {
	rel  string // of its folder
	swap bool   // it is in the swap folder
	name string
	tag  tag
}

// Sweep begins a sweep of the vault.
func (s *Swapper) Sweep() *Sweep { return &Sweep{s: s} }

// Found deals with a temp file in the folder at rel. One that belongs to a note is left to
// Finish.
func (w *Sweep) Found(dir disk.Dir, rel, name string) {
	w.found(dir, leftover{rel: rel, name: name})
}

func (w *Sweep) found(dir disk.Dir, l leftover) {
	if w.s.o.ReadOnly || w.s.IsOwn(l.name) {
		return
	}
	var tagged bool
	if l.tag, tagged = parseTag(l.name); tagged {
		w.left = append(w.left, l)
		return
	}
	if err := w.toTrash(dir, l.name); err != nil {
		w.s.o.Log.Warn("left-over temp file stays", model.LogPath, l.name, model.LogErr, err)
	}
}

// toTrash moves a temp file to the trash if nobody can tell what is in it: a person may
// need it.
func (w *Sweep) toTrash(dir disk.Dir, name string) error {
	trash, err := w.s.o.Vault.OpenTrash()
	if err != nil {
		return err
	}
	defer trash.Close()
	kept, err := MoveAside(dir, name, trash, "relayfs recovered.md")
	if err == nil {
		w.s.o.Log.Info("left-over temp file moved to the trash", model.LogPath, folder.Trash+"/"+kept)
	}
	return err
}

// Finish deals with the temp files that belong to notes, which are among entries. It says
// whether it has put something back.
func (w *Sweep) Finish(entries []model.SourceEntry) (changed bool) {
	w.swapDir()
	if len(w.left) == 0 {
		return false
	}
	byHash := make(map[uint64]string)
	for _, e := range entries {
		if !e.Dir {
			byHash[hashOf(e.Rel)] = e.Rel
		}
	}
	for _, l := range w.left {
		rel, found := byHash[l.tag.path]
		put, err := w.one(l, rel, found)
		if err != nil {
			w.s.o.Log.Warn("left-over temp file stays", model.LogPath, l.name, model.LogErr, err)
		}
		changed = changed || put
	}
	return changed
}

// swapDir finds what is in the swap folder.
func (w *Sweep) swapDir() {
	dir := w.s.dir.dir
	if dir == nil {
		return
	}
	names, err := dir.Names(-1)
	if err != nil {
		w.s.o.Log.Warn("left-over temp files stay", model.LogErr, err)
		return
	}
	for _, name := range names {
		if folder.IsTemp(name) {
			w.found(dir, leftover{swap: true, name: name})
		}
	}
}

// one deals with the temp file of the note at rel, if that was found.
func (w *Sweep) one(l leftover, rel string, found bool) (put bool, err error) {
	dir := w.s.dir.dir
	if !l.swap {
		if dir, err = w.s.o.Vault.OpenDir(l.rel); err != nil {
			return false, err
		}
		defer dir.Close()
	}
	if found {
		at, err := w.s.o.Vault.Locate(rel)
		if err != nil {
			return false, err
		}
		defer at.Close()
		if torn := at.Info.ModTime == l.tag.modTime && !l.tag.describes(at.Dir, at.Name, &at.Info); torn {
			return true, w.putBack(dir, l.name, &at)
		}
	}
	return false, w.dispose(dir, l)
}

// putBack gives the name of a torn note to its pre-image.
func (w *Sweep) putBack(dir disk.Dir, name string, at *folder.Place) error {
	if err := dir.Exchange(name, at.Dir, at.Name); err != nil {
		return err
	}
	w.s.o.Log.Warn("a power cut has torn a save; the note is what it was before", model.LogPath, at.Rel)
	if err := w.s.o.Syncs.Sync(at.Dir); err != nil {
		return err
	}
	return dir.Remove(name)
}

// dispose deals with a temp file whose note is whole.
func (w *Sweep) dispose(dir disk.Dir, l leftover) error {
	info, err := dir.Stat(l.name)
	if err != nil {
		return err
	}
	switch {
	case l.tag.isPreImage(&info):
		return dir.Remove(l.name)
	case l.tag.describes(dir, l.name, &info): // it never got its name: the log has it, or nobody was told that it is saved
		post := folder.StampOf(&info)
		post.ChgTime = 0
		w.s.unplaced.Store(post, true)
		return dir.Remove(l.name)
	}
	return w.toTrash(dir, l.name)
}

// Unplaced says whether a sweep has found the file of that stamp, which never got its name.
func (s *Swapper) Unplaced(post model.Stamp) bool {
	post.ChgTime = 0
	_, found := s.unplaced.Load(post)
	return found
}
