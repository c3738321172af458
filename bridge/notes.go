package bridge

import (
	"context"
	"io/fs"
	"strings"

	"github.com/relayfs/relayfs/bridge/index"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/note"
)

// Open returns the current version of the note at p. It reads the source only if the note is not in memory. If the
// source syncs with a server, Open reports the use of the note to the source, except with a context from
// WithoutBlocking. Errors: fs.ErrNotExist, ErrNotNote, ErrIsDir, ErrOffline, fs.ErrPermission.
func (w *Workspace) Open(ctx context.Context, p model.Path) (*model.Version, error) {
	v, err := w.tree.Open(ctx, p)
	if err != nil || !model.MayBlock(ctx) {
		return v, err
	}
	if f, err := w.folderOf("open", p); err == nil && f != nil {
		if s, ok := f.Source.(model.Syncer); ok {
			s.Opened(w.tree.SourcePath(p))
		}
	}
	return v, nil
}

// OpenPendingDelete returns the current version of the note at the source path p whose deletion is pending, so that a
// user can read the text that would be lost. It returns fs.ErrNotExist if there is none.
func (w *Workspace) OpenPendingDelete(ctx context.Context, p model.Path) (*model.Version, error) {
	n := w.tree.HiddenAt(p)
	if n == nil || n.Kind != model.KindNote {
		return nil, &model.Error{Op: "open", Path: p, Err: fs.ErrNotExist}
	}
	return n.Note().Version(ctx)
}

// Stat describes p. If p is a note that is not in memory, Stat reads it, because the size is the size of the view.
func (w *Workspace) Stat(ctx context.Context, p model.Path) (Info, error) {
	n, info, err := w.tree.Info("stat", p)
	if err != nil {
		return Info{}, err
	}
	info.ReadOnly = info.ReadOnly || w.o.ReadOnly || w.tree.MayChange("write", p) != nil || n.Kind == model.KindFile && w.MayWriteFile(p) != nil
	if n.Kind != model.KindNote {
		return info, nil
	}
	v, err := n.Note().Version(ctx)
	if err != nil {
		return Info{}, err
	}
	info.Size, info.ModTime = int64(len(v.Text())), v.ModTime()
	info.ReadOnly = info.ReadOnly || v.ReadOnly()
	return info, nil
}

// NoteInfo describes the note at p without reading other notes. Errors: fs.ErrNotExist, ErrNotNote and ErrIsDir, and
// ErrOffline and similar errors if the note cannot be read.
func (w *Workspace) NoteInfo(ctx context.Context, p model.Path) (*index.NoteInfo, error) {
	v, err := w.Open(ctx, p)
	if err != nil {
		return nil, err
	}
	return index.NewNoteInfo(p, v), nil
}

// ReadDir lists a folder, or the roots of the workspace for "". It sorts by name; a folder sorts as if its name ended
// in '/'.
func (w *Workspace) ReadDir(_ context.Context, p model.Path) ([]Info, error) {
	return w.tree.List(p)
}

// Walk calls fn for everything below a folder, sorted by path. If the path does not name a folder, it calls fn for the
// path itself. It reads no notes. It stops at the first error of fn and returns it.
func (w *Workspace) Walk(ctx context.Context, under model.Path, fn func(Info) error) error {
	all, err := w.tree.Below(under)
	if err != nil {
		return err
	}
	for _, f := range all {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := fn(f); err != nil {
			return err
		}
	}
	return nil
}

// Resolve finds the path that s means. s may have a leading "/", be a path under the mountpoint, lack ".md", or use
// another Unicode composition. It may differ in case if only one name fits. Resolve follows symbolic links, so that
// each document has one path, and returns the path as the tree spells it. It returns fs.ErrNotExist if nothing fits.
func (w *Workspace) Resolve(s string) (model.Path, error) { return w.resolve(s, true) }

// ResolveName is Resolve for operations on the name itself, such as a move or a deletion: it does not follow a symbolic
// link at the end.
func (w *Workspace) ResolveName(s string) (model.Path, error) { return w.resolve(s, false) }

func (w *Workspace) resolve(s string, follow bool) (model.Path, error) {
	if mp := w.Mountpoint(); mp != "" {
		if rest, ok := strings.CutPrefix(s, mp); ok && (rest == "" || rest[0] == '/') {
			s = rest
		}
	}
	p, err := model.CleanPath(s)
	if err != nil {
		return "", err
	}
	return w.tree.Resolve(p, follow)
}

// Follow returns the path to which p leads through symbolic links, or fs.ErrNotExist.
func (w *Workspace) Follow(p model.Path) (model.Path, error) { return w.tree.Follow(p) }

// SourcePath returns the path of p in the source. It differs from p while a rename of p, or of a folder around it, is
// pending. If p does not exist, the error is fs.ErrNotExist.
func (w *Workspace) SourcePath(p model.Path) (model.Path, error) {
	n, err := w.tree.Find("stat", p)
	if err != nil {
		return "", err
	}
	return n.Location().SourcePath, nil
}

// NoteID returns the ID of the note at p, or 0. This includes a note whose deletion is pending, because a new note at p
// withdraws the deletion.
func (w *Workspace) NoteID(p model.Path) uint64 {
	n, err := w.tree.Find("stat", p)
	if err != nil {
		n = w.tree.HiddenAt(p)
	}
	if n == nil || n.Kind != model.KindNote {
		return 0
	}
	return n.ID
}

// Proposals lists the proposals at a path or below it, in the order in which they were made. A proposal is below a
// folder if its subject is there now or will be there after it is accepted.
func (w *Workspace) Proposals(_ context.Context, under model.Path) ([]model.Proposal, error) {
	return w.tree.Proposals(under)
}

// Write makes wr.Text the view of the note at p, merged with all changes since the writer read it. When Write returns,
// the change survives a crash of the process; see Sync for power cuts. Errors: fs.ErrNotExist, ErrNotNote, ErrReadOnly,
// ErrInvalidUTF8, ErrTooLarge, ErrRefused, ErrOffline, ErrNoSpace, fs.ErrPermission. If Write returns an error, the
// note does not get the text.
func (w *Workspace) Write(ctx context.Context, p model.Path, wr Write) (Result, error) {
	n, err := w.noteToWrite(p)
	if err != nil {
		return Result{}, err
	}
	return n.Write(ctx, p, wr)
}

// Update is Write for callers that compute the new text from the current one. It calls fn with the current version
// under the note's lock, and again if the file changed in the meantime. If fn returns an error, Update returns it
// unchanged and writes nothing.
func (w *Workspace) Update(ctx context.Context, p model.Path, author model.Author, origin any, fn func(current *model.Version) (string, error)) (Result, error) {
	n, err := w.noteToWrite(p)
	if err != nil {
		return Result{}, err
	}
	return n.Update(ctx, p, author, origin, fn)
}

func (w *Workspace) noteToWrite(p model.Path) (*note.Note, error) {
	if err := w.tree.MayChange("write", p); err != nil {
		return nil, err
	}
	return w.tree.FindNote("write", p)
}
