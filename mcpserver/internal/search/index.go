// Package search finds lines in notes and other text files of a workspace. Its Index has the paths of the documents,
// and signatures that exclude notes without a match. The lock of an Index guards the list of documents.
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

// Index has the path of each document, and the signature of each note that was searched. It follows the change log of
// the workspace and stores no text.
type Index struct {
	ws *bridge.Workspace

	makers sync.Pool // *grep.SignatureMaker values

	mu    sync.Mutex // guards the fields below
	seen  uint64     // number of the newest change that was applied
	notes map[model.Path]*Note
	list  []*Note // in the order of Walk; nil if the workspace must be walked again
}

// Note is a note or another file. The signature of a note is nil before the first search, and empty after a change.
// Other files have no signature, because some of their changes cause no event.
type Note struct {
	Path model.Path
	sig  atomic.Pointer[grep.Signature]
}

func NewIndex(ws *bridge.Workspace) *Index {
	return &Index{ws: ws, notes: make(map[model.Path]*Note), makers: sync.Pool{New: func() any { return new(grep.SignatureMaker) }}}
}

// catchUp applies the new entries of the change log. The caller holds x.mu.
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

// binaryEndings lists extensions of binary files, so that these files need not be opened.
var binaryEndings = strings.Fields(".7z .aac .avi .avif .bmp .bz2 .db .doc .docx .epub .flac .gif .gz .heic .ico .jpeg .jpg .jxl .m4a .mkv .mov .mp3 .mp4 .odp .ods .odt .ogg .ogv .opus .otf .pdf .png .ppt .pptx .rar .sqlite .tar .tif .tiff .ttf .wav .webm .webp .woff .woff2 .xls .xlsx .xz .zip .zst")

// All returns all documents, in the order of Walk. The caller must not change the list.
func (x *Index) All(ctx context.Context) ([]*Note, error) {
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

// setSignature stores the signature of text unless n has changed since text was read. before is the signature that n
// had immediately before text was read; if it is known, setSignature does nothing.
func (x *Index) setSignature(n *Note, before *grep.Signature, text string) {
	if before.Known() {
		return
	}
	m := x.makers.Get().(*grep.SignatureMaker)
	defer x.makers.Put(m)
	n.sig.CompareAndSwap(before, m.Make(text))
}

const searchTime = 20 * time.Second

var ErrSlow = errors.New("search takes too long")

// bounded returns a context with the search timeout, and a copy of p that stops at that timeout.
func bounded(ctx context.Context, p *grep.Pattern) (context.Context, *grep.Pattern, context.CancelFunc) {
	ctx, cancel := context.WithTimeoutCause(ctx, searchTime, ErrSlow)
	return ctx, p.Until(ctx.Done()), cancel
}

// batch is the number of notes that are scanned together. It is large enough to use every core, and small enough to
// stop early.
const batch = 256

// Scan calls look concurrently for each document at and below the path under that wanted accepts and that may match p.
// look gets a copy of p that stops at the search timeout. Scan calls take with the results in order, on the goroutine of
// the caller, until take returns false. For a deleted or offline note, take gets the zero value. skipped lists the
// documents that have no text, are too large or cannot be read.
func Scan[T any](ctx context.Context, x *Index, p *grep.Pattern, under model.Path, wanted func(model.Path) bool,
	look func(*grep.Pattern, document.Document) T, take func(T) bool) (skipped []model.Path, err error) {
	ctx, p, cancel := bounded(ctx, p)
	defer cancel()
	notes, err := x.All(ctx)
	if err != nil {
		return nil, err
	}
	q := grep.NewTrigramQuery(p.Clauses())
	part := make([]*Note, 0, batch)
	results := make([]T, batch)
	skips := make([]bool, batch)
	total := len(notes)
	for len(notes) > 0 {
		part = part[:0]
		for ; len(notes) > 0 && len(part) < batch; notes = notes[1:] {
			n := notes[0]
			sig := n.sig.Load()
			if under.Contains(n.Path) && (!sig.Known() || q.MayMatch(sig)) && wanted(n.Path) {
				part = append(part, n)
			}
		}
		var workers sync.WaitGroup
		var taken atomic.Int64 // number of notes that workers have begun
		for range runtime.GOMAXPROCS(0) {
			workers.Go(func() {
				for i := int(taken.Add(1)) - 1; i < len(part); i = int(taken.Add(1)) - 1 {
					results[i], skips[i] = scanNote(ctx, x, part[i], func(d document.Document) T { return look(p, d) })
				}
			})
		}
		workers.Wait()
		for i := range part {
			switch {
			case ctx.Err() != nil:
				return skipped, context.Cause(ctx)
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

func scanNote[T any](ctx context.Context, x *Index, n *Note, look func(document.Document) T) (res T, skipped bool) {
	if ctx.Err() != nil {
		return res, false
	}
	if !n.Path.IsNote() && slices.Contains(binaryEndings, strings.ToLower(path.Ext(n.Path.Base()))) {
		return res, true
	}
	before := n.sig.Load()
	d, err := document.Resolver{Workspace: x.ws}.Document(ctx, n.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, model.ErrOffline):
		return res, false
	case err != nil:
		return res, true
	case d.Version != nil:
		x.setSignature(n, before, d.Text)
	}
	return look(d), false
}

func Skipped(files []model.Path) string {
	if len(files) == 0 {
		return ""
	}
	const most = 5
	return "Not searched, because they hold no text, are too large or cannot be read: " + result.ListNames(files, most, "file") + "."
}
