package bridge

import (
	"context"
	"io/fs"
	"strings"
	"time"

	"github.com/relayfs/relayfs/bridge/index"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/note"
)

// Open returns the current version of the note at p. It reads the source only
// if the note is not in memory. A Source that is in step with a server is told, unless ctx is
// that of somebody who takes what is there. Errors: fs.ErrNotExist, ErrNotNote, ErrIsDir,
// ErrOffline, fs.ErrPermission.
func (w *Workspace) Open(ctx context.Context, p model.Path) (*model.Version, error) {
	v, err := w.tree.Open(ctx, p)
	if err != nil || !MayBlock(ctx) {
		return v, err
	}
	if f, err := w.folderOf("open", p); err == nil && f != nil {
		if s, ok := f.Source.(Syncer); ok {
			s.Opened(w.tree.SourcePath(p))
		}
	}
	return v, nil
}

// OpenPendingDelete returns the current version of the note that people have at p and that is proposed to be deleted,
// so that somebody can read what would be lost; fs.ErrNotExist if there is none.
func (w *Workspace) OpenPendingDelete(ctx context.Context, p model.Path) (*model.Version, error) {
	n := w.tree.HiddenAt(p)
	if n == nil || n.Kind != model.KindNote {
		return nil, &model.Error{Op: "open", Path: p, Err: fs.ErrNotExist}
	}
	return n.Note.Version(ctx)
}

// Stat describes what p names. A note that was never read is read, because its
// size is that of its view.
func (w *Workspace) Stat(ctx context.Context, p model.Path) (Info, error) {
	n, info, err := w.tree.Info("stat", p)
	if err != nil {
		return Info{}, err
	}
	info.ReadOnly = info.ReadOnly || w.o.ReadOnly || w.tree.MayChange("write", p) != nil || n.Kind == model.KindFile && w.MayWriteFile(p) != nil
	if n.Kind != model.KindNote {
		return info, nil
	}
	v, err := n.Note.Version(ctx)
	if err != nil {
		return Info{}, err
	}
	info.Size, info.ModTime = int64(len(v.Text())), v.ModTime()
	info.ReadOnly = info.ReadOnly || v.ReadOnly()
	return info, nil
}

// ModTime is when what p names changed last. Unlike Stat it reads nothing: a note
// that is not in memory changed when its file did.
func (w *Workspace) ModTime(p model.Path) (time.Time, error) {
	n, info, err := w.tree.Info("stat", p)
	if err != nil || n.Kind != model.KindNote {
		return info.ModTime, err
	}
	if last, loaded := n.Note.Changed(); loaded || last.After(info.ModTime) {
		return last, nil
	}
	return info.ModTime, nil
}

// NoteInfo describes the note at p, and reads no other. Errors: fs.ErrNotExist,
// ErrNotNote, ErrIsDir; ErrOffline and the like if the note could not be read.
func (w *Workspace) NoteInfo(ctx context.Context, p model.Path) (*index.NoteInfo, error) {
	v, err := w.Open(ctx, p)
	if err != nil {
		return nil, err
	}
	return index.NewNoteInfo(p, v), nil
}

// ReadDir lists a folder, or the workspace's Folders for "", sorted by name.
func (w *Workspace) ReadDir(_ context.Context, p model.Path) ([]Info, error) {
	return w.tree.List(p)
}

// Walk calls fn for everything below under, or for under itself if it is not a
// folder, sorted by path. It reads no note. An error of fn ends it.
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

// Resolve finds the path that somebody means who writes it freely: with a
// leading "/", as a path under the mountpoint, without ".md", in another Unicode
// composition, or in another case if only one name fits. It returns the path as
// the tree spells it, through symbolic links: what they lead to has one path;
// fs.ErrNotExist if nothing fits.
func (w *Workspace) Resolve(s string) (model.Path, error) { return w.resolve(s, true) }

// ResolveName is Resolve for who means the name and not what it leads to: to move it
// or to delete it. A symbolic link at the end is not followed.
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

// Follow is where the link at p leads; fs.ErrNotExist.
func (w *Workspace) Follow(p model.Path) (model.Path, error) { return w.tree.Follow(p) }

// SourcePath is where people have what is shown at p: somewhere else while it, or a
// folder that it is in, is proposed to be renamed. fs.ErrNotExist.
func (w *Workspace) SourcePath(p model.Path) (model.Path, error) {
	n, err := w.tree.Find("stat", p)
	if err != nil {
		return "", err
	}
	return n.Place().Peoples, nil
}

// HasNote says whether a note is at p: one that is shown there, or one that is
// proposed to be deleted, and that whoever writes at p writes again.
func (w *Workspace) HasNote(p model.Path) bool {
	n, err := w.tree.Find("stat", p)
	if err != nil {
		n = w.tree.HiddenAt(p)
	}
	return n != nil && n.Kind == model.KindNote
}

// Proposals lists the proposals at or below under, in the order in which they
// were made. One is below a folder if what it is about is there now, or is to be.
func (w *Workspace) Proposals(_ context.Context, under model.Path) ([]model.Proposal, error) {
	return w.tree.Proposals(under)
}

// Write makes wr.Text the view of the note at p, merged with what changed since
// the writer read it. It is durable when Write returns. Errors: fs.ErrNotExist,
// ErrNotNote, ErrReadOnly, ErrInvalidUTF8, ErrTooLarge, ErrRefused, ErrOffline,
// ErrNoSpace, fs.ErrPermission. After an error the note is as it was.
func (w *Workspace) Write(ctx context.Context, p model.Path, wr Write) (Result, error) {
	n, err := w.noteToWrite(p)
	if err != nil {
		return Result{}, err
	}
	return n.Write(ctx, p, wr)
}

// Update is Write for callers that compute the new text from the current one:
// fn is called with it, under the note's lock, and again if the file changed
// meanwhile. An error of fn is returned unchanged and nothing is written.
func (w *Workspace) Update(ctx context.Context, p model.Path, by model.Author, origin any, fn func(cur *model.Version) (string, error)) (Result, error) {
	n, err := w.noteToWrite(p)
	if err != nil {
		return Result{}, err
	}
	return n.Update(ctx, p, by, origin, fn)
}

// Preview returns the version that the note at p would have if text became its view. It changes nothing. Errors:
// those of Write.
func (w *Workspace) Preview(ctx context.Context, p model.Path, text string, by model.Author) (*model.Version, error) {
	n, err := w.noteToWrite(p)
	if err != nil {
		return nil, err
	}
	return n.Preview(ctx, p, text, by)
}

func (w *Workspace) noteToWrite(p model.Path) (*note.Note, error) {
	if err := w.tree.MayChange("write", p); err != nil {
		return nil, err
	}
	return w.tree.FindNote("write", p)
}
