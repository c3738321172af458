package listing

import (
	"io/fs"
	"path"
	"slices"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/remote/folderdoc"
	"github.com/relayfs/relayfs/bridge/remote/internal/replica"
	"github.com/relayfs/relayfs/bridge/remote/transport"
)

// Find returns the entry at rel, or fs.ErrNotExist.
func (l *Listing) Find(op, rel string) (folderdoc.Entry, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e, ok := l.byPath[rel]
	if !ok {
		return e, Failed(op, rel, fs.ErrNotExist)
	}
	return e, nil
}

// entriesOf returns the listed entries of a document. There are several after it was renamed on two machines at once.
func (l *Listing) entriesOf(id model.DocID) []folderdoc.Entry {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.byID[id]
}

// Path returns the last path of a document, or "" if this process has listed none.
func (l *Listing) Path(id model.DocID) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.paths[id]
}

func (l *Listing) SetPath(id model.DocID, rel string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.paths[id] = rel
}

// Named returns the note with the given document name on the server, or nil if there is none.
func (l *Listing) Named(name string) *replica.Document {
	for _, id := range transport.DocumentIDs(name) {
		if len(l.entriesOf(model.DocID(id))) > 0 {
			if d := l.set.Document(model.DocID(id)); d.Name == name {
				return d
			}
		}
	}
	return nil
}

// Hide omits a draft from the listing until Unhide or Forget is called.
func (l *Listing) Hide(id model.DocID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.unlisted[id] = true
}

// unhide ends Hide. Unless rel is "", it also records rel as the path of the draft. The caller holds the lock of the
// folder's document; otherwise the draft could appear during another change, which would not report it.
func (l *Listing) unhide(id model.DocID, rel string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.unlisted, id)
	if rel != "" {
		l.paths[id] = rel
	}
}

// Unhide ends Hide and lists the draft at rel.
func (l *Listing) Unhide(id model.DocID, rel string) error {
	return l.set.Folder.ViewFolder(func(shared *folderdoc.Folder) error {
		l.unhide(id, rel)
		return l.listed(shared, false)
	})
}

// Forget runs fn, which removes the draft, and ends Hide.
func (l *Listing) Forget(id model.DocID, fn func() error) error {
	return l.ChangeOwn(func(*folderdoc.Folder) error {
		defer l.unhide(id, "")
		return fn()
	})
}

func (l *Listing) IsHidden(id model.DocID) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.unlisted[id]
}

// Inside returns the names directly below rel in the folder's document and in the drafts.
func (l *Listing) Inside(shared *folderdoc.Folder, rel string) ([]string, error) {
	names := shared.Inside(rel)
	err := l.set.Drafts.ViewFolder(func(drafts *folderdoc.Folder) error {
		names = append(names, drafts.Inside(rel)...)
		return nil
	})
	slices.Sort(names)
	return slices.Compact(names), err
}

// Hidden returns names that exist but are not listed: the names in rel if rel is listed, and otherwise the last element
// of rel. Such names belong, for example, to canvases and attachments whose content was not fetched, and to entries of
// newer versions of the format.
func (l *Listing) Hidden(rel string) (hidden []string, err error) {
	err = l.set.Folder.ViewFolder(func(shared *folderdoc.Folder) error {
		l.mu.Lock()
		_, shown := l.byPath[rel]
		l.mu.Unlock()
		if !shown {
			if name := path.Base(rel); slices.Contains(shared.Inside(model.Parent(rel)), name) {
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

// HiddenPaths returns the paths that are not listed because of their names.
func (l *Listing) HiddenPaths() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.hidden
}
