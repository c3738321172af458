package filereplace

import (
	"bytes"
	"context"
	"errors"
	"path"
	"slices"
	"sync"
	"time"

	"github.com/relayfs/relayfs/bridge/disk"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/vault/internal/vaultdir"
)

// A watcher watches files that have just lost their names to a save. A program that has such a file open may still
// write to it, and then assumes that it has saved the note.
//
// The watcher merges the program's change of the file into the note. If the change overlaps with later changes of the
// note, the late save becomes a conflicted copy next to the note. A lease shows whether a program has the file open for
// writing (disk.File). The watcher watches the file while a program has it open for writing, and otherwise for two
// seconds.

const (
	// grace is the time for which a file without a writer is watched. It is for a program that has found the file under
	// its name but has not opened it yet because the machine is busy.
	grace = 2 * time.Second
	// While stop waits, a file is watched for closeGrace after its last change if a program has it open or may have it
	// open. If no program has it open, it is watched for idleGrace.
	closeGrace = 500 * time.Millisecond
	idleGrace  = 150 * time.Millisecond
	// lookAgain is the first interval between checks of a file without a writer. Each further interval is twice as
	// long, because a check takes three system calls, and a program that saves again and again leaves hundreds of
	// files. lookSeldom is the interval between checks of a file that has been unchanged for grace.
	lookAgain  = 100 * time.Millisecond
	lookSeldom = 500 * time.Millisecond
	// maxFiles is the maximum number of watched files. If 1/shareFiles of the process's file descriptors is less, that
	// is the maximum. maxAncestor is the maximum number of bytes that add keeps for each file.
	maxFiles    = 128
	shareFiles  = 16
	maxAncestor = 1 << 20
	// mergeAttempts is the maximum number of attempts to merge a late save. Each failure means that the note was saved
	// in the meantime.
	mergeAttempts = 8
)

// watcher watches displaced files. Its methods are safe for concurrent use.
type watcher struct {
	s       *Swapper
	max     int // largest number of watched files
	all     sync.WaitGroup
	ending  context.Context // ends when stop is called
	end     context.CancelFunc
	merging sync.Mutex // held while a late save is merged

	mu    sync.Mutex // guards the field below
	files []*file    // watched files, oldest first
}

type file struct {
	rel     string
	open    disk.File
	last    model.Stamp // stamp of the state that was last merged into the note
	data    []byte      // bytes of that state; nil if add got more than maxAncestor
	since   time.Time   // time since which the file is in that state
	seen    vaultdir.StatSample
	pause   time.Duration // time until the next check
	dropped chan struct{} // closed if there are too many files
}

type watchMode int

const (
	asNeeded  watchMode = iota
	ending              // stop waits
	overLimit           // there are too many files, and this check is the last one
)

func newWatcher(s *Swapper) *watcher {
	w := &watcher{s: s, max: min(maxFiles, disk.MaxFiles()/shareFiles)}
	w.ending, w.end = context.WithCancel(context.Background())
	return w
}

// add watches a file that has lost the name of the note at rel. The file had the content data when it had the stamp
// last. The watcher closes the file.
func (w *watcher) add(rel string, open disk.File, last model.Stamp, data []byte) {
	f := &file{rel: rel, open: open, last: last, data: asAncestor(data), since: time.Now(), pause: vaultdir.LookEvery, dropped: make(chan struct{})}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.files = append(w.files, f); len(w.files) > w.max {
		close(w.files[0].dropped)
		w.files = w.files[1:]
	}
	w.all.Go(func() { w.watch(f) })
}

// asAncestor returns data, or nil if data has more than maxAncestor bytes.
func asAncestor(data []byte) []byte {
	if len(data) > maxAncestor {
		return nil
	}
	return data
}

// stop returns when no file is watched any more. It stops watching a file idleGrace after the file's last change if no
// program has the file open for writing, and otherwise after closeGrace. Later writes are lost and logged.
func (w *watcher) stop() {
	w.end()
	w.all.Wait()
}

func (w *watcher) watch(f *file) {
	for has := asNeeded; ; {
		if has != asNeeded {
			time.Sleep(vaultdir.LookEvery)
		} else {
			select {
			case <-time.After(f.pause):
			case <-w.ending.Done():
				has = ending
			case <-f.dropped:
				has = overLimit
			}
		}
		if !w.mergeIfSaved(f, time.Now(), has) {
			break
		}
	}
	f.open.Close() // not under mu, because Close may free the file's blocks
	w.mu.Lock()
	defer w.mu.Unlock()
	w.files = slices.DeleteFunc(w.files, func(other *file) bool { return other == f })
}

// writers reports whether a program has f open for writing. certain is false if the system cannot determine that.
func writers(f disk.File) (open, certain bool) {
	release, err := f.Lease()
	if err == nil {
		release()
		return false, true
	}
	open = errors.Is(err, disk.ErrWriters)
	return open, open
}

// mergeIfSaved merges a completed save to f into the note, and reports whether f needs another check.
func (w *watcher) mergeIfSaved(f *file, now time.Time, has watchMode) (again bool) {
	// Call writers before Info, so that Info shows everything that a finished writer has written.
	open, certain := writers(f.open)
	st, err := f.open.Info()
	stamp := vaultdir.StampOf(&st)
	f.seen.Update(stamp, err, now)
	f.pause = vaultdir.LookEvery
	if now.Sub(f.seen.Since) >= grace {
		f.pause = lookSeldom
	}
	if err != nil || stamp.SameFile(f.last) {
		quiet := now.Sub(f.since)
		if certain && !open {
			f.pause = min(max(lookAgain, quiet), grace-quiet)
		}
		return err == nil && w.mayChange(f, quiet, open, certain, has)
	}
	wait := vaultdir.QuietAge
	switch {
	case has == overLimit && stamp.Size > 0:
		wait = 0
	case has == overLimit:
		w.s.o.Log.Warn("a program was saving the note when it was replaced: its further writes are lost", model.LogPath, f.rel)
		return false
	case stamp.Size == 0:
		wait = vaultdir.MaxQuietWait // a truncated file is about to be written
	case certain && !open:
		wait = 0
	}
	if now.Sub(f.seen.Since) < wait {
		return true
	}
	theirs, stamp, err := vaultdir.ReadOpen(f.open)
	if err != nil {
		return errors.Is(err, vaultdir.ErrTorn)
	}
	w.mergeLate(f.rel, f.data, theirs)
	f.last, f.data, f.since = stamp, asAncestor(theirs), now
	return true
}

// mayChange reports whether f needs another check. quiet is the time since the last change of f.
func (w *watcher) mayChange(f *file, quiet time.Duration, open, certain bool, has watchMode) bool {
	switch {
	case has == asNeeded:
		return open || quiet < grace
	case has == ending && certain && !open:
		return quiet < idleGrace
	case has == ending && quiet < closeGrace:
		return true
	case open:
		w.s.o.Log.Warn("a program still has the replaced note open for writing: its further writes are lost", model.LogPath, f.rel)
	}
	return false
}

// mergeLate merges a late save into the note, or keeps it as a copy next to the note. theirs was computed from
// ancestor.
func (w *watcher) mergeLate(rel string, ancestor, theirs []byte) {
	w.merging.Lock()
	defer w.merging.Unlock()
	for range mergeAttempts {
		merged, err := w.mergeOnce(rel, ancestor, theirs)
		if merged {
			w.s.o.Log.Info("save to the replaced file merged into the note", model.LogPath, rel)
			return
		}
		if err != nil {
			break
		}
	}
	name, err := w.s.keepCopy(rel, theirs)
	if err != nil {
		w.s.o.Log.Error("a save made while the note was written is lost", model.LogPath, rel, model.LogErr, err)
		return
	}
	w.s.o.Log.Warn("save to the replaced file kept as a copy next to the note", model.LogPath, rel, "copy", name)
}

// mergeOnce reports whether the note has the merged text now. After an error another attempt is useless.
func (w *watcher) mergeOnce(rel string, ancestor, theirs []byte) (bool, error) {
	ours, stamp, err := w.s.o.Read(rel)
	if err != nil {
		return false, err
	}
	text, ok := merge3(ancestor, theirs, ours)
	if !ok {
		return false, model.ErrConflict
	}
	if bytes.Equal(text, ours) {
		return true, nil
	}
	err = w.s.replace(rel, model.Replacement{IfMatch: stamp, Data: text, ModTime: stamp.Next(time.Now())})
	if errors.Is(err, model.ErrConflict) {
		return false, nil
	}
	return err == nil, err
}

// replace replaces a note in the same way as a user's program, so that the vault reports the change.
func (s *Swapper) replace(rel string, r model.Replacement) error {
	sw, err := s.Stage(rel, r)
	if err != nil {
		return err
	}
	defer sw.Close()
	_, err = sw.Commit()
	return err
}

// keepCopy creates a file next to the note at rel, as a conflicted copy, and returns its name.
func (s *Swapper) keepCopy(rel string, data []byte) (string, error) {
	dir, err := s.o.Vault.OpenDir(model.Parent(rel))
	if err != nil {
		return "", err
	}
	defer dir.Close()
	t, err := s.NewFile(dir, s.TempName(), Content{Data: data, Mode: 0o644, ModTime: time.Now()})
	if err != nil {
		return "", err
	}
	defer t.Discard()
	defer s.o.Syncs.SyncBestEffort(dir)
	return MoveAside(dir, t.Name, dir, conflictName(path.Base(rel)))
}
