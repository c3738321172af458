package index

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"maps"
	"slices"

	"github.com/relayfs/relayfs/bridge/model"
)

// derived is an index that is computed from the text of every note, such as the link index.
type derived interface {
	// add records that there is a note or file at p. For a note, a call of set with its text follows.
	add(p model.Path)
	set(ctx context.Context, p model.Path, v *model.Version) error
	// remove removes p and everything below p. rename moves oldPath and everything below it, and returns the notes that
	// must be read at their new paths.
	remove(p model.Path)
	rename(oldPath, newPath model.Path) (unread []model.Path)
}

type indexSource interface {
	// Since returns the changes after number, and the newest number. whole is false if some of them were dropped.
	Since(number uint64) (list []model.Event, last uint64, whole bool)
	EachName(ctx context.Context, fn func(model.Path, model.NodeKind)) error
	// Read opens a note. It does not wait for a note that is not fetched yet, because an event follows when the note
	// arrives.
	Read(ctx context.Context, p model.Path) (*model.Version, error)
	// LeadsToFolder reports whether the target of the symbolic link at p is a folder.
	LeadsToFolder(p model.Path) bool
}

// Follower keeps a derived index current. The first call of Current reads every note; later calls read the notes that
// the log names.
type Follower struct {
	from indexSource
	log  *slog.Logger
	d    derived

	reading chan struct{} // a semaphore for one reader of notes, which guards the fields below
	seen    uint64        // number of the newest applied change
	stale   map[model.Path]bool
}

func NewFollower(from indexSource, log *slog.Logger, d derived) *Follower {
	return &Follower{from: from, log: log, d: d, reading: make(chan struct{}, 1), stale: make(map[model.Path]bool)}
}

func (f *Follower) Current(ctx context.Context) error { return f.readStale(ctx, true) }

// ReadNotes reads the notes that Current would read. It leaves a single note to Current, because that note may change
// again before a caller needs the index.
func (f *Follower) ReadNotes(ctx context.Context) error { return f.readStale(ctx, false) }

func (f *Follower) readStale(ctx context.Context, update bool) error {
	select {
	case f.reading <- struct{}{}:
		defer func() { <-f.reading }()
	case <-ctx.Done():
		return ctx.Err()
	}
	if err := f.follow(ctx); err != nil {
		return err
	}
	if len(f.stale) == 0 {
		return ctx.Err()
	}
	report, total := model.ProgressOf(ctx), len(f.stale)
	update = update || total > 1 // otherwise each call of ReadNotes would read all notes again
	done := 0
	for _, p := range slices.Sorted(maps.Keys(f.stale)) { // these include notes that could not be read before
		report(done, total)
		done++
		if ctx.Err() != nil {
			break
		}
		if err := f.read(ctx, p, update); err != nil { // one unreadable note does not hide the others
			f.log.Debug("cannot read a note for the indexes", model.LogPath, string(p), model.LogErr, err)
		} else if update {
			delete(f.stale, p)
		}
	}
	return ctx.Err()
}

// follow applies the changes, or starts again if the log has dropped some.
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

func (f *Follower) read(ctx context.Context, p model.Path, update bool) error {
	v, err := f.from.Read(ctx, p)
	switch {
	case !update:
		return err
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
		f.moveStale(ev.OldPath, ev.Path)
		for _, p := range f.d.rename(ev.OldPath, ev.Path) {
			f.stale[p] = true
		}
	}
}

// moveStale applies a rename to the notes that are still to be read.
func (f *Follower) moveStale(oldPath, newPath model.Path) {
	for p := range f.stale {
		if oldPath.Contains(p) {
			delete(f.stale, p)
			f.stale[newPath+p[len(oldPath):]] = true
		}
	}
}
