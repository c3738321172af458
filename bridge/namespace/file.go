package namespace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/relayfs/relayfs/bridge/filetype"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/namespace/internal/tree"
	"github.com/relayfs/relayfs/bridge/note"
)

// OpenFile opens a file that is not a note, with the flags of os.OpenFile. In suggest mode files cannot be written
// (ErrReadOnly). If a proposal has new content for the file, reads return that content, and opening the file for
// writing fails with ErrReadOnly.
func (n *Namespace) OpenFile(_ context.Context, p model.Path, flag int) (model.File, error) {
	writes := flag&(os.O_WRONLY|os.O_RDWR|os.O_TRUNC|os.O_APPEND) != 0
	if writes {
		if err := n.WritesFiles(); err != nil {
			return nil, &model.Error{Op: "open", Path: p, Err: err}
		}
	}
	if p.IsNote() {
		return nil, &model.Error{Op: "open", Path: p, Err: model.ErrNotNote}
	}
	x, err := n.tree.Find("open", p)
	if err == nil && writes {
		err = n.tree.MayChange("open", p)
	}
	if err != nil {
		return nil, err
	}
	switch x.Kind {
	case model.KindDir:
		return nil, &model.Error{Op: "open", Path: p, Err: model.ErrIsDir}
	case model.KindLink:
		return nil, &model.Error{Op: "open", Path: p, Err: model.ErrNotNote}
	}
	files, ok := x.Root.Source.(model.Files)
	if !ok {
		return nil, &model.Error{Op: "open", Path: p, Err: fs.ErrNotExist}
	}
	st := x.State()
	switch {
	case st.Content != nil && writes:
		return nil, &model.Error{Op: "open", Path: p, Err: model.ErrReadOnly}
	case st.Content != nil:
		rec := st.Content.Record()
		return model.FileOf(p.Base(), rec.New, rec.Time), nil
	}
	opened, err := files.OpenFile(st.Rel, flag, 0)
	return opened, model.WrapError("open", p, err)
}

// ReadFile returns the content of the file at p, which is not a note. most is the maximum number of bytes; for a longer
// file ReadFile returns its first bytes and ErrTooLarge.
func (n *Namespace) ReadFile(ctx context.Context, p model.Path, most int64) ([]byte, error) {
	f, err := n.OpenFile(ctx, p, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.NewSectionReader(f, 0, most+1))
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, fmt.Errorf("read %q: %w", string(p), err)
	}
	if int64(len(data)) > most {
		return data[:most], &model.Error{Op: "open", Path: p, Err: model.ErrTooLarge}
	}
	return data, nil
}

// PutFile replaces the file at p, which is not a note, with a new file that has the content data and the permission
// bits perm. It works like a rename over the old file: programs that have the old file open keep it. A missing file is
// created. In suggest mode files cannot be written (ErrReadOnly).
func (n *Namespace) PutFile(ctx context.Context, p model.Path, data []byte, perm fs.FileMode, o ChangeRequest) error {
	if err := n.WritesFiles(); err != nil {
		return &model.Error{Op: "write", Path: p, Err: err}
	}
	if err := n.MayWriteFile(p); err != nil {
		return err
	}
	return n.change("write", p, func(l *Locked) error {
		x, err := n.tree.Find("write", p)
		if err != nil {
			_, err = n.newFile(ctx, l, p, data, perm, o)
			return err
		}
		files, ok := l.Source.(model.Files)
		st := x.State()
		switch {
		case x.Kind == model.KindDir:
			return model.ErrIsDir
		case x.Kind != model.KindFile:
			return model.ErrNotNote
		case !ok:
			return model.ErrReadOnly
		case st.Content != nil:
			return model.ErrNameTaken // the user must first decide on the proposed content
		}
		stamp, err := files.PutFile(st.Rel, data, perm)
		if err != nil {
			return err
		}
		l.SetMode(x, perm.Perm())
		l.SetStamp(x, stamp)
		l.QueueEvents(model.Event{Kind: model.EventChanged, Path: st.Path, ViewChanged: true, Origin: o.Origin, By: o.Author})
		return nil
	})
}

// RetractFile permanently removes the file at p, which a program has just created with this content. The file does not
// go to the source's trash. If the file has been changed or replaced since then, RetractFile changes nothing and
// returns ErrConflict.
func (n *Namespace) RetractFile(ctx context.Context, p model.Path, data []byte, o ChangeRequest) error {
	return n.change("retract", p, func(l *Locked) error {
		x, err := n.tree.Find("retract", p)
		if err != nil {
			return err
		}
		from, ok := l.Structure.(model.Retractor)
		st := x.State()
		if st.Proposed && bytes.Equal(st.Content.Record().New, data) {
			_, err = l.Delete(ctx, x, o.Author, o.Origin)
			return err
		}
		if !ok || x.Kind != model.KindFile || st.Proposed || st.Moved || st.Content != nil || st.Pending != nil {
			return model.ErrConflict
		}
		have, stamp, err := l.Source.Read(ctx, st.Rel)
		if err == nil && !bytes.Equal(have, data) {
			err = model.ErrConflict
		}
		if err == nil {
			err = from.Retract(ctx, st.Rel, stamp)
		}
		if err != nil {
			return err
		}
		l.RemoveFromSource(x, false)
		l.QueueEvents(model.Event{Kind: model.EventRemoved, Path: p, ViewChanged: true, Origin: o.Origin, By: o.Author})
		return nil
	})
}

// WritesFiles returns nil if files that are not notes can be created and written in place. Otherwise it returns
// ErrReadOnly: the workspace is read-only, or it is in suggest mode and WriteFile can only propose content.
func (n *Namespace) WritesFiles() error {
	if n.config.ReadOnly || n.config.Mode != note.Direct {
		return model.ErrReadOnly
	}
	return nil
}

// IsProposed reports whether p shows a file that exists only in a proposal.
func (n *Namespace) IsProposed(p model.Path) bool {
	x, err := n.tree.Find("stat", p)
	return err == nil && x.State().Proposed
}

// checkContent returns an error if data is too large, or is not valid for the type of file that p names.
func checkContent(p model.Path, data []byte) error {
	if len(data) > model.MaxNote {
		return &model.Error{Op: "write", Path: p, Err: model.ErrTooLarge}
	}
	if err := filetype.TypeOf(string(p)).Check(string(data)); err != nil {
		return &model.Error{Op: "write", Path: p, Err: model.RefusedError(err)}
	}
	return nil
}

// CreateFile creates an empty file that is not a note, with the permission bits perm, to be filled through OpenFile.
// The file is in the tree when CreateFile returns. If the deletion of a file at p is proposed, CreateFile withdraws the
// proposal and empties that file. It returns fs.ErrExist if the name is taken, and ErrReadOnly in suggest mode.
func (n *Namespace) CreateFile(ctx context.Context, p model.Path, perm fs.FileMode, o ChangeRequest) error {
	if p.IsNote() {
		return &model.Error{Op: "create", Path: p, Err: model.ErrNotNote}
	}
	if err := n.WritesFiles(); err != nil {
		return &model.Error{Op: "create", Path: p, Err: err}
	}
	if err := n.MayWriteFile(p); err != nil {
		return err
	}
	return n.change("create", p, func(l *Locked) error {
		files, ok := l.Source.(model.Files)
		if !ok {
			return model.ErrReadOnly
		}
		if _, err := n.tree.Find("create", p); err == nil {
			return fs.ErrExist
		}
		at, err := n.placeFor(ctx, l, p, false, o)
		switch {
		case errors.Is(err, errDeletionWithdrawn): // the file is shown again, with its old content: truncate it
			return emptyFile(files, n.tree.SourcePath(p))
		case err != nil:
			return err
		}
		e, err := makeEmpty(files, at.Rel, perm)
		if err != nil {
			return err
		}
		err = l.ShowAt(ctx, put(l, e, o.Author), at, o.Author)
		l.QueueEvents(created(p, o))
		return err
	})
}

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

func (n *Namespace) MayWriteFile(p model.Path) error {
	if n.config.Mode != note.Direct && n.config.Structure == Deny {
		return &model.Error{Op: "write", Path: p, Err: model.ErrNeedsReview}
	}
	if err := n.writable("write", p); err != nil {
		return err
	}
	f, err := n.structureAt("write", p)
	if err != nil {
		return err
	}
	if err := n.tree.CheckNew("write", p); err != nil {
		return err
	}
	if c, ok := f.Source.(model.FileChecker); ok {
		return model.WrapError("write", p, c.CheckFile(n.tree.SourcePath(p)))
	}
	return nil
}

// WriteFile atomically makes data the content of the file at p, which is not a note. It creates a missing file. In
// suggest mode the change is a proposal. Errors: ErrConflict if o.Base is set and is not the sum of the content that
// readers see there now, ErrNotNote for a note's name, ErrIsDir, ErrTooLarge for more than MaxNote, ErrRefused for a
// canvas or base that is not valid, ErrReadOnly, ErrNameTaken in direct mode while a proposal has new content for the
// file, ErrNeedsReview where the structure policy denies it, ErrOffline, ErrNoSpace, fs.ErrPermission.
func (n *Namespace) WriteFile(ctx context.Context, p model.Path, data []byte, o ChangeRequest) (res ChangeResult, err error) {
	if p.IsNote() {
		return ChangeResult{}, &model.Error{Op: "write", Path: p, Err: model.ErrNotNote}
	}
	if err := checkContent(p, data); err != nil {
		return ChangeResult{}, err
	}
	if err := n.MayWriteFile(p); err != nil {
		return ChangeResult{}, err
	}
	err = n.change("write", p, func(l *Locked) (err error) {
		if m := model.MergerOf(l.Source, n.tree.SourcePath(p)); m != nil {
			data, err = m.Normalize(data)
		}
		if err == nil {
			res.Proposal, err = n.writeFile(ctx, l, p, data, o)
		}
		return err
	})
	return res, err
}

func (n *Namespace) writeFile(ctx context.Context, l *Locked, p model.Path, data []byte, o ChangeRequest) (id string, err error) {
	x, err := n.tree.Find("write", p)
	switch {
	case err != nil && o.Base != model.ContentSum{}:
		return "", err
	case err != nil:
		return n.newFile(ctx, l, p, data, 0, o)
	case x.Kind == model.KindDir:
		return "", &model.Error{Op: "write", Path: p, Err: model.ErrIsDir}
	case x.Kind == model.KindLink:
		return "", &model.Error{Op: "write", Path: p, Err: model.ErrNotNote}
	case n.config.Mode != note.Direct:
		return l.Content(ctx, x, data, o.Base, o.Author, o.Origin)
	}
	st := x.State()
	if st.Content != nil {
		return "", model.ErrNameTaken // the user must first decide on the proposed content
	}
	_, _, err = l.Rewrite(ctx, x, time.Now(), func(have []byte) ([]byte, error) {
		if o.Base != (model.ContentSum{}) && o.Base != model.SumOf(string(have)) {
			return nil, model.ErrConflict
		}
		return data, nil
	})
	if err == nil {
		l.QueueEvents(model.Event{Kind: model.EventChanged, Path: st.Path, ViewChanged: true, Origin: o.Origin, By: o.Author})
	}
	return "", err
}

func (n *Namespace) newFile(ctx context.Context, l *Locked, p model.Path, data []byte, perm fs.FileMode, o ChangeRequest) (id string, err error) {
	at, err := n.placeFor(ctx, l, p, false, o)
	switch {
	case errors.Is(err, errDeletionWithdrawn):
		return n.writeFile(ctx, l, p, data, o)
	case err != nil:
		return "", err
	case n.config.Mode != note.Direct:
		return n.proposeFile(ctx, l, p, at, data, o)
	}
	x, _, err := makeFile(ctx, l, at.Rel, model.NewFile{Data: data, Mode: perm, ModTime: time.Now()}, o.Author)
	if err != nil {
		return "", err
	}
	err = l.ShowAt(ctx, x, at, o.Author)
	l.QueueEvents(created(p, o))
	return "", err
}

func (n *Namespace) proposeFile(ctx context.Context, l *Locked, p model.Path, at tree.Destination, data []byte, o ChangeRequest) (id string, err error) {
	if at.Dir == nil {
		if err = n.makeFolders(ctx, l, p.Dir(), o); err == nil {
			at.Name = p.Base()
			at.Dir, err = n.tree.Find("write", p.Dir())
		}
	}
	if err == nil {
		id, err = l.File(at, data, o.Author)
	}
	if err == nil {
		l.QueueEvents(created(p, o))
	}
	return id, err
}
