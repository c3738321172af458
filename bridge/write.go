package bridge

import (
	"context"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/note"
)

// What the layers above say of notes.
type (
	Write      = note.Write
	Result     = note.Result
	Shared     = note.Shared
	Documents  = model.Documents
	Document   = model.Document
	Syncer     = model.Syncer
	SyncStatus = model.SyncStatus
)

// Waits says whether a Source is to wait; see model.Waits.
func Waits(ctx context.Context) bool { return model.Waits(ctx) }

// Write makes wr.Text the view of the note at p, merged with what changed since
// the writer read it. It is durable when Write returns. Errors: fs.ErrNotExist,
// ErrNotNote, ErrReadOnly, ErrInvalidUTF8, ErrTooLarge, ErrRefused, ErrOffline,
// ErrNoSpace, fs.ErrPermission. After an error the note is as it was.
func (w *Workspace) Write(ctx context.Context, p model.Path, wr Write) (Result, error) {
	n, err := w.findNote("write", p)
	if err != nil {
		return Result{}, err
	}
	return n.Write(ctx, p, wr)
}

// Update is Write for callers that compute the new text from the current one:
// fn is called with it, under the note's lock, and again if the file changed
// meanwhile. An error of fn is returned unchanged and nothing is written.
func (w *Workspace) Update(ctx context.Context, p model.Path, by model.Author, origin any, fn func(cur *model.Version) (string, error)) (Result, error) {
	n, err := w.findNote("write", p)
	if err != nil {
		return Result{}, err
	}
	return n.Update(ctx, p, by, origin, fn)
}

func (w *Workspace) change(ctx context.Context, c note.Change) (Result, error) {
	n, err := w.findNote("write", c.Path)
	if err != nil {
		return Result{}, err
	}
	return n.Change(ctx, c)
}

// OpenShared opens the note at p as a live document, which is made if the note
// has none yet. Errors: those of Open, and ErrReadOnly for a note that cannot
// be written. Close it at the end.
func (w *Workspace) OpenShared(ctx context.Context, p model.Path) (*Shared, error) {
	n, err := w.peoplesNote("open", p)
	if err != nil {
		return nil, err
	}
	return n.OpenShared(ctx, p)
}

// Subscribe calls fn after each change until cancel is called. fn runs on the
// goroutine that made the change, holding no lock of the workspace; it must
// return at once (put the event in a queue) and must not write to the workspace.
func (w *Workspace) Subscribe(fn func(model.Event)) (cancel func()) {
	return w.act.Subscribe(func(ev model.Event) {
		if w.reaches(ev.Path) {
			fn(ev)
		}
	})
}
