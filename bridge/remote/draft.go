package remote

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/folderdoc"
	"github.com/relayfs/relayfs/bridge/ycrdt"
)

// A new note is a draft until the server has acknowledged its content. Only then
// is it entered in the folder's document, so that nobody is told of a note that
// is not there. If somebody else was first to its path, the text moves into
// their document.

// draftOf is the path of a draft, "" if the document is none.
func (s *Source) draftOf(id bridge.DocID) (rel string) {
	err := s.drafts.View(s.ctx, func(doc *ycrdt.Doc, _ time.Time) error {
		for _, e := range folderdoc.Open(doc).List() {
			if e.ID == string(id) && e.Type != folderdoc.TypeFolder {
				rel = e.Path
			}
		}
		return nil
	})
	s.logged("read the drafts", err)
	return rel
}

func (s *Source) isDraft(id bridge.DocID) bool { return s.draftOf(id) != "" }

// uploaded takes note that the server has all of a document.
func (s *Source) uploaded(d *document) {
	if s.isDraft(d.id) && !s.isLoser(d.id) {
		s.wg.Go(func() { s.logged("enter a new note", s.promote(d)) })
	}
}

// promoteUploaded enters the drafts that were acknowledged before a restart.
func (s *Source) promoteUploaded() {
	var drafts []bridge.DocID
	err := s.drafts.View(s.ctx, func(doc *ycrdt.Doc, _ time.Time) error {
		for _, e := range folderdoc.Open(doc).List() {
			if e.Type != folderdoc.TypeFolder {
				drafts = append(drafts, bridge.DocID(e.ID))
			}
		}
		return nil
	})
	s.logged("read the drafts", err)
	for _, id := range drafts {
		if !s.sync.isPending(id) {
			s.uploaded(s.document(id))
		}
	}
}

// promote enters a draft in the folder's document.
func (s *Source) promote(d *document) error {
	entered, err := s.enterDraft(d)
	switch {
	case errors.Is(err, fs.ErrExist):
		return s.moveDraft(entered.Path)
	case err != nil || entered.ID == string(d.id):
		return err
	}
	return s.mergeInto(d, s.document(bridge.DocID(entered.ID)), entered.Path)
}

// enterDraft has a draft entered, and forgets it then: in this order, because a
// crash in between leaves the note in both documents, and in none in the other. It
// returns the entry at the draft's path, which may be another's.
func (s *Source) enterDraft(d *document) (folderdoc.Entry, error) {
	s.moving.Lock()
	defer s.moving.Unlock()
	entered := folderdoc.Entry{Path: s.draftOf(d.id), ID: string(d.id), Type: folderdoc.TypeMarkdown}
	rel := entered.Path
	if rel == "" {
		return entered, nil // removed meanwhile
	}
	err := s.restructure(func(shared *folderdoc.Folder) (err error) {
		if !shared.Holds(entered.ID) { // it was entered before a crash, if it does
			entered, err = shared.Create(entered, nil)
		}
		return err
	})
	if err != nil || entered.ID != string(d.id) {
		entered.Path = rel
		return entered, err
	}
	return entered, s.dropDraft(rel)
}

// dropDraft forgets a draft.
func (s *Source) dropDraft(rel string) error {
	return s.restructure(func(*folderdoc.Folder) error { return s.removeDraft(rel) })
}

func (s *Source) removeDraft(rel string) error {
	return s.drafts.Change(s.ctx, &bridge.Record{}, func(doc *ycrdt.Doc) error {
		f := folderdoc.Open(doc)
		if err := f.Delete(rel, nil); err != nil {
			return err
		}
		// The folders above it are the shared document's to tell of.
		list := f.List()
		for i, e := range slices.Backward(list) {
			last := i == len(list)-1 || !strings.HasPrefix(list[i+1].Path, e.Path+"/")
			if e.Type == folderdoc.TypeFolder && last {
				if err := f.Delete(e.Path, nil); err != nil {
					return err
				}
				list = slices.Delete(list, i, i+1)
			}
		}
		return nil
	})
}

// moveDraft gives a draft another name, because something that is not a note has
// come in its way, and enters it there.
func (s *Source) moveDraft(rel string) error {
	var to string
	for n := 2; ; n++ {
		to = fmt.Sprintf("%s %d.md", path.Base(strings.TrimSuffix(rel, path.Ext(rel))), n)
		if _, err := s.find("create", to); err != nil {
			break
		}
	}
	var id string
	err := s.restructure(func(*folderdoc.Folder) error {
		return s.drafts.Change(s.ctx, &bridge.Record{}, func(doc *ycrdt.Doc) error {
			f := folderdoc.Open(doc)
			e, _ := f.Get(rel)
			id = e.ID
			return f.Rename(rel, to, false, nil)
		})
	})
	if err != nil {
		return err
	}
	signal(s.relist)
	return s.promote(s.document(bridge.DocID(id)))
}

// mergeInto puts the text of a draft behind that of the note which came first.
func (s *Source) mergeInto(draft, note *document, rel string) error {
	ctx, cancel := context.WithTimeout(s.ctx, readerPatience)
	defer cancel()
	if err := s.sync.fetched(ctx, note); err != nil {
		return err
	}
	text, err := draft.text()
	if err != nil {
		return err
	}
	rec := s.authorOf(draft)
	err = note.Change(s.ctx, &rec, func(doc *ycrdt.Doc) error {
		contents := doc.Text(folderdoc.ContentsName)
		if have := contents.String(); text != "" && !strings.Contains(have, text) {
			doc.Transact(nil, func(tx *ycrdt.Txn) { contents.Insert(tx, contents.LenIn(tx), separated(have, text)) })
		}
		return nil
	})
	if err != nil {
		return err
	}
	s.changed(note)
	s.log.Info("two notes of one name became one", bridge.LogPath, rel)
	return s.dropDraft(rel)
}

// separated is text behind an empty line.
func separated(have, text string) string {
	switch {
	case have == "" || strings.HasSuffix(have, "\n\n"):
		return text
	case strings.HasSuffix(have, "\n"):
		return "\n" + text
	}
	return "\n\n" + text
}

// authorOf is a record for who wrote a document last.
func (s *Source) authorOf(d *document) bridge.Record {
	rec := bridge.Record{Time: time.Now().UTC()}
	h, err := s.o.Store.Load(d.id)
	if err != nil {
		return rec
	}
	for _, r := range h.Records {
		if r.Author != "" {
			rec.Author, rec.Session = r.Author, r.Session
		}
	}
	return rec
}
