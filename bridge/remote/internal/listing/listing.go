package listing

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/remote/folderdoc"
	"github.com/relayfs/relayfs/bridge/remote/internal/replica"
	"github.com/relayfs/relayfs/bridge/remote/token"
)

type Listing struct {
	set         *replica.Set
	attachments *Attachments
	notes       func([]model.DocID) // see New
	ctx         context.Context
	relist      model.Signal // set when the folder's document has changed
	changed     model.Signal // set when there are changes to report

	// moveMu is held while a draft becomes an entry, and while entries are moved or removed, so that these operations
	// find a note in exactly one of the two documents: the folder's document or the drafts. It is taken before all
	// other locks.
	moveMu sync.Mutex

	mu       sync.Mutex // guards the fields below
	paths    map[model.DocID]string
	unlisted map[model.DocID]bool // drafts that are not listed yet
	entries  []folderdoc.Entry    // the listed entries, sorted by path
	byPath   map[string]folderdoc.Entry
	byID     map[model.DocID][]folderdoc.Entry // listed documents
	hidden   []string                          // paths that are not listed because of their names
	shown    []folderdoc.Entry                 // the entries that the workspace had before since
	since    []folderdoc.Change                // the changes by this process, and those that were reported
	steps    []folderdoc.Change                // the changes to report: they lead from shown after since to entries
	relisted bool                              // entries has changed since steps was made
	dirty    map[model.DocID]int               // documents with changes to report, and the number of their entries that were reported
}

// New returns a Listing. It is empty until List is called. Run then updates it until ctx ends. Each update calls notes
// with the notes and canvases of the folder, while the listing's lock is held.
func New(ctx context.Context, set *replica.Set, a *Attachments, notes func([]model.DocID)) *Listing {
	return &Listing{
		set: set, attachments: a, notes: notes, ctx: ctx, relist: model.NewSignal(), changed: model.NewSignal(), dirty: make(map[model.DocID]int),
		paths: make(map[model.DocID]string), unlisted: make(map[model.DocID]bool),
	}
}

// read returns the entries of both documents that can be listed, and the paths that are hidden because of their names.
func (l *Listing) read(shared *folderdoc.Folder) (all []folderdoc.Entry, hidden []string, err error) {
	var drafts []folderdoc.Entry
	err = l.set.Drafts.ViewFolder(func(folder *folderdoc.Folder) error {
		drafts = folder.List()
		return nil
	})
	drafts = slices.DeleteFunc(drafts, func(e folderdoc.Entry) bool { return l.IsHidden(model.DocID(e.ID)) })
	all = slices.DeleteFunc(union(shared.List(), drafts), func(e folderdoc.Entry) bool {
		if model.Path(e.Path).HasControl() {
			hidden = append(hidden, e.Path)
		}
		return !l.served(e)
	})
	return all, hidden, err
}

// union returns the shared entries, and the drafts that are not shared and whose paths are free.
func union(shared, drafts []folderdoc.Entry) []folderdoc.Entry {
	all := slices.Clone(shared)
	taken := make(map[string]string, len(shared)) // maps a path to the entry's type
	entered := make(map[string]bool, len(shared)) // by ID, true for shared entries
	for _, e := range shared {
		taken[e.Path], entered[e.ID] = e.Type, true
	}
	for _, e := range drafts {
		if _, ok := taken[e.Path]; ok || e.ID != "" && entered[e.ID] {
			continue
		}
		if dir := model.Parent(e.Path); dir != "" && taken[dir] != folderdoc.TypeFolder {
			continue // the draft's folder has become a file
		}
		taken[e.Path] = e.Type
		all = append(all, e)
	}
	slices.SortFunc(all, func(a, b folderdoc.Entry) int { return cmp.Compare(a.Path, b.Path) })
	return all
}

// served reports whether an entry can be listed once its content is here. This is true for folders, for attachments if
// they can be fetched, and for notes (Markdown with a note's name) and canvases with a valid ID. Paths with control
// characters are not served, since they could be confused with other text in output.
func (l *Listing) served(e folderdoc.Entry) bool {
	if model.Path(e.Path).HasControl() {
		return false
	}
	if e.Type == folderdoc.TypeFolder {
		return true
	}
	if IsAttachment(e) {
		return l.attachments.Served() && token.ValidID(e.ID)
	}
	id := model.DocID(e.ID)
	_, document := replica.FormatOf(e.Type)
	return document && (e.Type == folderdoc.TypeMarkdown) == model.Path(e.Path).IsNote() &&
		token.ValidID(e.ID) && id != replica.FolderID && id != replica.DraftsID
}

// Run updates the listing until the context of New ends.
func (l *Listing) Run() {
	for range l.relist.Each(l.ctx) {
		l.set.Logged("list the folder", l.List(false))
	}
}

func (l *Listing) Refresh() { l.relist.Set() }

// List updates the listing from the folder's document and the drafts. It reports the differences, unless they are this
// process's own changes.
func (l *Listing) List(own bool) error {
	return l.set.Folder.ViewFolder(func(shared *folderdoc.Folder) error { return l.listed(shared, own) })
}

func (l *Listing) listed(shared *folderdoc.Folder, own bool) error {
	now, hidden, err := l.read(shared)
	if err != nil {
		return err
	}
	awaited := l.withoutContent(now)
	l.mu.Lock()
	defer l.mu.Unlock()
	var documents []model.DocID
	for _, e := range now {
		if _, ok := replica.FormatOf(e.Type); ok {
			l.paths[model.DocID(e.ID)] = e.Path
			documents = append(documents, model.DocID(e.ID))
		}
	}
	now = slices.DeleteFunc(now, func(e folderdoc.Entry) bool { return awaited[e.ID] })
	var missing []folderdoc.Entry
	now, missing = withBytes(now, l.byPath, l.attachments)
	l.attachments.Fetch(missing)
	reported := !l.relisted && len(l.steps) == 0
	if reported {
		l.shown, l.since = l.entries, nil
	}
	switch {
	case slices.Equal(l.entries, now):
	case own && reported:
		l.shown = now
	default:
		if own {
			l.since = append(l.since, folderdoc.Diff(l.entries, now)...)
		}
		l.relisted = true
		l.changed.Set()
	}
	l.entries, l.hidden = now, hidden
	l.byPath, l.byID = make(map[string]folderdoc.Entry, len(now)), make(map[model.DocID][]folderdoc.Entry, len(documents))
	for _, e := range now {
		l.byPath[e.Path] = e
		if _, ok := replica.FormatOf(e.Type); ok {
			l.byID[model.DocID(e.ID)] = append(l.byID[model.DocID(e.ID)], e)
		}
	}
	l.notes(documents)
	return nil
}

// withoutContent returns the IDs of the canvases that are not listed yet. A value is true if the canvas has no content,
// or if the content was not fetched yet.
func (l *Listing) withoutContent(entries []folderdoc.Entry) map[string]bool {
	ids := make(map[string]bool)
	for _, e := range entries {
		if e.Type != folderdoc.TypeCanvas {
			continue
		}
		if shown, err := l.Find("list", e.Path); err == nil && shown.ID == e.ID {
			continue
		}
		empty, err := l.set.Document(model.DocID(e.ID)).IsEmpty()
		l.set.Logged("read a canvas", err)
		ids[e.ID] = empty || err != nil
	}
	return ids
}

// withBytes returns the entries to list, and the attachments whose current bytes are missing. An attachment with
// missing bytes is listed with its previous entry, or omitted if it was not listed before.
func withBytes(entries []folderdoc.Entry, before map[string]folderdoc.Entry, have *Attachments) (kept, missing []folderdoc.Entry) {
	kept = entries[:0]
	for _, e := range entries {
		if IsAttachment(e) && !have.Has(e) {
			missing = append(missing, e)
			old, shown := before[e.Path]
			if !shown || old.ID != e.ID {
				continue
			}
			e = old
		}
		kept = append(kept, e)
	}
	return kept, missing
}

func (l *Listing) eventOf(c folderdoc.Change) model.SourceEvent {
	kinds := [...]model.EventKind{
		folderdoc.Created: model.EventCreated, folderdoc.Removed: model.EventRemoved,
		folderdoc.Renamed: model.EventRenamed, folderdoc.Changed: model.EventChanged,
	}
	return model.SourceEvent{Kind: kinds[c.Kind], Rel: c.Path, OldRel: c.OldPath, Entry: l.entryOf(c.Entry)}
}

func (l *Listing) entryOf(e folderdoc.Entry) model.SourceEntry {
	switch {
	case e.Type == folderdoc.TypeFolder:
		return model.SourceEntry{Rel: e.Path, Dir: true, Mode: 0o755}
	case IsAttachment(e):
		return model.SourceEntry{Rel: e.Path, Mode: 0o644, Stamp: l.attachments.Stamp(e)}
	case e.Type == folderdoc.TypeCanvas:
		format, _ := replica.FormatOf(e.Type)
		_, stamp, err := l.set.Document(model.DocID(e.ID)).Read(format)
		l.set.Logged("read a canvas", err)
		return model.SourceEntry{Rel: e.Path, Mode: 0o644, Stamp: stamp}
	}
	return model.SourceEntry{Rel: e.Path, Mode: 0o644}
}
