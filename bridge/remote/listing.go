package remote

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"time"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/folderdoc"
	"github.com/relayfs/relayfs/bridge/remote/transport"
	"github.com/relayfs/relayfs/bridge/token"
	"github.com/relayfs/relayfs/bridge/ycrdt"
)

// This file is about which notes the folder holds: what the server's folder
// document says, together with the drafts.

// failed makes an error of this package one of a Source.
func failed(op, rel string, err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	if errors.Is(err, folderdoc.ErrPath) {
		err = bridge.ErrBadName
	}
	if errors.Is(err, folderdoc.ErrNotEmpty) {
		err = bridge.ErrNotEmpty
	}
	return &fs.PathError{Op: op, Path: rel, Err: err}
}

// read returns what the two documents list, and the paths of what is hidden because
// of its name. The folder's mu is held.
func (s *Source) read(folder *ycrdt.Doc) (all []folderdoc.Entry, hidden []string, err error) {
	shared := folderdoc.Open(folder).List()
	var drafts []folderdoc.Entry
	err = s.drafts.View(s.ctx, func(doc *ycrdt.Doc, _ time.Time) error {
		drafts = folderdoc.Open(doc).List()
		return nil
	})
	drafts = slices.DeleteFunc(drafts, func(e folderdoc.Entry) bool { return s.isLoser(bridge.DocID(e.ID)) })
	all = slices.DeleteFunc(union(shared, drafts), func(e folderdoc.Entry) bool {
		if bridge.Path(e.Path).HasControl() {
			hidden = append(hidden, e.Path)
		}
		return !s.served(e)
	})
	return all, hidden, err
}

// union adds to the shared entries the drafts whose paths are free.
func union(shared, drafts []folderdoc.Entry) []folderdoc.Entry {
	all := slices.Clone(shared)
	taken := make(map[string]string, len(shared)) // path to type
	entered := make(map[string]bool, len(shared)) // ids
	for _, e := range shared {
		taken[e.Path], entered[e.ID] = e.Type, true
	}
	for _, e := range drafts {
		if _, is := taken[e.Path]; is || e.ID != "" && entered[e.ID] {
			continue
		}
		if dir := parent(e.Path); dir != "" && taken[dir] != folderdoc.TypeFolder {
			continue // a file has come where its folder was
		}
		taken[e.Path] = e.Type
		all = append(all, e)
	}
	slices.SortFunc(all, func(a, b folderdoc.Entry) int { return cmp.Compare(a.Path, b.Path) })
	return all
}

func parent(rel string) string { return string(bridge.Path(rel).Dir()) }

// served says whether an entry is shown: folders, attachments where they can be
// fetched, and Markdown named like it whose id can name a document. What has control
// characters in its name, or in a folder's, could not be told from other text.
func (s *Source) served(e folderdoc.Entry) bool {
	if bridge.Path(e.Path).HasControl() {
		return false
	}
	if e.Type == folderdoc.TypeFolder {
		return true
	}
	if isAttachment(e) {
		return s.attachments.cache != nil && token.ValidID(e.ID)
	}
	id := bridge.DocID(e.ID)
	return e.Type == folderdoc.TypeMarkdown && bridge.Path(e.Path).IsNote() &&
		token.ValidID(e.ID) && id != folderID && id != draftsID
}

// followListing brings the listing up to the folder's document until the source
// is closed.
func (s *Source) followListing() {
	for {
		select {
		case <-s.ctx.Done():
			return
		case <-s.relist:
			s.logged("list the folder", s.list(true))
		}
	}
}

// list brings the listing up to the folder's document, and reports the
// differences if report is set.
func (s *Source) list(report bool) error {
	return s.folder.View(s.ctx, func(doc *ycrdt.Doc, _ time.Time) error {
		return s.listed(doc, report)
	})
}

// listed is list for callers that hold the folder's mu.
func (s *Source) listed(doc *ycrdt.Doc, report bool) error {
	now, hidden, err := s.read(doc)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	now = s.here(now)
	if report {
		for _, c := range folderdoc.Diff(s.listing, now) {
			s.events = append(s.events, s.eventOf(c))
		}
	}
	s.listing, s.hidden = now, hidden
	s.byPath = make(map[string]folderdoc.Entry, len(now))
	var notes []bridge.DocID
	for _, e := range now {
		s.byPath[e.Path] = e
		if e.Type == folderdoc.TypeMarkdown {
			s.paths[bridge.DocID(e.ID)] = e.Path
			notes = append(notes, bridge.DocID(e.ID))
		}
	}
	s.sync.setNotes(notes)
	signal(s.wake)
	return nil
}

// eventOf describes a change of the listing to the workspace.
func (s *Source) eventOf(c folderdoc.Change) bridge.SourceEvent {
	kinds := [...]bridge.EventKind{
		folderdoc.Created: bridge.EventCreated, folderdoc.Removed: bridge.EventRemoved,
		folderdoc.Renamed: bridge.EventRenamed, folderdoc.Changed: bridge.EventChanged,
	}
	return bridge.SourceEvent{Kind: kinds[c.Kind], Rel: c.Path, OldRel: c.OldPath, Entry: s.entryOf(c.Entry)}
}

func (s *Source) entryOf(e folderdoc.Entry) bridge.SourceEntry {
	switch {
	case e.Type == folderdoc.TypeFolder:
		return bridge.SourceEntry{Rel: e.Path, Dir: true, Mode: 0o755}
	case isAttachment(e):
		return bridge.SourceEntry{Rel: e.Path, Mode: 0o644, Stamp: s.stampOf(e)}
	}
	return bridge.SourceEntry{Rel: e.Path, Mode: 0o644}
}

// find is the entry at rel.
func (s *Source) find(op, rel string) (folderdoc.Entry, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e, ok := s.byPath[rel]
	if !ok {
		return e, failed(op, rel, fs.ErrNotExist)
	}
	return e, nil
}

// firstContact is how long Scan waits for a server that was never seen.
const firstContact = 20 * time.Second

// Scan reports what the folder holds. It waits for the server only if nothing of
// the folder is in the store.
func (s *Source) Scan(ctx context.Context, found func(bridge.SourceEntry)) error {
	if err := s.firstContact(ctx); err != nil {
		return err
	}
	s.mu.Lock()
	listing := slices.Clone(s.listing)
	// What the listing has is reported by this scan; what comes later, by Run.
	s.events = nil
	s.mu.Unlock()
	for _, e := range listing {
		found(s.entryOf(e))
	}
	return ctx.Err()
}

func (s *Source) firstContact(ctx context.Context) error {
	empty, err := s.folder.isEmpty()
	if err != nil || !empty {
		return err
	}
	wait, cancel := context.WithTimeout(ctx, firstContact)
	defer cancel()
	if err := s.sync.awaitFolder(wait); err != nil {
		if cause := s.sync.lastError(); cause != nil {
			err = cause
		} else if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
			err = fmt.Errorf("%w: no answer within %v", transport.ErrUnreachable, firstContact)
		}
		return fmt.Errorf("%s: %w; nothing of the folder is kept here yet", s.o.Address, err)
	}
	return s.list(false)
}

// Create makes a new note or attachment.
func (s *Source) Create(ctx context.Context, rel string, data []byte, _ fs.FileMode, modTime time.Time) (bridge.Stamp, error) {
	if !bridge.Path(rel).IsNote() {
		return s.createAttachment(ctx, rel, data)
	}
	_, err := s.NewDocument(ctx, rel, &bridge.Record{Time: modTime.UTC()}, func(doc *ycrdt.Doc) error {
		text := doc.Text(folderdoc.ContentsName)
		doc.Transact(nil, func(tx *ycrdt.Txn) { text.Insert(tx, 0, string(data)) })
		return nil
	})
	if err != nil {
		return bridge.Stamp{}, err
	}
	_, stamp, err := s.Read(ctx, rel)
	return stamp, err
}

// NewDocument makes a new note: a draft, until the server has its content.
func (s *Source) NewDocument(ctx context.Context, rel string, rec *bridge.Record, fn func(*ycrdt.Doc) error) (bridge.Document, error) {
	if err := s.mayCreate(rel); err != nil {
		return nil, failed("create", rel, err)
	}
	d := s.document(bridge.DocID(folderdoc.NewID()))
	s.mu.Lock()
	s.paths[d.id] = rel
	s.mu.Unlock()
	s.sync.keep(d.id)
	err := d.Change(ctx, rec, func(doc *ycrdt.Doc) error {
		err := fn(doc)
		folderdoc.EnsureNonEmpty(doc, nil)
		return err
	})
	if err == nil {
		err = s.enter(ctx, d, rel)
	}
	if err != nil {
		return nil, failed("create", rel, err)
	}
	if !s.sync.isPending(d.id) {
		s.uploaded(d) // it was acknowledged before it was a draft
	}
	return d, nil
}

func (s *Source) mayCreate(rel string) error {
	if err := s.Locked(); err != nil {
		return err
	}
	if err := folderdoc.CheckPath(rel); err != nil {
		return err
	}
	if !bridge.Path(rel).IsNote() {
		return bridge.ErrNotNote
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, taken := s.byPath[rel]; taken {
		return fs.ErrExist
	}
	return nil
}

// enter makes a new document a draft.
func (s *Source) enter(ctx context.Context, d *document, rel string) error {
	return s.restructure(func(shared *folderdoc.Folder) error {
		if dir := parent(rel); dir != "" {
			if _, err := shared.Create(folderdoc.Entry{Path: dir, Type: folderdoc.TypeFolder}, nil); err != nil {
				return err
			}
		}
		return s.drafts.Change(ctx, &bridge.Record{}, func(doc *ycrdt.Doc) error {
			e, err := folderdoc.Open(doc).Create(folderdoc.Entry{Path: rel, ID: string(d.id), Type: folderdoc.TypeMarkdown}, nil)
			if err == nil && e.ID != string(d.id) {
				err = fs.ErrExist
			}
			return err
		})
	})
}

// restructure runs fn, which may change the folder's document, so that what fn
// does is not reported as another's doing.
func (s *Source) restructure(fn func(*folderdoc.Folder) error) error {
	err := s.folder.Change(s.ctx, &bridge.Record{}, func(doc *ycrdt.Doc) error {
		if err := s.listed(doc, true); err != nil {
			return err
		}
		if err := fn(folderdoc.Open(doc)); err != nil {
			return err
		}
		return s.listed(doc, false)
	})
	if err != nil {
		signal(s.relist)
	}
	return err
}

// both runs fn on the folder's document and on the drafts, and is content if the
// path is in one of them.
func (s *Source) both(op, rel string, fn func(*folderdoc.Folder) error) error {
	s.moving.Lock()
	defer s.moving.Unlock()
	err := s.restructure(func(shared *folderdoc.Folder) error { return s.inBoth(shared, fn) })
	if err != nil {
		return failed(op, rel, err)
	}
	return nil
}

func (s *Source) inBoth(shared *folderdoc.Folder, fn func(*folderdoc.Folder) error) error {
	first := fn(shared)
	if first != nil && !errors.Is(first, fs.ErrNotExist) {
		return first
	}
	err := s.drafts.Change(s.ctx, &bridge.Record{}, func(doc *ycrdt.Doc) error { return fn(folderdoc.Open(doc)) })
	if errors.Is(err, fs.ErrNotExist) {
		return first
	}
	return err
}

// Mkdir makes one folder.
func (s *Source) Mkdir(_ context.Context, rel string) error {
	if dir := parent(rel); dir != "" {
		if e, err := s.find("mkdir", dir); err != nil {
			return err
		} else if e.Type != folderdoc.TypeFolder {
			return failed("mkdir", rel, bridge.ErrNotDir)
		}
	}
	if _, err := s.find("mkdir", rel); err == nil {
		return failed("mkdir", rel, fs.ErrExist)
	}
	err := s.restructure(func(shared *folderdoc.Folder) error {
		_, err := shared.Create(folderdoc.Entry{Path: rel, Type: folderdoc.TypeFolder}, nil)
		return err
	})
	if err != nil {
		return failed("mkdir", rel, err)
	}
	return nil
}

// Rename moves a note or a folder with all that is in it.
func (s *Source) Rename(ctx context.Context, oldRel, newRel string, replace bool) error {
	if _, err := s.find("rename", oldRel); err != nil {
		return err
	}
	if dir := parent(newRel); dir != "" {
		if _, err := s.find("rename", dir); err != nil {
			return err
		}
	}
	over, err := s.find("rename", newRel)
	if hidden, err := s.Hidden(ctx, newRel); over.Path == "" && (err != nil || len(hidden) > 0) {
		return failed("rename", newRel, cmp.Or(err, fs.ErrExist))
	}
	switch {
	case err != nil:
	case over.Type == folderdoc.TypeFolder && replace:
		return failed("rename", newRel, bridge.ErrIsDir)
	case over.Type == folderdoc.TypeFolder || !replace:
		return failed("rename", newRel, fs.ErrExist)
	}
	return s.both("rename", oldRel, func(f *folderdoc.Folder) error {
		err := f.Rename(oldRel, newRel, replace, nil)
		if errors.Is(err, fs.ErrNotExist) && over.ID != "" { // a draft and a shared note
			_ = f.Delete(newRel, nil)
		}
		return err
	})
}

// Remove takes a note or an empty folder away. The content stays at the server.
func (s *Source) Remove(_ context.Context, rel string) error {
	if _, err := s.find("remove", rel); err != nil {
		return err
	}
	s.moving.Lock()
	defer s.moving.Unlock()
	err := s.restructure(func(shared *folderdoc.Folder) error {
		inside, err := s.inside(shared, rel)
		if err == nil && len(inside) > 0 {
			err = &bridge.NotEmptyError{Holds: inside}
		}
		if err != nil {
			return err
		}
		return s.inBoth(shared, func(f *folderdoc.Folder) error { return f.Delete(rel, nil) })
	})
	if err != nil {
		return failed("remove", rel, err)
	}
	return nil
}

// inside names what either of the documents has right below rel. The folder's mu is
// held.
func (s *Source) inside(shared *folderdoc.Folder, rel string) ([]string, error) {
	names := shared.Inside(rel)
	err := s.drafts.View(s.ctx, func(doc *ycrdt.Doc, _ time.Time) error {
		names = append(names, folderdoc.Open(doc).Inside(rel)...)
		return nil
	})
	slices.Sort(names)
	return slices.Compact(names), err
}

// Hidden names what the folder's document has at rel, or in the folder rel, and is
// not shown: canvases, attachments whose bytes are not here, and what a newer version
// of the format has.
func (s *Source) Hidden(_ context.Context, rel string) (hidden []string, err error) {
	err = s.folder.View(s.ctx, func(doc *ycrdt.Doc, _ time.Time) error {
		shared := folderdoc.Open(doc)
		s.mu.Lock()
		_, shown := s.byPath[rel]
		s.mu.Unlock()
		if !shown {
			if name := path.Base(rel); slices.Contains(shared.Inside(parent(rel)), name) {
				hidden = []string{name}
			}
			return nil
		}
		inside, err := s.inside(shared, rel)
		s.mu.Lock()
		defer s.mu.Unlock()
		hidden = slices.DeleteFunc(inside, func(name string) bool {
			_, shown := s.byPath[rel+"/"+name]
			return shown
		})
		return err
	})
	return hidden, err
}

// replaceText makes text hold now instead of have, by the one stretch in which
// they differ.
func replaceText(doc *ycrdt.Doc, text *ycrdt.Text, have, now string) {
	before, after := []rune(have), []rune(now)
	start := 0
	for start < len(before) && start < len(after) && before[start] == after[start] {
		start++
	}
	end := 0
	for end < len(before)-start && end < len(after)-start && before[len(before)-1-end] == after[len(after)-1-end] {
		end++
	}
	doc.Transact(nil, func(tx *ycrdt.Txn) {
		pos := utf16Len(before[:start])
		text.Delete(tx, pos, utf16Len(before[start:len(before)-end]))
		text.Insert(tx, pos, string(after[start:len(after)-end]))
	})
}

func utf16Len(runes []rune) int {
	n := len(runes)
	for _, r := range runes {
		if r > 0xFFFF {
			n++
		}
	}
	return n
}
