// Package search finds lines in the notes of a workspace and in its other files that hold text. Its Index holds the
// paths of all, and signatures that rule out notes which cannot match. It knows no tool. The lock of an Index protects the list.
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
	"github.com/relayfs/relayfs/mcpserver/internal/result"
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

// Note is one note or file. Its signature is nil, or of its text since the last event, or empty after an event. A file
// has none: not every change of its content is an event.
type Note struct {
	Path model.Path
	sig  atomic.Pointer[grep.Signature]
}

// NewIndex returns an empty Index of ws.
func NewIndex(ws *bridge.Workspace) *Index {
	return &Index{ws: ws, notes: make(map[model.Path]*Note), makers: sync.Pool{New: func() any { return new(grep.SignatureMaker) }}}
}

// catchUp takes in what changed. Call it with x.mu locked.
func (x *Index) catchUp() {
	list, last, whole := x.ws.Since(x.seen)
	if x.seen = last; !whole {
		clear(x.notes)
		x.list = nil
		return
	}
	for _, ev := range list {
		x.apply(ev)
	}
}

func (x *Index) apply(ev model.Event) {
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

// binaryEndings are those of files that hold no text. Every other file is opened to see.
var binaryEndings = strings.Fields(".7z .aac .avi .avif .bmp .bz2 .db .doc .docx .epub .flac .gif .gz .heic .ico .jpeg .jpg .jxl .m4a .mkv .mov .mp3 .mp4 .odp .ods .odt .ogg .ogv .opus .otf .pdf .png .ppt .pptx .rar .sqlite .tar .tif .tiff .ttf .wav .webm .webp .woff .woff2 .xls .xlsx .xz .zip .zst")

func isBinary(p model.Path) bool {
	return slices.Contains(binaryEndings, strings.ToLower(path.Ext(p.Base())))
}

// Below returns the notes and files at and below under of whose paths wanted holds, sorted by path.
func (x *Index) Below(ctx context.Context, under model.Path, wanted func(model.Path) bool) ([]*Note, error) {
	all, err := x.all(ctx)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(slices.Clone(all), func(n *Note) bool { return !under.Contains(n.Path) || !wanted(n.Path) }), nil
}

// AllDocuments is wanted of all documents, Notes of notes.
func AllDocuments(model.Path) bool { return true }
func OnlyNotes(p model.Path) bool  { return p.IsNote() }

func (x *Index) all(ctx context.Context) ([]*Note, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.catchUp()
	if x.list != nil {
		return x.list, nil
	}
	list := make([]*Note, 0, len(x.notes))
	err := x.ws.Walk(ctx, "", func(e bridge.Info) error {
		if e.Kind != model.KindNote && e.Kind != model.KindFile {
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

// setSignature computes the signature of text if before, the one that n had before text was read, is
// empty. If n has changed since then, its signature stays empty.
func (x *Index) setSignature(n *Note, before *grep.Signature, text string) {
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
// It skips notes that are gone or offline. It returns the files that it skipped because they hold no text, are too large
// or cannot be read.
func Scan[T any](ctx context.Context, x *Index, notes []*Note, clauses []grep.Clause, look func(document.Document) T, take func(T) bool) (skipped []model.Path, err error) {
	q := grep.NewTrigramQuery(clauses)
	results := make([]T, batch)
	skips := make([]bool, batch)
	errs := make([]error, batch)
	total := len(notes)
	for len(notes) > 0 {
		var part []*Note
		part, notes = nextBatch(notes, q)
		inParallel(len(part), func(i int) {
			results[i], skips[i], errs[i] = scanNote(ctx, x, part[i], look)
		})
		for i := range part {
			switch {
			case ctx.Err() != nil:
				return skipped, context.Cause(ctx)
			case errs[i] != nil:
				return skipped, errs[i]
			case skips[i]:
				skipped = append(skipped, part[i].Path)
			case !take(results[i]):
				return skipped, nil
			}
		}
		model.ProgressOf(ctx)(total-len(notes), total)
	}
	return skipped, context.Cause(ctx)
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

func scanNote[T any](ctx context.Context, x *Index, n *Note, look func(document.Document) T) (res T, skipped bool, err error) {
	if err := ctx.Err(); err != nil {
		return res, false, err
	}
	if !n.Path.IsNote() && isBinary(n.Path) {
		return res, true, nil
	}
	before := n.sig.Load()
	d, err := document.Resolver{Workspace: x.ws}.Document(ctx, n.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, model.ErrOffline):
		return res, false, nil
	case err != nil && !n.Path.IsNote() && isSkippable(err):
		return res, true, nil
	case err != nil:
		return res, false, err
	case d.Version != nil:
		x.setSignature(n, before, d.Text)
	}
	return look(d), false, nil
}

// Skipped is a sentence about files that a search skipped, "" if there are none.
func Skipped(files []model.Path) string {
	if len(files) == 0 {
		return ""
	}
	const most = 5
	return "Not searched, because they hold no text, are too large or cannot be read: " + result.ListNames(files, most, "file") + "."
}

// isSkippable reports whether a search skips a file because of an error.
func isSkippable(err error) bool {
	return errors.Is(err, fs.ErrPermission) || errors.Is(err, model.ErrInvalidUTF8) || errors.Is(err, model.ErrTooLarge)
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
