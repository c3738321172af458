package remote

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/folderdoc"
	"github.com/relayfs/relayfs/bridge/ycrdt"
)

// Clients that know nothing of each other's entries may give one name to two
// documents: while a server has lost its data, above all. Of the two entries Yjs keeps
// one, and the other document would be in no folder. It becomes a draft under a free
// name, unless its text stands in the other one as well.

// clash is a name that was given to two documents.
type clash struct {
	rel          string
	ours, theirs string // ids
}

// clashesOf finds the names that an update which is about to be applied to the
// folder's document gives to other notes, by clients that did not know ours: what it
// says by itself, without what is here, is not about that. The folder's mu is held.
func clashesOf(folder *ycrdt.Doc, update []byte) (found []clash) {
	news, err := ycrdt.DiffUpdate(update, folder.EncodeStateVector())
	if err != nil {
		return nil // it is refused when it is applied
	}
	alone := ycrdt.NewDoc(ycrdt.Options{})
	if alone.ApplyUpdate(news, serverOrigin{}) != nil {
		return nil
	}
	here := folderdoc.Open(folder)
	for _, theirs := range folderdoc.Open(alone).List() {
		if theirs.Type != folderdoc.TypeMarkdown {
			continue
		}
		if ours, ok := here.Get(theirs.Path); ok && ours.Type == folderdoc.TypeMarkdown && ours.ID != theirs.ID {
			found = append(found, clash{theirs.Path, ours.ID, theirs.ID})
		}
	}
	return found
}

// keepLosers makes drafts of the documents that have lost their names in clashes. The
// folder's mu is held, and the update has been applied.
func (s *Source) keepLosers(folder *ycrdt.Doc, clashes []clash) {
	shared := folderdoc.Open(folder)
	for _, c := range clashes {
		now, _ := shared.Get(c.rel)
		for _, id := range []string{c.ours, c.theirs} {
			if id == now.ID || shared.Holds(id) {
				continue
			}
			err := s.keepLoser(shared, c.rel, id)
			s.logged("keep a note whose name was taken", err)
			if err == nil {
				s.wg.Go(func() { s.settleLoser(s.document(bridge.DocID(id)), now) })
			}
		}
	}
}

// keepLoser makes the document id, which was at rel, a draft. It is not shown before
// the two texts are known.
func (s *Source) keepLoser(shared *folderdoc.Folder, rel, id string) error {
	taken, err := s.inside(shared, parent(rel))
	if err != nil {
		return err
	}
	free := rel
	for n := 2; slices.Contains(taken, path.Base(free)); n++ {
		ext := path.Ext(rel)
		free = fmt.Sprintf("%s %d%s", strings.TrimSuffix(rel, ext), n, ext)
	}
	s.mu.Lock()
	s.losers[bridge.DocID(id)] = true
	s.mu.Unlock()
	return s.drafts.Change(s.ctx, &bridge.Record{}, func(doc *ycrdt.Doc) error {
		_, err := folderdoc.Open(doc).Create(folderdoc.Entry{Path: free, ID: id, Type: folderdoc.TypeMarkdown}, nil)
		return err
	})
}

func (s *Source) isLoser(id bridge.DocID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.losers[id]
}

// settleLoser shows a document whose name another note has now under its own, and
// enters it in the folder; or drops it if it says nothing that the other does not.
func (s *Source) settleLoser(d *document, winner folderdoc.Entry) {
	rel := s.draftOf(d.id)
	same, err := s.saysNothingNew(d, s.document(bridge.DocID(winner.ID)))
	if err == nil && same {
		s.logged("drop a note whose text another has", s.restructure(func(*folderdoc.Folder) error {
			defer s.known(d.id, "")
			return s.removeDraft(rel)
		}))
		return
	}
	if err != nil {
		s.log.Warn("two notes were given one name, and their texts could not be compared", bridge.LogPath, rel, bridge.LogErr, err)
	}
	s.log.Warn(fmt.Sprintf("%q was given to two notes, as by a server that had lost its data: the other one is %q now", winner.Path, rel), bridge.LogPath, rel)
	err = s.folder.View(s.ctx, func(doc *ycrdt.Doc, _ time.Time) error {
		s.known(d.id, rel)
		return s.listed(doc, true)
	})
	s.logged("list the folder", err)
	if !s.sync.isPending(d.id) {
		s.uploaded(d)
	}
}

// known lets the listing have a draft that it did not show. The folder's mu is held:
// what becomes visible in the midst of another change would not be reported.
func (s *Source) known(id bridge.DocID, rel string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.losers, id)
	if rel != "" {
		s.paths[id] = rel
	}
}

// saysNothingNew says whether all text of d stands in the other document. It waits for
// the server, which may have either of them alone.
func (s *Source) saysNothingNew(d, other *document) (bool, error) {
	var err error
	for end := time.Now().Add(losersPatience); time.Now().Before(end) && s.ctx.Err() == nil; {
		ctx, cancel := context.WithTimeout(s.ctx, readerPatience)
		if err = s.sync.fetched(ctx, d); err == nil {
			err = s.sync.fetched(ctx, other)
		}
		cancel()
		if err == nil {
			break
		}
		select {
		case <-s.ctx.Done():
		case <-time.After(retryDelay):
		}
	}
	if err != nil {
		return false, err
	}
	text, err := d.text()
	if err != nil {
		return false, err
	}
	have, err := other.text()
	return strings.Contains(have, text), err
}

// losersPatience bounds how long the texts of two notes that were given one name are
// waited for.
const losersPatience = 2 * time.Minute
