package listing

import (
	"io/fs"
	"path"
	"slices"
	"time"

	"github.com/relayfs/relayfs/bridge/folderdoc"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/remote/replica"
	"github.com/relayfs/relayfs/bridge/remote/transport"
	"github.com/relayfs/relayfs/bridge/ycrdt"
)

// This file is about what is at a path, and at which path something is.

// Find is the entry at rel.
func (l *Listing) Find(op, rel string) (folderdoc.Entry, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e, ok := l.byPath[rel]
	if !ok {
		return e, Failed(op, rel, fs.ErrNotExist)
	}
	return e, nil
}

// Path is where a document was listed last, "" if it never was.
func (l *Listing) Path(id model.DocID) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.paths[id]
}

// SetPath says where a document will be listed.
func (l *Listing) SetPath(id model.DocID, rel string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.paths[id] = rel
}

// Named is the note whose document has a name at the server, nil if none has.
func (l *Listing) Named(name string) *replica.Document {
	for _, id := range transport.DocumentIDs(name) {
		l.mu.Lock()
		e := l.byPath[l.paths[model.DocID(id)]]
		l.mu.Unlock()
		if id != "" && e.ID == id && transport.DocumentName(l.o.Folder, id) == name {
			return l.o.Set.Document(model.DocID(id))
		}
	}
	return nil
}

// Withhold has a draft not listed until Release.
func (l *Listing) Withhold(id model.DocID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.withheld[id] = true
}

// Release has a draft listed at rel, or forgotten if that is "". The folder's lock is held:
// what becomes visible in the midst of another change would not be reported.
func (l *Listing) Release(id model.DocID, rel string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.withheld, id)
	if rel != "" {
		l.paths[id] = rel
	}
}

// ReleaseListed is Release, and lists the folder anew.
func (l *Listing) ReleaseListed(id model.DocID, rel string) error {
	return l.o.Set.Folder().View(l.ctx, func(doc *ycrdt.Doc, _ time.Time) error {
		l.Release(id, rel)
		return l.listed(doc, true)
	})
}

// IsWithheld says whether a draft is withheld.
func (l *Listing) IsWithheld(id model.DocID) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.withheld[id]
}

// Inside names what either of the documents has right below rel. The folder's lock is
// held.
func (l *Listing) Inside(shared *folderdoc.Folder, rel string) ([]string, error) {
	names := shared.Inside(rel)
	err := l.o.Set.Drafts().View(l.ctx, func(doc *ycrdt.Doc, _ time.Time) error {
		names = append(names, folderdoc.Open(doc).Inside(rel)...)
		return nil
	})
	slices.Sort(names)
	return slices.Compact(names), err
}

// Hidden names what the folder's document has at rel, or in the folder rel, and is
// not shown: canvases, attachments whose bytes are not here, and what a newer version
// of the format has.
func (l *Listing) Hidden(rel string) (hidden []string, err error) {
	err = l.o.Set.Folder().View(l.ctx, func(doc *ycrdt.Doc, _ time.Time) error {
		shared := folderdoc.Open(doc)
		l.mu.Lock()
		_, shown := l.byPath[rel]
		l.mu.Unlock()
		if !shown {
			if name := path.Base(rel); slices.Contains(shared.Inside(Parent(rel)), name) {
				hidden = []string{name}
			}
			return nil
		}
		inside, err := l.Inside(shared, rel)
		l.mu.Lock()
		defer l.mu.Unlock()
		hidden = slices.DeleteFunc(inside, func(name string) bool {
			_, shown := l.byPath[rel+"/"+name]
			return shown
		})
		return err
	})
	return hidden, err
}

// HiddenPaths are the paths that are not shown because of their names.
func (l *Listing) HiddenPaths() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.hidden
}
