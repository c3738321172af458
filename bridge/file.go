package bridge

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/relayfs/relayfs/bridge/model"
)

// Files that are not notes: served byte for byte, and written whole.

// OpenFile opens what is there and is not a note, with the flags of os.OpenFile. In
// suggest mode files cannot be written: ErrReadOnly. A file whose new content is
// proposed is read as proposed.
func (w *Workspace) OpenFile(_ context.Context, p model.Path, flag int) (model.File, error) {
	writes := flag&(os.O_WRONLY|os.O_RDWR|os.O_TRUNC|os.O_APPEND) != 0
	if writes && !w.writesFiles() {
		return nil, &model.Error{Op: "open", Path: p, Err: model.ErrReadOnly}
	}
	if p.IsNote() {
		return nil, &model.Error{Op: "open", Path: p, Err: model.ErrNotNote}
	}
	n, err := w.find("open", p)
	if err != nil {
		return nil, err
	}
	switch n.kind {
	case model.KindDir:
		return nil, &model.Error{Op: "open", Path: p, Err: model.ErrIsDir}
	case model.KindLink:
		return nil, &model.Error{Op: "open", Path: p, Err: model.ErrNotNote}
	}
	files, ok := n.folder.source.(model.Files)
	if !ok {
		return nil, &model.Error{Op: "open", Path: p, Err: fs.ErrNotExist}
	}
	w.treeMu.RLock()
	rel := n.rel()
	var proposed *proposedFile
	if n.content != nil {
		proposed = n.content.open(p.Base())
	}
	w.treeMu.RUnlock()
	switch {
	case proposed != nil && writes:
		return nil, &model.Error{Op: "open", Path: p, Err: model.ErrReadOnly}
	case proposed != nil:
		return proposed, nil
	}
	opened, err := files.OpenFile(rel, flag, 0)
	return opened, model.WrapError("open", p, err)
}

// PutFile puts a new file with data and the permission bits perm in the place of the
// one at p, which is not a note, as a rename over it does: whoever has the old file
// open keeps that. In suggest mode files cannot be written: ErrReadOnly.
func (w *Workspace) PutFile(p model.Path, data []byte, perm fs.FileMode, o Restructure) error {
	if !w.writesFiles() {
		return &model.Error{Op: "write", Path: p, Err: model.ErrReadOnly}
	}
	f, _, err := w.structureAt("write", p)
	if err != nil {
		return err
	}
	if err := w.act.Begin(); err != nil {
		return model.WrapError("write", p, err)
	}
	defer w.act.Done()
	f.names.Lock()
	ev, err := w.putFile(f, p, data, perm, o)
	f.names.Unlock()
	w.act.Publish(ev...)
	return model.WrapError("write", p, err)
}

func (w *Workspace) putFile(f *folder, p model.Path, data []byte, perm fs.FileMode, o Restructure) ([]model.Event, error) {
	n, err := w.find("write", p)
	if err != nil {
		return nil, err
	}
	files, ok := f.source.(model.Files)
	switch {
	case n.kind == model.KindDir:
		return nil, model.ErrIsDir
	case n.kind != model.KindFile:
		return nil, model.ErrNotNote
	case !ok:
		return nil, model.ErrReadOnly
	case n.content != nil:
		return nil, model.ErrInTheWay // it was proposed, and that is to be decided on first
	}
	stamp, err := files.PutFile(n.rel(), data, perm)
	if err != nil {
		return nil, err
	}
	w.treeMu.Lock()
	defer w.treeMu.Unlock()
	n.update(model.SourceEntry{Mode: perm.Perm(), Stamp: stamp})
	return []model.Event{{Kind: model.EventChanged, Path: n.path(), ViewChanged: true, Origin: o.Origin}}, nil
}

// writesFiles says whether what is not a note can be written in place.
func (w *Workspace) writesFiles() bool { return !w.o.ReadOnly && w.o.Mode == Direct }

// CreateFile makes a new file that is not a note, empty, with the permission bits
// perm, to be filled through OpenFile. It is in the tree when CreateFile returns.
// fs.ErrExist if the name is taken, ErrReadOnly in suggest mode.
func (w *Workspace) CreateFile(ctx context.Context, p model.Path, perm fs.FileMode, o Restructure) error {
	switch {
	case p.IsNote():
		return &model.Error{Op: "create", Path: p, Err: model.ErrNotNote}
	case !w.writesFiles():
		return &model.Error{Op: "create", Path: p, Err: model.ErrReadOnly}
	}
	f, s, err := w.structureAt("create", p)
	if err != nil {
		return err
	}
	if err := w.act.Begin(); err != nil {
		return model.WrapError("create", p, err)
	}
	defer w.act.Done()
	f.names.Lock()
	events, err := w.createFile(ctx, f, s, p, perm, o)
	f.names.Unlock()
	w.act.Publish(events...)
	return model.WrapError("create", p, err)
}

func (w *Workspace) createFile(ctx context.Context, f *folder, s model.Structure, p model.Path, perm fs.FileMode, o Restructure) ([]model.Event, error) {
	files, ok := f.source.(model.Files)
	if !ok {
		return nil, model.ErrReadOnly
	}
	if _, err := w.find("create", p); err == nil {
		return nil, fs.ErrExist
	}
	at, events, err := w.placeFor(ctx, f, s, p, false, o)
	switch {
	case errors.Is(err, errWasDeleted): // it is there again, and is made anew
		return events, emptyFile(files, w.sourceRel(p))
	case err != nil:
		return events, err
	}
	e, err := makeEmpty(files, at.rel, perm)
	if err != nil {
		return events, err
	}
	err = w.showAt(f, w.put0(f, e, o.By), at, o.By)
	return append(events, model.Event{Kind: model.EventCreated, Path: p, ViewChanged: true, Origin: o.Origin}), err
}

// makeEmpty makes a file of the source.
func makeEmpty(files model.Files, rel string, perm fs.FileMode) (model.SourceEntry, error) {
	file, err := files.OpenFile(rel, os.O_CREATE|os.O_EXCL|os.O_RDWR, perm)
	if err != nil {
		return model.SourceEntry{}, err
	}
	info, err := file.Stat()
	if err = errors.Join(err, file.Close()); err != nil {
		return model.SourceEntry{}, err
	}
	return model.SourceEntry{Rel: rel, Mode: info.Mode(), Stamp: model.Stamp{Size: info.Size(), ModTime: info.ModTime().UnixNano()}}, nil
}

func emptyFile(files model.Files, rel string) error {
	file, err := files.OpenFile(rel, os.O_WRONLY|os.O_TRUNC, 0)
	if err != nil {
		return err
	}
	return file.Close()
}

// sourceRel is where the source has what is shown at p.
func (w *Workspace) sourceRel(p model.Path) string {
	w.treeMu.RLock()
	defer w.treeMu.RUnlock()
	return w.sourcePath(p)
}

// proposedFile is the content of a file as it is proposed. It is read-only.
type proposedFile struct {
	*bytes.Reader
	name string
	time time.Time
}

// open is the proposal as a file. treeMu is held.
func (p *proposal) open(name string) *proposedFile {
	return &proposedFile{bytes.NewReader(p.rec.New), name, p.rec.Time}
}

func (f *proposedFile) WriteAt([]byte, int64) (int, error) { return 0, model.ErrReadOnly }
func (f *proposedFile) Truncate(int64) error               { return model.ErrReadOnly }
func (f *proposedFile) Sync() error                        { return nil }
func (f *proposedFile) Close() error                       { return nil }
func (f *proposedFile) Stat() (fs.FileInfo, error)         { return proposedInfo{f}, nil }

// proposedInfo is the fs.FileInfo of a proposedFile.
type proposedInfo struct{ f *proposedFile }

func (i proposedInfo) Name() string       { return i.f.name }
func (i proposedInfo) Size() int64        { return i.f.Reader.Size() }
func (i proposedInfo) Mode() fs.FileMode  { return 0o644 }
func (i proposedInfo) ModTime() time.Time { return i.f.time }
func (i proposedInfo) IsDir() bool        { return false }
func (i proposedInfo) Sys() any           { return nil }

var _ io.ReaderAt = (*proposedFile)(nil)

// WriteFile makes data the content of the file at p, which is not a note and is
// created if it is missing, all of it or nothing. In suggest mode it is a
// proposal. Errors: ErrConflict if o.Base is not what readers are shown there now,
// ErrNotNote for a note's name, ErrIsDir, ErrTooLarge for more than MaxNote,
// ErrReadOnly, ErrNeedsReview where the structure policy denies it, ErrOffline,
// ErrNoSpace, fs.ErrPermission.
func (w *Workspace) WriteFile(ctx context.Context, p model.Path, data []byte, o Restructure) (Restructured, error) {
	switch {
	case p.IsNote():
		return Restructured{}, &model.Error{Op: "write", Path: p, Err: model.ErrNotNote}
	case len(data) > model.MaxNote:
		return Restructured{}, &model.Error{Op: "write", Path: p, Err: model.ErrTooLarge}
	}
	if err := w.MayWriteFile(p); err != nil {
		return Restructured{}, err
	}
	f, s, err := w.structureAt("write", p)
	if err == nil {
		err = w.checkNew("write", p)
	}
	if err == nil {
		err = model.WrapError("write", p, w.act.Begin())
	}
	if err != nil {
		return Restructured{}, err
	}
	defer w.act.Done()
	f.names.Lock()
	res, events, err := w.writeFile(ctx, f, s, p, data, o)
	f.names.Unlock()
	w.act.Publish(events...)
	return res, model.WrapError("write", p, err)
}

func (w *Workspace) writeFile(ctx context.Context, f *folder, s model.Structure, p model.Path, data []byte, o Restructure) (Restructured, []model.Event, error) {
	w.treeMu.RLock()
	n := w.lookup(p)
	w.treeMu.RUnlock()
	switch {
	case n != nil && n.kind == model.KindDir:
		return Restructured{}, nil, &model.Error{Op: "write", Path: p, Err: model.ErrIsDir}
	case n != nil && n.kind == model.KindLink:
		return Restructured{}, nil, &model.Error{Op: "write", Path: p, Err: model.ErrNotNote}
	case n == nil && o.Base != model.ContentSum{}:
		return Restructured{}, nil, &model.Error{Op: "write", Path: p, Err: fs.ErrNotExist}
	case n == nil:
		return w.newFile(ctx, f, s, p, data, o)
	case w.o.Mode != Direct:
		return w.proposeContent(ctx, f, n, data, o)
	}
	ev, err := w.replaceFile(ctx, f, s, n, data, o)
	return Restructured{}, ev, err
}

// newFile makes or proposes a file that is not there.
func (w *Workspace) newFile(ctx context.Context, f *folder, s model.Structure, p model.Path, data []byte, o Restructure) (Restructured, []model.Event, error) {
	at, events, err := w.placeFor(ctx, f, s, p, false, o)
	if errors.Is(err, errWasDeleted) {
		res, more, err := w.writeFile(ctx, f, s, p, data, o)
		return res, append(events, more...), err
	}
	if err == nil && at.dir == nil && w.o.Mode != Direct {
		var made []model.Event
		made, err = w.makeFolders(ctx, f, s, p.Dir(), o)
		events = append(events, made...)
		if err == nil {
			at.dir, err = w.find("write", p.Dir())
			at.name = p.Base()
		}
	}
	switch {
	case err != nil:
		return Restructured{}, events, err
	case w.o.Mode != Direct:
		id, err := w.proposeFile(f, at, data, o)
		return Restructured{Proposal: id}, append(events, model.Event{Kind: model.EventCreated, Path: p, ViewChanged: true, Origin: o.Origin}), err
	}
	stamp, err := s.Create(ctx, at.rel, model.NewFile{Data: data, Mode: 0o644, ModTime: time.Now()})
	if err != nil {
		return Restructured{}, events, err
	}
	n := w.put0(f, model.SourceEntry{Rel: at.rel, Mode: 0o644, Stamp: stamp}, o.By)
	err = w.showAt(f, n, at, o.By)
	return Restructured{}, append(events, model.Event{Kind: model.EventCreated, Path: p, ViewChanged: true, Origin: o.Origin}), err
}

// makeFolders makes the folders up to dir that are missing.
func (w *Workspace) makeFolders(ctx context.Context, f *folder, s model.Structure, dir model.Path, o Restructure) ([]model.Event, error) {
	if _, err := w.find("mkdir", dir); err == nil {
		return nil, nil
	}
	events, err := w.makeFolders(ctx, f, s, dir.Dir(), o)
	if err != nil {
		return events, err
	}
	made, err := w.mkdir(ctx, f, s, dir, o)
	return append(events, made...), err
}

// proposeFile shows a file that the source does not have.
func (w *Workspace) proposeFile(f *folder, at spot, data []byte, o Restructure) (string, error) {
	p := &proposal{rec: model.ProposalRecord{
		ID: newProposalID(), Kind: model.ProposedFile, ToDir: at.dir.rel(), Name: at.name,
		Author: o.By.Name, Session: o.By.Session, Time: time.Now().UTC(), New: data,
	}}
	if err := f.store.Propose(model.ProposalChange{Put: []model.ProposalRecord{p.rec}}); err != nil {
		return "", err
	}
	p.kept = p.rec
	w.treeMu.Lock()
	defer w.treeMu.Unlock()
	w.showFile(f, p, at.dir)
	return p.rec.ID, nil
}

// showFile makes the node of a file that the source does not have. treeMu is held.
func (w *Workspace) showFile(f *folder, p *proposal, dir *node) {
	p.node = w.newNode(dir, p.rec.Name, model.KindFile)
	p.node.home, p.node.content = new(home), p
	p.node.mode, p.node.modTime = 0o644, p.rec.Time
	dir.children[p.rec.Name] = p.node
	f.proposals = append(f.proposals, p)
}

// unlike says that a file which holds have is not what the writer had read.
func (o Restructure) unlike(have []byte) bool {
	return o.Base != model.ContentSum{} && o.Base != model.SumOf(string(have))
}

// proposeContent proposes data as the content of n, instead of what was proposed
// before; what is there already needs no proposal.
func (w *Workspace) proposeContent(ctx context.Context, f *folder, n *node, data []byte, o Restructure) (Restructured, []model.Event, error) {
	rec := model.ProposalRecord{
		ID: newProposalID(), Kind: model.ProposedFile, Rel: n.rel(), Author: o.By.Name, Session: o.By.Session,
		Time: time.Now().UTC(), New: data,
	}
	w.treeMu.RLock()
	old, virtual := n.content, n.virtual()
	if virtual {
		rec.ToDir, rec.Name = n.parent.rel(), n.name
	}
	w.treeMu.RUnlock()
	needless := false
	if !virtual {
		have, stamp, err := f.source.Read(ctx, rec.Rel)
		if err != nil {
			return Restructured{}, nil, err
		}
		rec.Old, rec.Stamp = append([]byte{}, have...), model.Stamp{Size: stamp.Size, ModTime: stamp.ModTime}
		needless = bytes.Equal(have, data)
	}
	shown := rec.Old
	if old != nil {
		// The writer was shown what was proposed, not what people did since.
		shown = old.rec.New
		rec.Old, rec.Stamp, rec.Stale = old.rec.Old, old.rec.Stamp, old.rec.Stale
	}
	if o.unlike(shown) {
		return Restructured{}, nil, model.ErrConflict
	}
	return w.putContent(f, n, rec, needless, o)
}

// putContent keeps and shows rec, or nothing if that is needless, in the place of
// what was proposed for n before.
func (w *Workspace) putContent(f *folder, n *node, rec model.ProposalRecord, needless bool, o Restructure) (Restructured, []model.Event, error) {
	change := model.ProposalChange{Put: []model.ProposalRecord{rec}}
	if needless {
		change.Put = nil
	}
	old := n.content
	if old != nil {
		change.Drop = []string{old.rec.ID}
	}
	if err := f.store.Propose(change); err != nil {
		return Restructured{}, nil, err
	}
	w.treeMu.Lock()
	defer w.treeMu.Unlock()
	if old != nil {
		f.withdraw(old)
	}
	ev := []model.Event{{Kind: model.EventChanged, Path: n.path(), ViewChanged: true, Origin: o.Origin}}
	if needless {
		return Restructured{}, ev, nil
	}
	n.content = &proposal{node: n, rec: rec, kept: rec}
	f.proposals = append(f.proposals, n.content)
	return Restructured{Proposal: rec.ID}, ev, nil
}

// replaceFile makes data the content of n at once.
func (w *Workspace) replaceFile(ctx context.Context, f *folder, s model.Structure, n *node, data []byte, o Restructure) ([]model.Event, error) {
	if n.content != nil {
		return nil, model.ErrInTheWay // it was proposed, and that is to be decided on first
	}
	for range maxAttempts {
		rel := n.rel()
		have, stamp, err := f.source.Read(ctx, rel)
		if err == nil && o.unlike(have) {
			return nil, model.ErrConflict
		}
		if err == nil && !bytes.Equal(have, data) {
			stamp, err = f.source.Replace(ctx, rel, model.Replacement{Expect: stamp, Data: data, ModTime: time.Now()})
		}
		if errors.Is(err, model.ErrConflict) {
			continue // somebody else saved it first
		}
		if err != nil {
			return nil, err
		}
		w.treeMu.Lock()
		defer w.treeMu.Unlock()
		n.update(model.SourceEntry{Mode: n.mode, Stamp: stamp})
		return []model.Event{{Kind: model.EventChanged, Path: n.path(), ViewChanged: true, Origin: o.Origin}}, nil
	}
	return nil, model.ErrConflict
}

// maxAttempts bounds how often a file is written anew because it changed meanwhile. Each
// time somebody else's save went through.
const maxAttempts = 32
