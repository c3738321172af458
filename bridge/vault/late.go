package vault

import (
	"bytes"
	"context"
	"errors"
	"path"
	"sync"
	"time"

	"github.com/relayfs/relayfs/bridge/disk"
	"github.com/relayfs/relayfs/bridge/model"
)

// How displaced files are watched.
const (
	// lateGrace is for how long, if nobody is known to have them open. A program
	// whose open(2) has found the file under its name, and which is then kept from
	// running by a busy machine, is not to be seen until it has opened it.
	lateGrace = 2 * time.Second
	// closeGrace is for how long at the end, when somebody waits for it, after the
	// last change of a file that somebody has open, or may have; idleGrace after
	// that of one that nobody has open.
	closeGrace = 500 * time.Millisecond
	idleGrace  = 150 * time.Millisecond
	// lookAgain is the time between looks at a file that nobody had open at the last
	// one: what is written meanwhile is found a little later. Each look is three
	// system calls, and somebody who saves again and again has hundreds of files.
	lookAgain = 100 * time.Millisecond
	// lookSeldom is the step once nothing has happened for lateGrace.
	lookSeldom = 500 * time.Millisecond
	// maxLate bounds the descriptors held, with shareLate, the share of those that the
	// process may have: there are some more until the next look, which is at once then.
	// maxAncestor bounds the memory for each.
	maxLate     = 128
	shareLate   = 16
	maxAncestor = 1 << 20
	// mergeAttempts bounds how often a merge starts anew because the file was
	// saved meanwhile; then the late save is kept beside the note.
	mergeAttempts = 8
)

// lateWriters watches files that have just lost their name to a swap. A program
// that had opened one before may still save to it, and believes to have saved
// the note. Its change, the difference between what the file held and what it
// holds now, is merged into the note, and Run reports the result as a person's
// change. Where it overlaps with what the swap wrote, neither wins: the save
// becomes a conflicted copy beside the note.
//
// The kernel knows whether somebody has a file open for writing: as long as one
// is, it is watched, however long that takes.
type lateWriters struct {
	v    *Vault
	max  int           // how many files are watched
	wake chan struct{} // holds a token when there are more

	mu     sync.Mutex    // protects the following
	files  []*lateFile   // oldest first
	ending int           // how many wait for the end
	done   chan struct{} // closed when the running goroutine ends; nil when none runs
}

// lateFile is one displaced file.
type lateFile struct {
	rel   string
	file  disk.File
	last  model.Stamp // the state that is accounted for
	data  []byte      // its bytes; nil if there were too many
	since time.Time   // that state
	seen  sighting
	next  time.Time // when to look, unless somebody waits for the end
}

// patience is how long files are watched at the moment.
type patience int

const (
	asNeeded patience = iota
	ending            // somebody waits for the end
	crowded           // there are too many files: this look is the last
)

func newLateWriters(v *Vault) *lateWriters {
	return &lateWriters{v: v, max: min(maxLate, disk.MaxFiles()/shareLate), wake: make(chan struct{}, 1)}
}

// watch takes over file, which held data when its stamp was last.
func (l *lateWriters) watch(rel string, file disk.File, last model.Stamp, data []byte) {
	if len(data) > maxAncestor {
		data = nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.files = append(l.files, &lateFile{rel: rel, file: file, last: last, data: data, since: time.Now()})
	if len(l.files) > l.max {
		select {
		case l.wake <- struct{}{}:
		default:
		}
	}
	if l.done == nil {
		l.done = make(chan struct{})
		go l.run(l.done)
	}
}

// end returns when nothing is watched any more, which it is not for much longer.
func (l *lateWriters) end() {
	l.mu.Lock()
	done := l.done
	l.ending++
	l.mu.Unlock()
	if done != nil {
		<-done
	}
	l.mu.Lock()
	l.ending--
	l.mu.Unlock()
}

// run looks at the files until none of them needs another look.
func (l *lateWriters) run(done chan struct{}) {
	defer close(done)
	for {
		select {
		case <-time.After(l.step()):
		case <-l.wake:
		}
		l.mu.Lock()
		files, has := l.files, asNeeded
		if l.ending > 0 {
			has = ending
		}
		l.mu.Unlock()
		now := time.Now()
		keep := make(map[*lateFile]bool)
		for i, f := range files {
			switch {
			case i < len(files)-l.max:
				keep[f] = l.v.lookLate(f, now, crowded)
			case has == asNeeded && now.Before(f.next):
				keep[f] = true
			default:
				keep[f] = l.v.lookLate(f, now, has)
			}
		}
		if l.drop(files, keep) {
			return
		}
	}
}

// step is how long to wait before the next look.
func (l *lateWriters) step() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, f := range l.files {
		if l.ending > 0 || f.seen.since.IsZero() || time.Since(f.seen.since) < lateGrace {
			return lookEvery
		}
	}
	return lookSeldom
}

// drop forgets the files that need no more looks; files added since stay.
func (l *lateWriters) drop(looked []*lateFile, keep map[*lateFile]bool) (last bool) {
	for _, f := range looked {
		if !keep[f] {
			f.file.Close() // which frees its blocks: not with mu held
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	rest := make([]*lateFile, 0, len(l.files))
	for i, f := range l.files {
		if i >= len(looked) || keep[f] {
			rest = append(rest, f)
		}
	}
	l.files = rest
	if len(rest) > 0 {
		return false
	}
	l.done = nil
	return true
}

// writers says whether a program has f open for writing; known is false where the
// kernel does not tell.
func (f *lateFile) writers() (open, known bool) {
	release, err := f.file.Lease()
	if err == nil {
		release()
		return false, true
	}
	return errors.Is(err, disk.ErrWriters), errors.Is(err, disk.ErrWriters)
}

// lookLate merges what was saved to f, once the save is over, and says whether
// to look again.
func (v *Vault) lookLate(f *lateFile, now time.Time, has patience) (again bool) {
	// Asked before the look, so that what was written until then shows in it.
	open, known := f.writers()
	st, err := f.file.Info()
	stamp := stampOf(&st)
	f.seen.look(stamp, err, now)
	if err != nil || stamp.SameFile(f.last) {
		if known && !open {
			f.next = now.Add(lookAgain)
		}
		return err == nil && v.mayChange(f, now.Sub(f.since), open, known, has)
	}
	wait := settledAge
	switch {
	case has == crowded && stamp.Size > 0:
		wait = 0
	case has == crowded:
		v.log.Warn("a program was in the middle of a save when the note was replaced: what it writes from now on is lost", model.LogPath, f.rel)
		return false
	case stamp.Size == 0:
		wait = settleLimit // truncated, about to be written
	case known && !open:
		wait = 0
	}
	if now.Sub(f.seen.since) < wait {
		return true
	}
	theirs, stamp, err := readAll(f.file)
	if err != nil {
		return errors.Is(err, errTorn)
	}
	v.mergeBack(f.rel, f.data, theirs)
	f.last, f.data, f.since = stamp, theirs, now
	return true
}

// mayChange says whether f, in which nothing has changed for a while, is to be
// looked at again.
func (v *Vault) mayChange(f *lateFile, quiet time.Duration, open, known bool, has patience) bool {
	switch {
	case has == asNeeded:
		return open || quiet < lateGrace
	case has == ending && known && !open:
		return quiet < idleGrace
	case has == ending && quiet < closeGrace:
		return true
	case open:
		v.log.Warn("a program has had the note open for writing since before it was replaced: what it writes from now on is lost", model.LogPath, f.rel)
	}
	return false
}

// mergeBack brings a save that went to a displaced file into the note: theirs
// was made from ancestor, while the note went another way.
func (v *Vault) mergeBack(rel string, ancestor, theirs []byte) {
	for range mergeAttempts {
		merged, err := v.mergeOnce(rel, ancestor, theirs)
		if merged {
			v.log.Info("late save merged into the note", model.LogPath, rel)
			return
		}
		if err != nil {
			break
		}
	}
	name, err := v.keepCopy(rel, theirs)
	if err != nil {
		v.log.Error("a save made while the note was written is lost", model.LogPath, rel, model.LogErr, err)
		return
	}
	v.log.Warn("late save kept beside the note", model.LogPath, rel, logCopy, name)
}

// mergeOnce says whether the note holds the merged text now. An error means
// that another attempt is of no use.
func (v *Vault) mergeOnce(rel string, ancestor, theirs []byte) (bool, error) {
	ours, stamp, err := v.Read(context.Background(), rel)
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
	err = v.exchange(rel, model.Replacement{Expect: stamp, Data: text, ModTime: time.Now()})
	if errors.Is(err, model.ErrConflict) {
		return false, nil
	}
	return err == nil, err
}

// keepCopy makes theirs a file beside rel and returns its name.
func (v *Vault) keepCopy(rel string, theirs []byte) (name string, err error) {
	dir, err := v.openFolder(parent(rel))
	if err != nil {
		return "", err
	}
	defer dir.Close()
	t, err := newFile(dir, v.tempName(), content{data: theirs, mode: 0o644, modTime: time.Now()})
	if err != nil {
		return "", err
	}
	defer t.discard()
	defer v.trySyncDir(dir)
	return moveAside(dir, t.name, dir, conflictName(path.Base(rel), time.Now()))
}
