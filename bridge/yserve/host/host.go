package host

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/wake"
)

// Options configure a Host.
type Options struct {
	Workspace *bridge.Workspace
	// Folders has ids of folder documents by the name of the Folder. Other Folders get
	// random ids, which they keep.
	Folders map[string]string
	// Blobs is a directory for uploads, created when needed; "" refuses uploads.
	Blobs  string
	Logger *slog.Logger // nil discards
}

// Host is every document that clients can open.
type Host struct {
	ws      *bridge.Workspace
	log     *slog.Logger
	folders []*folder
	blobs   string      // Options.Blobs
	wake    wake.Signal // Run has names or changed to handle

	mu      sync.Mutex // protects the following
	docs    map[string]*Document
	subs    map[*func(Event)]string // channels of subscribers
	names   bool                    // names have changed
	changed map[model.Path]bool     // notes that have changed
}

// Folder is a Folder of the workspace with the id of its folder document.
type Folder struct{ Name, ID string }

// New creates or updates the folder documents of a started workspace. It omits Folders whose
// source shares its documents itself.
func New(ctx context.Context, o Options) (*Host, error) {
	h := &Host{
		ws: o.Workspace, log: cmp.Or(o.Logger, slog.New(slog.DiscardHandler)), blobs: o.Blobs, wake: wake.New(),
		docs: make(map[string]*Document), subs: make(map[*func(Event)]string), changed: make(map[model.Path]bool),
	}
	for _, fs := range o.Workspace.Options().Folders {
		if _, live := fs.Source.(bridge.Documents); live {
			continue
		}
		h.folders = append(h.folders, &folder{h: h, name: fs.Name, store: fs.Store, names: names{nodes: make(map[uint64]string), sums: make(map[string]fileSum)}})
	}
	for _, f := range h.folders {
		if err := f.start(ctx, o.Folders[f.name]); err != nil {
			return nil, fmt.Errorf("folder %q: %w", f.name, err)
		}
	}
	return h, nil
}

// Ready says why changes are not kept, nil if they are.
func (h *Host) Ready() error { return h.ws.Ready() }

// Folders returns the folder documents in the order of the workspace's Folders.
func (h *Host) Folders() []Folder {
	list := make([]Folder, len(h.folders))
	for i, f := range h.folders {
		list[i] = Folder{f.name, f.id}
	}
	return list
}

// Named returns the id of the document at the path of a note or a Folder, if there is one.
func (h *Host) Named(path string) (id string, ok bool) {
	p, err := model.CleanPath(path)
	if err != nil {
		return "", false
	}
	name, rel := p.Split()
	for _, f := range h.folders {
		switch {
		case f.name != name:
		case rel == "":
			return f.id, true
		default:
			id, ok = f.index.Load().ids[rel]
			return id, ok
		}
	}
	return "", false
}

// Exists reports whether there is a document or attachment with that id.
func (h *Host) Exists(id string) (bool, error) {
	if f, _ := h.find(id); f != nil {
		return true, nil
	}
	for _, f := range h.folders {
		if _, ok := f.index.Load().files[id]; ok {
			return true, nil
		}
	}
	h.mu.Lock()
	open := h.docs[id] != nil
	h.mu.Unlock()
	if open {
		return true, nil
	}
	_, records, err := h.history(id)
	return len(records) > 0, err
}

// Create creates a document with that id unless it exists.
func (h *Host) Create(ctx context.Context, id string) error {
	d, err := h.Open(ctx, id, true)
	if err != nil {
		return err
	}
	defer d.Close()
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.loose == nil || d.kept {
		return nil
	}
	return d.keep(model.Record{Update: []byte{0, 0}, Time: time.Now().UTC()})
}

// find returns the Folder of a document and the path of the note, "" for the folder document
// itself; nil for a loose document.
func (h *Host) find(id string) (f *folder, rel string) {
	for _, f := range h.folders {
		if f.id == id {
			return f, ""
		}
		if rel, ok := f.index.Load().rels[id]; ok {
			return f, rel
		}
	}
	return nil, ""
}

// Open opens a document. Without create, the error for a document that does not exist is
// fs.ErrNotExist. Close it at the end.
func (h *Host) Open(ctx context.Context, id string, create bool) (*Document, error) {
	for {
		d, first := h.enter(id)
		if first {
			if d.err = d.open(ctx, create); d.err != nil {
				h.forget(d)
			}
			close(d.ready)
		}
		<-d.ready
		switch {
		case d.err == nil:
			return d, nil
		case first || ctx.Err() != nil:
			return nil, d.err
		}
		// Another attempt failed, perhaps one without create.
	}
}

// enter returns the open document of that id, or a new one that the caller has to open.
func (h *Host) enter(id string) (d *Document, first bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	d = h.docs[id]
	if first = d == nil; first {
		d = &Document{h: h, id: id, ready: make(chan struct{}), over: make(chan struct{}), closed: make(chan struct{})}
		h.docs[id] = d
	}
	d.refs++
	return d, first
}

// forget makes the next Open of the id open a new document.
func (h *Host) forget(d *Document) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.docs[d.id] == d {
		delete(h.docs, d.id)
	}
}

// open opens the document. It is called once.
func (d *Document) open(ctx context.Context, create bool) error {
	f, rel := d.h.find(d.id)
	switch {
	case f == nil:
		return d.openLoose(create)
	case rel == "":
		d.folder = f
		d.doc.Store(f.doc)
		d.channel.Store(f.id)
		d.follow()
		return nil
	}
	s, err := d.h.ws.OpenShared(ctx, model.Path(f.name).Join(rel))
	if err != nil {
		return err
	}
	d.channel.Store(f.id)
	d.shared = s
	d.becomeNote(s)
	d.follow()
	return d.ensureNonEmpty(ctx)
}

func notExist(id string) error {
	return &fs.PathError{Op: "open", Path: strings.ToValidUTF8(id, "?"), Err: fs.ErrNotExist}
}

// ChannelOf returns the id of the folder document that lists the document, "" if none does.
func (h *Host) ChannelOf(id string) string {
	if f, _ := h.find(id); f != nil {
		return f.id
	}
	return ""
}
