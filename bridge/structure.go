package bridge

import (
	"context"
	"errors"
	"io/fs"
	"time"

	"github.com/relayfs/relayfs/bridge/links"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/note"
)

// Operations on names that are done at once: create and make folder.

// Create makes a new note with wr.Text as its view: front matter plain, in
// suggest mode its body as additions. Missing parent folders are made.
// fs.ErrExist if the name is taken. After an error there is no note, unless somebody
// else has written to it meanwhile. At the name of a note that is proposed to be
// deleted it is that note, written anew.
func (w *Workspace) Create(ctx context.Context, p model.Path, wr Write) (Result, error) {
	if err := w.act.Begin(); err != nil {
		return Result{}, model.WrapError("create", p, err)
	}
	defer w.act.Done()
	f, s, err := w.structureAt("create", p)
	if err != nil {
		return Result{}, err
	}
	if !p.IsNote() {
		return Result{}, &model.Error{Op: "create", Path: p, Err: model.ErrNotNote}
	}
	if err := w.checkNew("create", p); err != nil {
		return Result{}, err
	}
	c, err := w.notes.Create(f.store, wr.Text, wr.By)
	if err != nil {
		return Result{}, model.WrapError("create", p, err)
	}
	if warning := links.NameWarning(p.Base()); warning != "" {
		c.Warn(warning)
	}
	res, err := w.createAt(ctx, f, s, p, c, wr)
	if errors.Is(err, errWasDeleted) {
		return w.Write(ctx, p, wr)
	}
	return res, err
}

// errWasDeleted says that a proposal to delete what is to be created was
// withdrawn: it is there again.
var errWasDeleted = errors.New("was to be deleted")

func (w *Workspace) createAt(ctx context.Context, f *folder, s model.Structure, p model.Path, c *note.Creation, wr Write) (Result, error) {
	f.names.Lock()
	defer f.names.Unlock()
	if err := w.mayWriteAnew(ctx, p, wr); err != nil {
		return Result{}, err
	}
	at, events, err := w.placeFor(ctx, f, s, p, false, Restructure{By: wr.By, Origin: wr.Origin})
	f.names.tell(events...)
	if err != nil {
		return Result{}, err
	}
	modTime := wr.ModTime
	if modTime.IsZero() {
		modTime = time.Now()
	}
	if docs, ok := f.source.(model.Documents); ok {
		stamp, err := c.KeepLive(ctx, docs, at.rel)
		if err != nil {
			return Result{}, model.WrapError("create", p, err)
		}
		n := w.put0(f, model.SourceEntry{Rel: at.rel, Mode: 0o644, Stamp: stamp}, wr.By)
		res := n.note.Create(c, stamp)
		f.names.tell(model.Event{Kind: model.EventCreated, Path: p, Version: res.Version, ViewChanged: true, Origin: wr.Origin})
		return res, w.showAt(f, n, at, wr.By)
	}
	stamp, err := s.Create(ctx, at.rel, model.NewFile{
		Data: []byte(c.Raw()), Mode: 0o644, ModTime: modTime,
		Meanwhile: func(post model.Stamp) error { return c.Keep(at.rel, post) },
	})
	if err != nil {
		return Result{}, model.WrapError("create", p, errors.Join(err, c.Abandon()))
	}
	c.Placed()
	node := w.put0(f, model.SourceEntry{Rel: at.rel, Mode: 0o644, Stamp: stamp}, wr.By)
	ev := model.Event{Kind: model.EventCreated, Path: p, ViewChanged: true, Origin: wr.Origin}
	if err := w.showAt(f, node, at, wr.By); err != nil {
		if w.retract(ctx, p, at.rel, s, stamp) {
			w.treeMu.Lock()
			w.vanish(node)
			w.treeMu.Unlock()
			f.names.tell(w.settle(f)...)
			return Result{}, model.WrapError("create", p, err)
		}
		ev.Path = f.node.path().Join(at.rel)
		f.names.tell(ev)
		return Result{}, model.WrapError("create", p, err)
	}
	res := node.note.Create(c, stamp)
	ev.Version = res.Version
	f.names.tell(ev)
	return res, nil
}

// retract takes the new file at rel, which stamp names, away again, since the store
// could not keep what belongs to it. It says whether it did: not if somebody has
// changed the file since.
func (w *Workspace) retract(ctx context.Context, p model.Path, rel string, s model.Structure, stamp model.Stamp) bool {
	err := errors.ErrUnsupported
	if r, ok := s.(model.Retractor); ok {
		err = r.Retract(ctx, rel, stamp)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		w.log.Error("a note that could not be made stays", model.LogPath, string(p), model.LogErr, err)
		return false
	}
	return true
}

// mayWriteAnew says whether the note at p that is proposed to be deleted, if there is
// one, takes the text: if not, it stays as it is, and so does the proposal.
func (w *Workspace) mayWriteAnew(ctx context.Context, p model.Path, wr Write) error {
	w.treeMu.RLock()
	dir := w.lookup(p.Dir())
	var had *node
	if dir != nil && dir.kind == model.KindDir && dir.children[p.Base()] == nil {
		had = dir.inSource(p.Base())
	}
	w.treeMu.RUnlock()
	if had == nil || !had.hidden() || had.note == nil {
		return nil
	}
	return had.note.MayWrite(ctx, p, wr.Text, wr.By)
}

// put0 is put of what the author has made, for callers that hold no lock of the
// tree. A person has no name.
func (w *Workspace) put0(f *folder, e model.SourceEntry, by model.Author) *node {
	w.treeMu.Lock()
	defer w.treeMu.Unlock()
	n, _ := w.put(f, e)
	n.usedBy(by)
	return n
}

// Mkdir makes a folder.
func (w *Workspace) Mkdir(ctx context.Context, p model.Path, o Restructure) error {
	if err := w.act.Begin(); err != nil {
		return model.WrapError("mkdir", p, err)
	}
	defer w.act.Done()
	f, s, err := w.structureAt("mkdir", p)
	if err == nil {
		err = w.checkNew("mkdir", p)
	}
	if err != nil {
		return err
	}
	f.names.Lock()
	events, err := w.mkdir(ctx, f, s, p, o)
	f.names.Unlock()
	w.act.Publish(events...)
	return err
}

func (w *Workspace) mkdir(ctx context.Context, f *folder, s model.Structure, p model.Path, o Restructure) ([]model.Event, error) {
	at, events, err := w.placeFor(ctx, f, s, p, true, o)
	if errors.Is(err, errWasDeleted) {
		return events, nil
	}
	if err != nil {
		return events, err
	}
	if err := s.Mkdir(ctx, at.rel); err != nil {
		return events, model.WrapError("mkdir", p, err)
	}
	n := w.put0(f, model.SourceEntry{Rel: at.rel, Dir: true, Mode: 0o755, Stamp: model.Stamp{ModTime: time.Now().UnixNano()}}, o.By)
	w.treeMu.Lock()
	n.madeBy = o.By
	w.treeMu.Unlock()
	if err := w.showAt(f, n, at, o.By); err != nil {
		return events, model.WrapError("mkdir", p, err)
	}
	return append(events, model.Event{Kind: model.EventCreated, Path: p, Dir: true, ViewChanged: true, Origin: o.Origin}), nil
}

// mayRestructure checks the policy and begins an operation.
func (w *Workspace) mayRestructure(op string, p model.Path, o Restructure) error {
	if err := w.structurePolicy(op, p, o); err != nil {
		return err
	}
	return model.WrapError(op, p, w.act.Begin())
}

// structurePolicy says why names are not to be changed in this workspace, if so.
func (w *Workspace) structurePolicy(op string, p model.Path, o Restructure) error {
	switch {
	case w.o.ReadOnly:
		return &model.Error{Op: op, Path: p, Err: model.ErrReadOnly}
	case w.o.Structure == StructureDeny && !o.Person:
		return &model.Error{Op: op, Path: p, Err: model.ErrNeedsReview}
	}
	return nil
}

// MayWrite says why no note can be written at p now, whatever its text, with the
// error that a Write or Create would have: so nobody is asked about what is refused
// then. nil promises nothing.
func (w *Workspace) MayWrite(p model.Path) error {
	if err := w.o.Locked(); err != nil {
		return &model.Error{Op: "write", Path: p, Err: err}
	}
	_, err := w.folderAt("write", p)
	return err
}

// MayWriteFile is MayWrite for WriteFile.
func (w *Workspace) MayWriteFile(p model.Path) error {
	if w.o.Mode != Direct && w.o.Structure == StructureDeny {
		return &model.Error{Op: "write", Path: p, Err: model.ErrNeedsReview}
	}
	_, _, err := w.structureAt("write", p)
	return err
}

// MayRestructure is MayWrite for a Rename or Remove at p.
func (w *Workspace) MayRestructure(p model.Path, o Restructure) error {
	err := w.structurePolicy("change", p, o)
	if err == nil {
		_, _, err = w.structureAt("change", p)
	}
	return err
}

// lockNotes takes the write locks of every note that the source has at or below
// n, in path order. names is held.
func (w *Workspace) lockNotes(n *node) (unlock func()) {
	var held []*note.Locked
	for _, x := range w.notesOf(n) {
		l := x.Lock()
		late, _ := l.Materialise(context.Background()) // or the old name would get the text
		n.folder.names.tell(late...)
		held = append(held, l)
	}
	return func() {
		for _, l := range held {
			l.Unlock()
		}
	}
}

// notesOf are the notes that the source has at or below n.
func (w *Workspace) notesOf(n *node) (notes []*note.Note) {
	w.treeMu.RLock()
	defer w.treeMu.RUnlock()
	n.walkSource(func(c *node) {
		if c.note != nil {
			notes = append(notes, c.note)
		}
	})
	return notes
}

// structureAt checks that names at p can be changed, and returns by what.
func (w *Workspace) structureAt(op string, p model.Path) (*folder, model.Structure, error) {
	f, err := w.folderAt(op, p)
	if err != nil {
		return nil, nil, err
	}
	s, ok := f.source.(model.Structure)
	if !ok {
		return nil, nil, &model.Error{Op: op, Path: p, Err: model.ErrReadOnly}
	}
	return f, s, nil
}

// folderAt is the folder of p, which is not its root, if it takes changes now.
func (w *Workspace) folderAt(op string, p model.Path) (*folder, error) {
	if w.o.ReadOnly {
		return nil, &model.Error{Op: op, Path: p, Err: model.ErrReadOnly}
	}
	name, rel := p.Split()
	if rel == "" {
		return nil, &model.Error{Op: op, Path: p, Err: fs.ErrPermission} // Folders come from the command line
	}
	w.treeMu.RLock()
	n := w.root.children[name]
	w.treeMu.RUnlock()
	if n == nil {
		return nil, &model.Error{Op: op, Path: p, Err: fs.ErrNotExist}
	}
	if n.folder.offline.Load() {
		return nil, &model.Error{Op: op, Path: p, Err: model.ErrOffline}
	}
	if err := n.folder.locked(); err != nil {
		return nil, &model.Error{Op: op, Path: p, Err: err}
	}
	return n.folder, nil
}

// checkNew refuses control characters in the names of p and of the folders above it
// that are not there.
func (w *Workspace) checkNew(op string, p model.Path) error {
	w.treeMu.RLock()
	defer w.treeMu.RUnlock()
	for q := p; q != "" && w.lookup(q) == nil; q = q.Dir() {
		if model.Path(q.Base()).HasControl() {
			return &model.Error{Op: op, Path: p, Err: model.ErrControlName}
		}
	}
	return nil
}
