package vault

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path"
	"sync"
	"time"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/vault/internal/fsat"
)

// How displaced files are watched.
const (
	// lateGrace is for how long, while somebody may have them open: programs write
	// what they hold in memory within milliseconds of opening the file; a loaded
	// machine may take a hundred times that.
	lateGrace = 500 * time.Millisecond
	// openGrace is for how long at least: an open(2) that found the file under its
	// name comes to its end within microseconds, unless its thread is kept from running
	// in between, which on a busy machine takes some time slices.
	openGrace = 150 * time.Millisecond
	// maxLate bounds the descriptors held, maxAncestor the memory for each.
	maxLate     = 256
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
type lateWriters struct {
	v *Vault

	mu    sync.Mutex // protects the following
	files []*lateFile
	done  chan struct{} // closed when the running goroutine ends; nil when none runs
}

// lateFile is one displaced file.
type lateFile struct {
	rel   string
	file  *os.File
	last  bridge.Stamp // the state that is accounted for
	data  []byte       // its bytes; nil if there were too many
	until time.Time
	seen  sighting
}

// watch takes over file, which held data when its stamp was last.
func (l *lateWriters) watch(rel string, file *os.File, last bridge.Stamp, data []byte) {
	if len(data) > maxAncestor {
		data = nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.files = append(l.files, &lateFile{rel: rel, file: file, last: last, data: data, until: time.Now().Add(lateGrace)})
	if len(l.files) > maxLate {
		l.files[0].until = time.Time{}
	}
	if l.done == nil {
		l.done = make(chan struct{})
		go l.run()
	}
}

// wait returns when nothing is watched any more.
func (l *lateWriters) wait() {
	l.mu.Lock()
	done := l.done
	l.mu.Unlock()
	if done != nil {
		<-done
	}
}

// run looks at the files until the grace of the last one is over.
func (l *lateWriters) run() {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for now := range tick.C {
		l.mu.Lock()
		files := l.files
		l.mu.Unlock()
		keep := make(map[*lateFile]bool)
		for _, f := range files {
			keep[f] = l.v.lookLate(f, now)
		}
		if l.drop(files, keep) {
			return
		}
	}
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
	close(l.done)
	l.done = nil
	return true
}

// lookLate merges what was saved to f, once the save is over, and says whether
// to look again.
func (v *Vault) lookLate(f *lateFile, now time.Time) (again bool) {
	// Asked before the look, so that what was written until then shows in it.
	closed := !f.seen.since.IsZero() && now.Sub(f.seen.since) >= openGrace && fsat.NoWriters(f.file)
	st, err := fsat.Fstat(f.file)
	stamp := stampOf(&st)
	f.seen.look(stamp, err, now)
	if err != nil || sameContent(stamp, f.last) {
		return err == nil && now.Before(f.until) && !(closed && st.Links == 0)
	}
	wait := settledAge
	if stamp.Size == 0 {
		wait = settleLimit // truncated, about to be written
	}
	if now.Sub(f.seen.since) < wait {
		return true
	}
	if _, err := f.file.Seek(0, 0); err != nil {
		return false
	}
	theirs, stamp, err := readAll(f.file)
	if err != nil {
		return errors.Is(err, errTorn)
	}
	v.mergeBack(f.rel, f.data, theirs)
	f.last, f.data, f.until = stamp, theirs, now.Add(lateGrace)
	return true
}

// mergeBack brings a save that went to a displaced file into the note: theirs
// was made from ancestor, while the note went another way.
func (v *Vault) mergeBack(rel string, ancestor, theirs []byte) {
	for range mergeAttempts {
		merged, err := v.mergeOnce(rel, ancestor, theirs)
		if merged {
			v.log.Info("late save merged into the note", bridge.LogPath, rel)
			return
		}
		if err != nil {
			break
		}
	}
	name, err := v.keepCopy(rel, theirs)
	if err != nil {
		v.log.Error("a save made while the note was written is lost", bridge.LogPath, rel, bridge.LogErr, err)
		return
	}
	v.log.Warn("late save kept beside the note", bridge.LogPath, rel, logCopy, name)
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
		return false, bridge.ErrConflict
	}
	if bytes.Equal(text, ours) {
		return true, nil
	}
	p, err := v.locate(rel)
	if err != nil {
		return false, err
	}
	defer p.Close()
	_, err = v.exchange(&p, stamp, text, time.Now())
	if errors.Is(err, bridge.ErrConflict) {
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
	t, err := newTemp(dir, v.tempName(), theirs, 0o644, nil, time.Now())
	if err != nil {
		return "", err
	}
	defer t.discard()
	defer v.syncDir(dir)
	return moveAside(dir, t.name, dir, conflictName(path.Base(rel), time.Now()))
}
