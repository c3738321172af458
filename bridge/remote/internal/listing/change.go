package listing

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/remote/folderdoc"
	"github.com/relayfs/relayfs/bridge/remote/internal/canvasdoc"
)

// Failed wraps err in the *fs.PathError that a Source returns. It returns nil if err is nil.
func Failed(op, rel string, err error) error {
	if err == nil {
		return nil
	}
	var pe *fs.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	if errors.Is(err, folderdoc.ErrPath) {
		err = model.ErrBadName
	}
	if errors.Is(err, folderdoc.ErrNotEmpty) {
		err = model.ErrNotEmpty
	}
	if errors.Is(err, canvasdoc.ErrFormat) {
		err = fmt.Errorf("%w: it %w", model.ErrContent, err)
	}
	return &fs.PathError{Op: op, Path: rel, Err: err}
}

// ChangeOwn runs fn, which may change the folder's document. The listing does not report these changes as changes by a
// peer.
func (l *Listing) ChangeOwn(fn func(*folderdoc.Folder) error) error {
	err := l.set.Folder.ChangeFolder(func(shared *folderdoc.Folder) error {
		if err := l.listed(shared, false); err != nil {
			return err
		}
		if err := fn(shared); err != nil {
			return err
		}
		return l.listed(shared, true)
	})
	if err != nil {
		l.Refresh()
	}
	return err
}

// Move runs fn, which moves a draft or an entry. Only one fn runs at a time.
func (l *Listing) Move(fn func() error) error {
	l.moveMu.Lock()
	defer l.moveMu.Unlock()
	return fn()
}

// updateBothIn runs fn on the folder's document and on the drafts. It returns fs.ErrNotExist only if both calls of fn
// return it.
func (l *Listing) updateBothIn(shared *folderdoc.Folder, fn func(*folderdoc.Folder) error) error {
	first := fn(shared)
	if first != nil && !errors.Is(first, fs.ErrNotExist) {
		return first
	}
	err := l.set.Drafts.ChangeFolder(fn)
	if errors.Is(err, fs.ErrNotExist) {
		return first
	}
	return err
}

func (l *Listing) Mkdir(rel string) error {
	if dir := model.Parent(rel); dir != "" {
		if e, err := l.Find("mkdir", dir); err != nil {
			return err
		} else if e.Type != folderdoc.TypeFolder {
			return Failed("mkdir", rel, model.ErrNotDir)
		}
	}
	if _, err := l.Find("mkdir", rel); err == nil {
		return Failed("mkdir", rel, fs.ErrExist)
	}
	return Failed("mkdir", rel, l.ChangeOwn(func(shared *folderdoc.Folder) error {
		_, err := shared.Create(folderdoc.Entry{Path: rel, Type: folderdoc.TypeFolder})
		return err
	}))
}

func (l *Listing) Rename(oldRel, newRel string, replace bool) error {
	if _, err := l.Find("rename", oldRel); err != nil {
		return err
	}
	if dir := model.Parent(newRel); dir != "" {
		if _, err := l.Find("rename", dir); err != nil {
			return err
		}
	}
	over, err := l.Find("rename", newRel)
	if hidden, err := l.Hidden(newRel); over.Path == "" && (err != nil || len(hidden) > 0) {
		return Failed("rename", newRel, cmp.Or(err, fs.ErrExist))
	}
	switch {
	case err != nil:
	case over.Type == folderdoc.TypeFolder && replace:
		return Failed("rename", newRel, model.ErrIsDir)
	case over.Type == folderdoc.TypeFolder || !replace:
		return Failed("rename", newRel, fs.ErrExist)
	}
	rename := func(f *folderdoc.Folder) error {
		err := f.Rename(oldRel, newRel, replace)
		if errors.Is(err, fs.ErrNotExist) && over.ID != "" { // a draft replaces a shared note
			_ = f.Delete(newRel)
		}
		return err
	}
	return Failed("rename", oldRel, l.Move(func() error {
		return l.ChangeOwn(func(shared *folderdoc.Folder) error { return l.updateBothIn(shared, rename) })
	}))
}

func (l *Listing) Remove(rel string) error {
	if _, err := l.Find("remove", rel); err != nil {
		return err
	}
	return Failed("remove", rel, l.Move(func() error {
		return l.ChangeOwn(func(shared *folderdoc.Folder) error {
			inside, err := l.Inside(shared, rel)
			if err != nil {
				return err
			}
			if len(inside) > 0 {
				return &model.NotEmptyError{Holds: inside}
			}
			return l.updateBothIn(shared, func(f *folderdoc.Folder) error { return f.Delete(rel) })
		})
	}))
}
