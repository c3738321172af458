package listing

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/owner"
	"github.com/relayfs/relayfs/bridge/remote/folderdoc"
	"github.com/relayfs/relayfs/bridge/remote/transport"
)

// Attachments manages the bytes of a folder's attachments. An attachment has no document: its entry in the folder has
// the hash of its bytes, and Relay's server stores the bytes next to its documents. Attachments are downloaded one
// after the other, and listed once their bytes are stored here. They are written as a whole, and only while the server
// is connected.
//
// The type does not read the folder's document: its caller reports which attachments are missing.
//
// Everything is safe for concurrent use. The lock guards the lists of missing and failed attachments. While it is held,
// only the lock of the problems is taken.

type Attachments struct {
	server   transport.Files // nil, like cache, if no attachments are served
	cache    *Cache
	folder   string // name of the folder's document on the server
	problems *model.Problems
	newWork  model.Signal // set when attachments may be missing

	mu      sync.Mutex         // guards the fields below
	missing []folderdoc.Entry  // attachments in the folder's document that are not in cache
	failed  map[string]failure // failed downloads, by hash
}

type failure struct {
	path string
	err  error
	skip bool // do not try again before Retry is called
}

// OpenAttachments opens the attachments in dir. It serves no attachments if dir is "" or the server stores none.
func OpenAttachments(dir owner.Folder, server transport.Server, folder string, problems *model.Problems) (*Attachments, error) {
	a := &Attachments{folder: folder, problems: problems, newWork: model.NewSignal(), failed: make(map[string]failure)}
	files, ok := server.(transport.Files)
	if !ok || dir == "" {
		return a, nil
	}
	a.server = files
	var err error
	a.cache, err = OpenCache(dir)
	return a, err
}

func IsAttachment(e folderdoc.Entry) bool {
	switch e.Type {
	case folderdoc.TypeFolder, folderdoc.TypeMarkdown, folderdoc.TypeCanvas:
		return false
	}
	return ValidHash(e.Hash) && !model.Path(e.Path).IsNote()
}

func (a *Attachments) Served() bool { return a.server != nil }

// Stored returns false if attachments are not served, or if the server has shown that it does not store attachments.
func (a *Attachments) Stored() bool { return a.Served() && a.server.StoresFiles() }

func (a *Attachments) Has(e folderdoc.Entry) bool { return a.cache.Has(e.Hash) }

func (a *Attachments) Fetch(missing []folderdoc.Entry) {
	hashes := make(map[string]bool, len(missing))
	for _, e := range missing {
		hashes[e.Hash] = true
	}
	a.mu.Lock()
	a.missing = missing
	maps.DeleteFunc(a.failed, func(hash string, _ failure) bool { return !hashes[hash] })
	a.mu.Unlock()
	a.newWork.Set()
}

// Run downloads missing attachments while online returns true, until ctx ends. It calls arrived after each successful
// download.
func (a *Attachments) Run(ctx context.Context, online func() bool, arrived func()) {
	for range a.newWork.Each(ctx) {
		// After a reconnection the listing calls Fetch again.
		for online() {
			e, ok := a.next()
			if !ok {
				break
			}
			if a.fetch(ctx, e) {
				arrived()
			}
		}
		a.report()
	}
}

func (a *Attachments) next() (folderdoc.Entry, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for len(a.missing) > 0 {
		e := a.missing[0]
		a.missing = a.missing[1:]
		if !a.failed[e.Hash].skip {
			return e, true
		}
	}
	return folderdoc.Entry{}, false
}

func (a *Attachments) fetch(ctx context.Context, e folderdoc.Entry) (ok bool) {
	err := a.server.Download(ctx, a.name(e), e.Hash, e.Mimetype, func(r io.Reader) error { return a.cache.Fill(e.Hash, r) })
	if err != nil && ctx.Err() != nil {
		return false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if err == nil {
		delete(a.failed, e.Hash)
		return true
	}
	a.failed[e.Hash] = failure{e.Path, err, true}
	return false
}

const maxNamed = 3

// report reports all failed downloads as one problem, since most fail for the same reason.
func (a *Attachments) report() {
	a.mu.Lock()
	defer a.mu.Unlock()
	failed := slices.SortedFunc(maps.Values(a.failed), func(x, y failure) int { return strings.Compare(x.path, y.path) })
	if len(failed) == 0 {
		a.problems.Record(model.AboutAttachments, nil)
		return
	}
	var named []string
	for _, f := range failed[:min(len(failed), maxNamed)] {
		named = append(named, strconv.Quote(f.path))
	}
	if len(failed) > maxNamed {
		named = append(named, "and others")
	}
	what := "1 attachment is"
	if len(failed) > 1 {
		what = fmt.Sprintf("%d attachments are", len(failed))
	}
	a.problems.Record(model.AboutAttachments, fmt.Errorf("%s not shown (%s): %w", what, strings.Join(named, ", "), failed[0].err))
}

func (a *Attachments) name(e folderdoc.Entry) string { return transport.DocumentName(a.folder, e.ID) }

func (a *Attachments) Retry() {
	a.mu.Lock()
	defer a.mu.Unlock()
	for hash, f := range a.failed {
		f.skip = false
		a.failed[hash] = f
	}
}

// Open opens an attachment for reading. A later change of the content creates another file and does not affect the open
// file.
func (a *Attachments) Open(e folderdoc.Entry) (model.File, error) {
	f, err := a.cache.Open(e.Hash)
	if err != nil {
		return nil, err
	}
	return file{f}, nil
}

type file struct{ *os.File }

func (f file) WriteAt([]byte, int64) (int, error) { return 0, model.ErrReadOnly }
func (f file) Truncate(int64) error               { return model.ErrReadOnly }

func (a *Attachments) Stamp(e folderdoc.Entry) model.Stamp {
	return model.Stamp{Size: a.cache.Size(e.Hash), ModTime: e.SyncTime * int64(time.Millisecond)}
}

func (a *Attachments) Read(e folderdoc.Entry) ([]byte, error) { return a.cache.Read(e.Hash) }

// Upload stores data here and on the server. It returns e with the hash, the MIME type and the current time.
func (a *Attachments) Upload(ctx context.Context, e folderdoc.Entry, data []byte) (folderdoc.Entry, error) {
	hash, err := a.cache.Put(data)
	if err != nil {
		return e, err
	}
	_, e.Mimetype = folderdoc.TypeOf(e.Path)
	e.Hash, e.SyncTime = hash, time.Now().UnixMilli()
	err = a.server.Upload(ctx, a.name(e), e.Hash, e.Mimetype, data)
	if errors.Is(err, transport.ErrUnreachable) {
		err = errors.Join(model.ErrOffline, err)
	}
	return e, err
}
