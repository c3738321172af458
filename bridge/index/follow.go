package index

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"

	"github.com/relayfs/relayfs/bridge/model"
)

// derived is something computed from the text of every note: the link index,
// the list of suggestions.
type derived interface {
	// add announces a name; a note's text follows with set.
	add(p model.Path)
	// set takes a note's new text.
	set(ctx context.Context, p model.Path, v *model.Version) error
	// remove forgets p and everything below it; rename moves them.
	remove(p model.Path)
	rename(oldPath, newPath model.Path)
}

// indexSource is the workspace whose notes an index follows.
type indexSource interface {
	// Since returns the changes after the one with that number, and the number of the newest. whole is false if
	// older ones of them are forgotten.
	Since(number uint64) (list []model.Event, last uint64, whole bool)
	// EachName calls fn for every name of the tree.
	EachName(ctx context.Context, fn func(model.Path, model.NodeKind)) error
	// Read opens a note, and does not wait for one that has yet to be fetched: an event
	// tells when it is there.
	Read(ctx context.Context, p model.Path) (*model.Version, error)
	// LeadsToFolder says whether the symbolic link at p leads to a folder.
	LeadsToFolder(p model.Path) bool
}

// Follower keeps a derived thing current. It is built when it is first asked
// for, which reads every note; when it is asked for again, the log says which
// notes changed, and only those are read.
type Follower struct {
	from indexSource
	log  *slog.Logger
	d    derived

	reading chan struct{} // has room for one reader of notes at a time, to which the fields below belong
	seen    uint64        // the number of the newest change that it took in
	stale   map[model.Path]bool
}

// NewFollower keeps d current with the notes of from.
func NewFollower(from indexSource, log *slog.Logger, d derived) *Follower {
	return &Follower{from: from, log: log, d: d, reading: make(chan struct{}, 1), stale: make(map[model.Path]bool)}
}

// Current brings the derived thing up to date.
func (f *Follower) Current(ctx context.Context) error {
	select {
	case f.reading <- struct{}{}:
		defer func() { <-f.reading }()
	case <-ctx.Done():
		return ctx.Err()
	}
	if err := f.follow(ctx); err != nil {
		return err
	}
	report, total := model.ProgressOf(ctx), len(f.stale)
	done := 0
	for p := range f.stale { // what is not read is tried again
		report(done, total)
		done++
		if ctx.Err() != nil {
			break
		}
		if err := f.read(ctx, p); err != nil {
			f.log.Debug("note not read for the indexes", model.LogPath, string(p), model.LogErr, err)
			continue // one unreadable note does not hide the others
		}
		delete(f.stale, p)
	}
	return ctx.Err()
}

// follow takes in what changed, or begins again if that is not known.
func (f *Follower) follow(ctx context.Context) error {
	list, last, whole := f.from.Since(f.seen)
	if !whole {
		f.d.remove("")
		clear(f.stale)
		if err := f.from.EachName(ctx, f.announce); err != nil {
			return err
		}
		list = nil
	}
	for _, ev := range list {
		f.take(ev)
	}
	f.seen = last
	return nil
}

func (f *Follower) read(ctx context.Context, p model.Path) error {
	v, err := f.from.Read(ctx, p)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, model.ErrNotNote):
		f.d.remove(p)
		return nil
	case err != nil:
		return err
	}
	return f.d.set(ctx, p, v)
}

func (f *Follower) announce(p model.Path, kind model.NodeKind) {
	if kind == model.KindNote || kind == model.KindFile || kind == model.KindLink && !f.from.LeadsToFolder(p) {
		f.d.add(p)
	}
	if kind == model.KindNote {
		f.stale[p] = true
	}
}

// take takes in one change.
func (f *Follower) take(ev model.Event) {
	switch ev.Kind {
	case model.EventCreated, model.EventChanged:
		kind := model.KindOf(ev.Path.Base(), ev.Dir)
		if ev.Link {
			kind = model.KindLink
		}
		f.announce(ev.Path, kind)
	case model.EventRemoved:
		f.d.remove(ev.Path)
	case model.EventRenamed:
		f.d.rename(ev.OldPath, ev.Path)
		f.moveStale(ev.OldPath, ev.Path)
	}
}

// moveStale lets notes that are yet to be read be read where they are now.
func (f *Follower) moveStale(oldPath, newPath model.Path) {
	for p := range f.stale {
		if oldPath.Contains(p) {
			delete(f.stale, p)
			f.stale[newPath+p[len(oldPath):]] = true
		}
	}
}
