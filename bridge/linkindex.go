package bridge

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"sync"

	"github.com/relayfs/relayfs/bridge/links"
)

// Links are the notes that link to one, and what it links to. Links that
// nobody has accepted yet do not count.
type Links struct {
	Backlinks  []Path // sorted
	Forward    []Path // in the order of the text, each once
	Unresolved []string
}

// linkIndex is made when somebody first asks for links, and then kept current
// by events: changed notes are read when somebody asks again.
type linkIndex struct {
	build sync.Mutex // one builder at a time; held while notes are read

	mu    sync.Mutex // protects the following
	index *links.Index
	stale map[Path]bool // notes to read before the next answer
}

// Links says how the note at p is linked. The first call reads every note of
// the workspace.
func (w *Workspace) Links(ctx context.Context, p Path) (Links, error) {
	if _, err := w.Open(ctx, p); err != nil {
		return Links{}, err
	}
	index, err := w.currentLinks(ctx)
	if err != nil {
		return Links{}, err
	}
	var res Links
	forward, unresolved := index.Forward(string(p))
	res.Forward, res.Unresolved = toPaths(forward), unresolved
	res.Backlinks = toPaths(index.Backlinks(string(p)))
	slices.Sort(res.Backlinks)
	return res, nil
}

func toPaths(list []string) []Path {
	paths := make([]Path, len(list))
	for i, s := range list {
		paths[i] = Path(s)
	}
	return paths
}

func (w *Workspace) currentLinks(ctx context.Context) (*links.Index, error) {
	x := &w.links
	x.build.Lock()
	defer x.build.Unlock()
	x.mu.Lock()
	if x.index == nil {
		x.index = links.NewIndex()
		x.stale = make(map[Path]bool)
		w.events.subscribe(x.follow)
		x.mu.Unlock()
		err := w.Walk(ctx, "", func(e DirEntry, p Path) error {
			x.mark(p, e.Kind)
			return nil
		})
		if err != nil {
			return nil, err
		}
	} else {
		x.mu.Unlock()
	}
	return x.index, w.readStale(ctx)
}

// readStale reads the links of the notes that changed since the last answer.
func (w *Workspace) readStale(ctx context.Context) error {
	x := &w.links
	x.mu.Lock()
	stale := x.stale
	x.stale = make(map[Path]bool)
	x.mu.Unlock()
	for p := range stale {
		v, err := w.Open(ctx, p)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			x.index.Remove(string(p))
		case err != nil:
			x.restore(stale)
			return err
		default:
			x.index.Set(string(p), links.Extract(v.Raw()))
		}
	}
	return nil
}

// restore puts notes that were not read back on the list.
func (x *linkIndex) restore(stale map[Path]bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for p := range stale {
		x.stale[p] = true
	}
}

func (x *linkIndex) mark(p Path, kind Kind) {
	x.mu.Lock()
	defer x.mu.Unlock()
	switch kind {
	case KindNote:
		x.index.AddFile(string(p))
		x.stale[p] = true
	case KindFile:
		x.index.AddFile(string(p))
	}
}

// follow keeps the index current.
func (x *linkIndex) follow(ev Event) {
	switch ev.Kind {
	case EventCreated, EventChanged:
		x.mark(ev.Path, kindOf(ev.Path.Base(), ev.Dir))
	case EventRemoved:
		x.index.Remove(string(ev.Path))
	case EventRenamed:
		x.index.Rename(string(ev.OldPath), string(ev.Path))
	}
}
