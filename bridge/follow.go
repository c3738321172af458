package bridge

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"sync"
)

// derived is something computed from the text of every note: the link index,
// the list of suggestions.
type derived interface {
	// add announces a name; a note's text follows with set.
	add(p Path)
	// set takes a note's new text.
	set(ctx context.Context, p Path, v *Version) error
	// remove forgets p and everything below it; rename moves them.
	remove(p Path)
	rename(oldPath, newPath Path)
}

// followed is the workspace whose notes an index follows.
type followed interface {
	// Follow calls fn with every change from now on.
	Follow(fn func(Event))
	// EachName calls fn for every name of the tree.
	EachName(ctx context.Context, fn func(Path, Kind)) error
	// Read opens a note, and does not wait for one that has yet to be fetched: an event
	// tells when it is there.
	Read(ctx context.Context, p Path) (*Version, error)
	// LeadsToFolder says whether the symbolic link at p leads to a folder.
	LeadsToFolder(p Path) bool
}

// follower keeps a derived thing current. It is built when it is first asked
// for, which reads every note; from then on events mark the notes that changed,
// and only those are read when it is asked for again.
type follower struct {
	from followed
	log  *slog.Logger
	d    derived

	reading chan struct{} // has room for one reader of notes at a time

	mu        sync.Mutex // protects the following
	following bool
	stale     map[Path]bool
}

// newFollower keeps d current with the notes of from.
func newFollower(from followed, log *slog.Logger, d derived) *follower {
	return &follower{from: from, log: log, d: d, reading: make(chan struct{}, 1)}
}

// current brings the derived thing up to date.
func (f *follower) current(ctx context.Context) error {
	select {
	case f.reading <- struct{}{}:
		defer func() { <-f.reading }()
	case <-ctx.Done():
		return ctx.Err()
	}
	if err := f.start(ctx); err != nil {
		return err
	}
	f.mu.Lock()
	stale := f.stale
	f.stale = make(map[Path]bool)
	f.mu.Unlock()
	report, total := ProgressOf(ctx), len(stale)
	done := 0
	for p := range stale {
		report(done, total)
		done++
		if ctx.Err() != nil {
			break
		}
		if err := f.read(ctx, p); err != nil {
			f.log.Debug("note not read for the indexes", LogPath, string(p), LogErr, err)
			continue // one unreadable note does not hide the others
		}
		delete(stale, p)
	}
	f.mark(stale) // what was not read is tried again
	return ctx.Err()
}

// pending is how many notes are yet to be read, as far as is known without
// reading any.
func (f *follower) pending() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.stale)
}

// start subscribes to events and marks every note, the first time.
func (f *follower) start(ctx context.Context) error {
	f.mu.Lock()
	started := f.following
	f.following = true
	f.mu.Unlock()
	if started {
		return nil
	}
	f.from.Follow(f.follow)
	return f.from.EachName(ctx, f.announce)
}

func (f *follower) read(ctx context.Context, p Path) error {
	v, err := f.from.Read(ctx, p)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, ErrNotNote):
		f.d.remove(p)
		return nil
	case err != nil:
		return err
	}
	return f.d.set(ctx, p, v)
}

func (f *follower) announce(p Path, kind Kind) {
	if kind == KindNote || kind == KindFile || kind == KindLink && !f.from.LeadsToFolder(p) {
		f.d.add(p)
	}
	if kind == KindNote {
		f.mark(map[Path]bool{p: true})
	}
}

func (f *follower) mark(paths map[Path]bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.stale == nil {
		f.stale = make(map[Path]bool)
	}
	for p := range paths {
		f.stale[p] = true
	}
}

// follow takes one event.
func (f *follower) follow(ev Event) {
	switch ev.Kind {
	case EventCreated, EventChanged:
		kind := kindOf(ev.Path.Base(), ev.Dir)
		if ev.Link {
			kind = KindLink
		}
		f.announce(ev.Path, kind)
	case EventRemoved:
		f.d.remove(ev.Path)
	case EventRenamed:
		f.d.rename(ev.OldPath, ev.Path)
		f.moveStale(ev.OldPath, ev.Path)
	}
}

// moveStale lets notes that are yet to be read be read where they are now.
func (f *follower) moveStale(oldPath, newPath Path) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for p := range f.stale {
		if oldPath.Contains(p) {
			delete(f.stale, p)
			f.stale[newPath+p[len(oldPath):]] = true
		}
	}
}
