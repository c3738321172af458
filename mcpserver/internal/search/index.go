// Package search finds lines in the notes of a workspace and in its other files that hold text. Its Index holds their
// paths, and signatures that rule out notes which cannot match. It knows no tool. The lock of an Index protects the list.
package search

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"path"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/mcpserver/internal/document"
	"github.com/relayfs/relayfs/mcpserver/internal/grep"
	"github.com/relayfs/relayfs/mcpserver/internal/session"
)

// Index holds what a search uses before it opens a note: its path, and its signature if it was
// searched before. It asks the workspace what changed and never keeps text.
type Index struct {
	ws *bridge.Workspace

	makers sync.Pool // of *grep.SignatureMaker

	mu    sync.Mutex // protects the following
	seen  uint64     // the number of the newest change that it took in
	notes map[model.Path]*Note
	list  []*Note // sorted as Walk sorts; nil after notes came or went
}

// Note is one note or text file. Its signature is nil, or of its text since the last event, or empty after an event. A file
// has none: not every change of its content is an event.
type Note struct {
	Path model.Path
	sig  atomic.Pointer[grep.Signature]
}

// NewIndex returns an empty Index of ws.
func NewIndex(ws *bridge.Workspace) *Index {
	return &Index{ws: ws, notes: make(map[model.Path]*Note), makers: sync.Pool{New: func() any { return new(grep.SignatureMaker) }}}
}

// follow takes in what changed. Call it with x.mu locked.
func (x *Index) follow() {
	list, last, whole := x.ws.Since(x.seen)
	if x.seen = last; !whole {
		clear(x.notes)
		x.list = nil
		return
	}
	for _, ev := range list {
		x.take(ev)
	}
}

func (x *Index) take(ev model.Event) {
	if n := x.notes[ev.Path]; n != nil {
		n.sig.Store(new(grep.Signature))
	}
	switch ev.Kind {
	case model.EventChanged:
		return
	case model.EventRenamed:
		drop(x.notes, ev.OldPath)
		drop(x.notes, ev.Path)
	case model.EventRemoved:
		drop(x.notes, ev.Path)
	}
	x.list = nil
}

func drop(notes map[model.Path]*Note, p model.Path) {
	if _, ok := notes[p]; ok {
		delete(notes, p)
		return
	}
	maps.DeleteFunc(notes, func(q model.Path, _ *Note) bool { return p.Contains(q) })
}

// textEndings are those of files that hold text, besides notes.
var textEndings = strings.Fields(".base .bib .canvas .css .csv .html .ics .ini .js .json .log .opml .org .py .rst .sh .srt .svg .tex .toml .ts .tsv .txt .vtt .xml .yaml .yml")

func isText(e bridge.Info) bool {
	return e.Kind == model.KindNote || e.Kind == model.KindFile && slices.Contains(textEndings, strings.ToLower(path.Ext(e.Path.Base())))
}

// Below returns the notes and text files at and below under of whose paths wanted holds, sorted by path. A file at under
// is one of them whatever its ending.
func (x *Index) Below(ctx context.Context, under model.Path, wanted func(model.Path) bool) ([]*Note, error) {
	all, err := x.all(ctx)
	if err != nil {
		return nil, err
	}
	list := slices.DeleteFunc(slices.Clone(all), func(n *Note) bool { return !under.Contains(n.Path) || !wanted(n.Path) })
	if len(list) == 0 && wanted(under) {
		if info, err := x.ws.Stat(ctx, under); err == nil && info.Kind == model.KindFile {
			list = []*Note{{Path: under}}
		}
	}
	return list, nil
}

// Everything is wanted of all documents, Notes of notes.
func Everything(model.Path) bool { return true }
func Notes(p model.Path) bool    { return p.IsNote() }

func (x *Index) all(ctx context.Context) ([]*Note, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.follow()
	if x.list != nil {
		return x.list, nil
	}
	list := make([]*Note, 0, len(x.notes))
	err := x.ws.Walk(ctx, "", func(e bridge.Info) error {
		if !isText(e) {
			return nil
		}
		n := x.notes[e.Path]
		if n == nil {
			n = &Note{Path: e.Path}
			x.notes[e.Path] = n
		}
		list = append(list, n)
		return nil
	})
	if err == nil {
		x.list = list
	}
	return list, err
}

// learn computes the signature of text if before, the one that n had before text was read, is
// empty. If n has changed since then, its signature stays empty.
func (x *Index) learn(n *Note, before *grep.Signature, text string) {
	if before.Known() {
		return
	}
	m := x.makers.Get().(*grep.SignatureMaker)
	defer x.makers.Put(m)
	n.sig.CompareAndSwap(before, m.Make(text))
}

const searchTime = 20 * time.Second

// ErrSlow ends a search after searchTime.
var ErrSlow = errors.New("search takes too long")

// Bounded returns a context for a search, and p as a pattern that ends with that context.
func Bounded(ctx context.Context, p *grep.Pattern) (context.Context, *grep.Pattern, context.CancelFunc) {
	ctx, cancel := context.WithTimeoutCause(ctx, searchTime, ErrSlow)
	return ctx, p.Until(ctx.Done()), cancel
}

// batch is how many notes are scanned at a time: enough for every core, few enough to stop early.
const batch = 256

// Scan calls look with each note that may match a pattern with these clauses, on several goroutines. It calls take
// with the results, in the order of notes and on the caller's goroutine, until take returns false.
// It skips notes that are gone or offline, and files that cannot be read as text.
func Scan[T any](ctx context.Context, x *Index, notes []*Note, clauses []grep.Clause, look func(session.Document) T, take func(T) bool) error {
	q := grep.NewTrigramQuery(clauses)
	results := make([]T, batch)
	errs := make([]error, batch)
	total := len(notes)
	for len(notes) > 0 {
		var part []*Note
		part, notes = nextBatch(notes, q)
		inParallel(len(part), func(i int) {
			results[i], errs[i] = scanNote(ctx, x, part[i], look)
		})
		for i := range part {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if errs[i] != nil {
				return errs[i]
			}
			if !take(results[i]) {
				return nil
			}
		}
		model.ProgressOf(ctx)(total-len(notes), total)
	}
	return context.Cause(ctx)
}

// nextBatch splits off the next notes to look at: those that the query does not rule out, as far as is known.
func nextBatch(notes []*Note, q grep.TrigramQuery) (part, rest []*Note) {
	part = make([]*Note, 0, batch)
	for i, n := range notes {
		if len(part) == batch {
			return part, notes[i:]
		}
		if sig := n.sig.Load(); !sig.Known() || q.MayMatch(sig) {
			part = append(part, n)
		}
	}
	return part, nil
}

func scanNote[T any](ctx context.Context, x *Index, n *Note, look func(session.Document) T) (res T, err error) {
	if err := ctx.Err(); err != nil {
		return res, err
	}
	before := n.sig.Load()
	d, err := document.Resolver{Workspace: x.ws}.Document(ctx, n.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, model.ErrOffline), err != nil && !n.Path.IsNote() && passOver(err), err == nil && d.Version == nil && strings.Contains(d.Text, "\x00"):
		return res, nil
	case err != nil:
		return res, err
	case d.Version != nil:
		x.learn(n, before, d.Text)
	}
	return look(d), nil
}

// passOver reports whether a search skips a file because of an error.
func passOver(err error) bool {
	return errors.Is(err, fs.ErrPermission) || errors.Is(err, model.ErrInvalidUTF8) || errors.Is(err, model.ErrTooLarge) || errors.Is(err, model.ErrNotFetched)
}

// inParallel calls fn with 0 to n-1, on as many goroutines as there are cores, and waits for them.
func inParallel(n int, fn func(int)) {
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(n, runtime.GOMAXPROCS(0)) {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				fn(i)
			}
		})
	}
	wg.Wait()
}
