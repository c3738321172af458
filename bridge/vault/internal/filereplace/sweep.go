package filereplace

import (
	"cmp"
	"errors"
	"iter"
	"slices"

	"github.com/relayfs/relayfs/bridge/disk"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/vault/internal/vaultdir"
)

// Sweep repairs notes with the temp files of an earlier process, and then removes these files or moves them to the
// trash.
//
// A swap renames a new file before its bytes are on the disk, so a power cut can leave a note without its bytes. In
// that case the pre-image still exists, because it is removed last. The tags in the names of temp files identify the
// note and its new content, so that the sweep finds both and restores the pre-image. (The new content is in the log, if
// the log was synced.) After a kill the bytes may not be on the disk either, so a note is synced before its pre-images
// are removed.
type Sweep struct {
	s         *Swapper
	tempFiles []tempFile
}

type tempFile struct {
	rel  string // path of the file's folder
	swap bool   // the file is in the swap folder
	name string
	tag  tag
}

func (s *Swapper) Sweep() *Sweep { return &Sweep{s: s} }

// Add moves a temp file without a tag from the folder at rel to the trash. It only records a file with a tag, for
// Finish.
func (w *Sweep) Add(dir disk.Dir, rel, name string) {
	w.found(dir, tempFile{rel: rel, name: name})
}

func (w *Sweep) found(dir disk.Dir, l tempFile) {
	if w.s.o.ReadOnly || w.s.IsOwn(l.name) {
		return
	}
	var tagged bool
	if l.tag, tagged = parseTag(l.name); tagged {
		w.tempFiles = append(w.tempFiles, l)
		return
	}
	if err := w.toTrash(dir, l.name); err != nil {
		w.s.o.Log.Warn("left-over temp file stays", model.LogPath, l.name, model.LogErr, err)
	}
}

// toTrash moves a temp file with unknown content to the trash, for the user.
func (w *Sweep) toTrash(dir disk.Dir, name string) error {
	trash, err := w.s.o.Vault.OpenTrash()
	if err != nil {
		return err
	}
	defer trash.Close()
	kept, err := MoveAside(dir, name, trash, "relayfs recovered.md")
	if err == nil {
		w.s.o.Syncs.SyncBestEffort(trash)
		w.s.o.Log.Info("left-over temp file moved to the trash", model.LogPath, vaultdir.Trash+"/"+kept)
	}
	return err
}

// Finish handles the tagged temp files. entries has the contents of the vault. Finish reports whether it has restored a
// pre-image.
func (w *Sweep) Finish(entries iter.Seq[model.SourceEntry]) (changed bool) {
	w.swapDir()
	if len(w.tempFiles) == 0 {
		return false
	}
	notes := make(map[uint64]string)  // paths of notes, by the hash of the path
	saved := make(map[uint64]bool)    // by the hash of the path: whether the note has the time of a new file
	moved := make(map[int64][]string) // paths of other files, by modification time
	left := make(map[uint64][]tempFile)
	for _, l := range w.tempFiles {
		left[l.tag.path] = append(left[l.tag.path], l)
	}
	for e := range entries {
		if e.Dir {
			continue
		}
		path, time := hashOf(e.Rel), e.Stamp.ModTime
		notes[path] = e.Rel
		if saved[path] = slices.ContainsFunc(left[path], func(l tempFile) bool { return l.tag.modTime == time }); !saved[path] {
			moved[time] = append(moved[time], e.Rel)
		}
	}
	for _, last := range []bool{false, true} { // notes that have their new files come last
		for path, left := range left {
			if saved[path] != last {
				continue
			}
			rel, lost := notes[path], false
			if !saved[path] {
				rel, lost = w.find(rel, left, moved)
			}
			put, err := w.note(rel, left, lost)
			if err != nil {
				w.s.o.Log.Warn("left-over temp files stay", model.LogPath, rel, model.LogErr, err)
			}
			changed = changed || put
		}
	}
	return changed
}

// find returns the current path of a note whose new file is not at rel. The path is rel if the file was not found
// elsewhere, or "" if nothing is there. moved has the paths of files by their modification times. lost is set if none
// of the files is the new file, and either nothing is at rel or another file has the modification time of the new file:
// a power cut may have torn that file. The time alone does not identify a file, because notes that are saved together
// may have the same time.
func (w *Sweep) find(rel string, left []tempFile, moved map[int64][]string) (now string, lost bool) {
	lost = rel == ""
	for _, l := range left {
		for _, other := range moved[l.tag.modTime] {
			if lost = true; w.isNew(other, l.tag) {
				return other, false
			}
		}
	}
	return rel, lost
}

func (w *Sweep) isNew(rel string, t tag) bool {
	at, err := w.s.o.Vault.Locate(rel)
	if err != nil {
		return false
	}
	defer at.Close()
	return t.describes(at.Dir, at.Name, &at.Info)
}

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
		if vaultdir.IsTemp(name) {
			w.found(dir, tempFile{swap: true, name: name})
		}
	}
}

// note handles the temp files of the note at rel. rel is "" if the note does not exist any more; for lost see find. put
// reports whether it has restored a pre-image.
func (w *Sweep) note(rel string, left []tempFile, lost bool) (put bool, err error) {
	// Handle the files of later saves first, so that a kill never leaves only the file of a later save. If that file
	// did not get the note's name, package note assumes that the file of an earlier save with unknown outcome did.
	slices.SortFunc(left, func(a, b tempFile) int { return cmp.Compare(b.tag.modTime, a.tag.modTime) })
	if n := len(left); rel != "" {
		left, err = w.repair(rel, left)
		if put = len(left) < n; err != nil {
			return put, err
		}
	}
	return put, errors.Join(err, w.discardAll(left, lost))
}

func (w *Sweep) in(l tempFile, fn func(disk.Dir) error) error {
	if l.swap {
		return fn(w.s.dir.dir)
	}
	dir, err := w.s.o.Vault.OpenDir(l.rel)
	if err != nil {
		return err
	}
	defer dir.Close()
	return fn(dir)
}

// repair makes a note complete and durable, and returns the temp files that it has not used. left is sorted, newest
// first. Each of several saves in a row may be torn, and so may a pre-image.
func (w *Sweep) repair(rel string, left []tempFile) ([]tempFile, error) {
	at, err := w.s.o.Vault.Locate(rel)
	if err != nil {
		return left, err
	}
	defer at.Close()
	for {
		torn := slices.IndexFunc(left, func(l tempFile) bool { return w.isTorn(&at, l) })
		if torn < 0 {
			break
		}
		if err := w.discardAll(left[:torn], false); err != nil {
			return left, err
		}
		left = left[torn:]
		if err := w.in(left[0], func(dir disk.Dir) error { return w.restorePreImage(dir, left[0].name, &at) }); err != nil {
			return left, err
		}
		left = left[1:]
		if at.Info, err = at.Dir.Stat(at.Name); err != nil {
			return left, err
		}
	}
	return left, errors.Join(at.SyncFile(), w.s.o.Syncs.Sync(at.Dir))
}

// isTorn reports whether the note is the new file of the save that left the temp file l, but lacks some of its bytes.
// The temp file is then the pre-image.
func (w *Sweep) isTorn(at *vaultdir.Entry, l tempFile) bool {
	if at.Info.Inode == l.tag.pre.inode { // the files were not exchanged, whatever the note's time is
		return false
	}
	if at.Info.ModTime != l.tag.modTime || l.tag.describes(at.Dir, at.Name, &at.Info) {
		return false
	}
	exchanged := false
	_ = w.in(l, func(dir disk.Dir) error {
		info, err := dir.Stat(l.name)
		exchanged = err == nil && (info.Inode == l.tag.pre.inode || !l.tag.made(dir, l.name, &info))
		return err
	})
	return exchanged
}

func (w *Sweep) restorePreImage(dir disk.Dir, name string, at *vaultdir.Entry) error {
	if err := dir.Exchange(name, at.Dir, at.Name); err != nil {
		return err
	}
	w.s.unrenamed.Store(newFile{at.Info.Inode, at.Info.ModTime}, true)
	w.s.o.Log.Warn("a power cut has torn a save; the note has its previous content", model.LogPath, at.Rel)
	if err := w.s.o.Syncs.Sync(at.Dir); err != nil {
		return err
	}
	return dir.Remove(name)
}

func (w *Sweep) discardAll(left []tempFile, lost bool) (err error) {
	for _, l := range left {
		err = errors.Join(err, w.in(l, func(dir disk.Dir) error { return w.discard(dir, l, lost) }))
	}
	return err
}

// discard removes a temp file whose note is complete and durable, or lost. It moves the file to the trash if it may
// have content that exists nowhere else.
func (w *Sweep) discard(dir disk.Dir, l tempFile, lost bool) error {
	info, err := dir.Stat(l.name)
	if err != nil {
		return err
	}
	switch {
	case info.Inode == l.tag.pre.inode:
		w.s.placed.Store(newFile{l.tag.pre.inode, l.tag.modTime}, true)
		if l.tag.isPreImage(&info) && !lost { // no program has written to the pre-image
			return dir.Remove(l.name)
		}
		if lost {
			w.s.o.Log.Warn("a note that was saved right before a crash is not at its path; its previous content is kept in the trash")
		} else {
			w.s.o.Log.Warn("a program saved a note right before a crash, but had opened it before an agent's save; its text is kept in the trash")
		}
	case l.tag.made(dir, l.name, &info): // the content is in the log, or its save was never acknowledged
		w.s.unrenamed.Store(newFile{info.Inode, l.tag.modTime}, true)
		return dir.Remove(l.name)
	}
	return w.toTrash(dir, l.name)
}

// newFile identifies the new file of a swap by its own inode or by the inode of the pre-image, because notes that are
// saved together may have the same modification time.
type newFile struct {
	inode   uint64
	modTime int64
}

// Renamed reports whether the new file of a save got its name. ok is false if no sweep has found evidence.
func (s *Swapper) Renamed(save model.Save) (placed, ok bool) {
	if _, found := s.unrenamed.Load(newFile{save.Post.Inode, save.Post.ModTime}); found {
		return false, true
	}
	_, placed = s.placed.Load(newFile{save.Pre.Inode, save.Post.ModTime})
	return placed, placed
}
