package vault

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"path"
	"time"

	"github.com/relayfs/relayfs/bridge/disk"
	"github.com/relayfs/relayfs/bridge/model"
)

// How Read tells that a save is over.
const (
	// settledAge is when a file counts as left alone: editors write what they
	// hold in memory, in one go, within a few milliseconds.
	settledAge = 100 * time.Millisecond
	// quiet is how long a younger file must stay the same under our eyes. It is
	// longer than the coarsest step of the kernel's file times (10 ms), within
	// which two different saves can carry the same time.
	quiet = 30 * time.Millisecond
	// lookEvery is the step of waiting; a stat costs a few microseconds.
	lookEvery = 10 * time.Millisecond
	// settleLimit bounds the wait. Beyond it a truncated file counts as emptied
	// on purpose, a missing one as removed, and one that is written all the time
	// is shown as it is.
	settleLimit = time.Second
	// vanishGrace is how long a name may be missing before the file is taken to be
	// gone: editors that move the old file away before they write the new one
	// leave it out for a few milliseconds.
	vanishGrace = 250 * time.Millisecond
)

// Read returns the bytes of a file and their stamp. It waits, at most
// settleLimit, while a save seems to be going on, so that a reader never gets
// the empty or half-written file between two steps of an editor's save. It
// looks again and again, because the stamp that Replace must be given is not in
// any event.
func (v *Vault) Read(ctx context.Context, rel string) ([]byte, model.Stamp, error) {
	start := time.Now()
	var seen sighting
	for {
		data, stamp, err := v.readOnce(rel)
		now := time.Now()
		seen.look(stamp, err, now)
		if now.Sub(start) >= settleLimit || v.settled(rel, &seen, now) {
			if errors.Is(err, errTorn) {
				err = nil // written all the time: the stamp will never match
			}
			return data, stamp, wrap("read", rel, err)
		}
		if err := sleep(ctx, lookEvery); err != nil {
			return nil, model.Stamp{}, wrap("read", rel, err)
		}
	}
}

// sighting is what a path looked like, and since when it has looked like that.
type sighting struct {
	stamp model.Stamp
	err   error
	since time.Time
}

func (s *sighting) look(stamp model.Stamp, err error, now time.Time) {
	if s.since.IsZero() || s.stamp != stamp || (s.err == nil) != (err == nil) {
		s.since = now
	}
	s.stamp, s.err = stamp, err
}

// settled says whether what was seen can be taken as somebody's finished work.
func (v *Vault) settled(rel string, seen *sighting, now time.Time) bool {
	v.mu.Lock()
	n := v.known.get(rel)
	had := n != nil && !n.dir
	own := had && n.own && n.entry.Stamp == seen.stamp
	hadText := had && n.entry.Stamp.Size > 0
	v.mu.Unlock()
	age := now.Sub(time.Unix(0, seen.stamp.ChgTime))
	unchanged := now.Sub(seen.since)
	switch {
	case errors.Is(seen.err, errTorn):
		return false
	case errors.Is(seen.err, fs.ErrNotExist):
		return !had || unchanged >= vanishGrace
	case seen.err != nil, own:
		return true
	case seen.stamp.Size == 0 && hadText:
		return age >= settleLimit
	}
	return age >= settledAge || unchanged >= quiet
}

// errTorn says that a file changed while it was read.
var errTorn = errors.New("file changes while it is read")

// readOnce reads a file as it is. If the file is changing at that moment, it
// returns what it got with errTorn, and a stamp that is out of date.
func (v *Vault) readOnce(rel string) ([]byte, model.Stamp, error) {
	if data, before, after, ok := v.readDirectly(rel); ok {
		return asRead(data, &before, &after)
	}
	p, err := v.locate(rel)
	if err != nil {
		return nil, model.Stamp{}, err
	}
	defer p.Close()
	if isKind(&p.stat, fs.ModeDir) {
		return nil, model.Stamp{}, model.ErrIsDir
	}
	data, before, after, err := p.dir.ReadFile(p.name)
	if err != nil {
		return nil, model.Stamp{}, err
	}
	return asRead(data, &before, &after)
}

// readDirectly reads what most paths lead to, a regular file, without a look at
// what is on the way; not ok if it is something else, or is not there.
func (v *Vault) readDirectly(rel string) (data []byte, before, after disk.Info, ok bool) {
	if reserved(rel) {
		return nil, before, after, false
	}
	data, root, before, after, err := v.disk.ReadBelow(v.dir, rel)
	ok = err == nil && v.isRoot(idOf(&root)) && isKind(&before, 0) && served(&before, path.Base(rel))
	return data, before, after, ok
}

// asRead judges what was read of a file that was described before and after.
func asRead(data []byte, before, after *disk.Info) ([]byte, model.Stamp, error) {
	if !isKind(before, 0) {
		return nil, model.Stamp{}, fs.ErrNotExist
	}
	stamp := stampOf(before)
	if int64(len(data)) < before.Size || stampOf(after) != stamp {
		return data, stamp, errTorn
	}
	return data, stamp, nil
}

// readAll reads a file.
func readAll(f disk.File) ([]byte, model.Stamp, error) {
	before, err := f.Info()
	if err != nil {
		return nil, model.Stamp{}, err
	}
	if !isKind(&before, 0) {
		return nil, model.Stamp{}, fs.ErrNotExist
	}
	data := make([]byte, before.Size)
	n, err := f.ReadAt(data, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, model.Stamp{}, err
	}
	after, err := f.Info()
	if err != nil {
		return nil, model.Stamp{}, err
	}
	return asRead(data[:n], &before, &after)
}
