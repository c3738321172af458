package namespace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/relayfs/relayfs/bridge/index/links"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/namespace/internal/tree"
	"github.com/relayfs/relayfs/bridge/note"
)

// errDeletionWithdrawn is the error for a name that belonged to a node with a pending deletion. The deletion has been
// withdrawn, and the tree shows the node again.
var errDeletionWithdrawn = errors.New("its pending deletion was withdrawn")

// Create creates a new note with wr.Text as its view. The front matter is plain text; in suggest mode the body is an
// addition. Create also creates missing parent folders. It returns fs.ErrExist if the name is taken. If Create cannot
// show the new note at p, it removes the note again, unless another writer has changed it in the meantime. If the
// deletion of a note at p is proposed, Create withdraws the proposal and writes the text to that note. wr.Base is then by
// default the version that the note had when its deletion was proposed.
func (n *Namespace) Create(ctx context.Context, p model.Path, wr note.Write) (res note.Result, err error) {
	start := time.Now()
	err = n.change("create", p, func(l *Locked) error {
		if !p.IsNote() {
			return model.ErrNotNote
		}
		if err := n.tree.CheckNew("create", p); err != nil {
			return err
		}
		c, err := n.config.Notes.Create(l.Store, wr.Text, wr.By)
		if err != nil {
			return err
		}
		for _, warning := range []string{links.NameWarning(p.Base()), n.caseWarning(p, "")} {
			if warning != "" {
				c.Warn(warning)
			}
		}
		if old := n.tree.HiddenAt(p); old != nil && old.Note() != nil {
			if wr.Base == nil { // the writer can have read no later version
				wr.Base, wr.Unread = old.Note().BaseOf(ctx, old.State().Pending.Record().Sum), true
			}
			// If the note refuses the text, the deletion must stay proposed.
			if err := old.Note().CheckWrite(ctx, p, wr); err != nil {
				return err
			}
		}
		res, err = n.createAt(ctx, l, p, c, wr)
		return err
	})
	if errors.Is(err, errDeletionWithdrawn) {
		x, err := n.tree.FindNote("write", p)
		if err != nil {
			return note.Result{}, err
		}
		return x.Write(ctx, p, wr)
	}
	n.config.Observe(start, err)
	return res, err
}

func (n *Namespace) createAt(ctx context.Context, l *Locked, p model.Path, c *note.Creation, wr note.Write) (note.Result, error) {
	o := ChangeRequest{Author: wr.By, Origin: wr.Origin, InFolder: wr.InFolder}
	at, err := n.placeFor(ctx, l, p, false, o)
	if err != nil {
		return note.Result{}, err
	}
	c.SetNewFolders(l.NewFoldersFor(model.Parent(at.Rel)))
	ev := created(p, o)
	var x *tree.Node
	var stamp model.Stamp
	if docs, live := l.Source.(model.Documents); live {
		if stamp, err = c.KeepLive(ctx, docs, at.Rel); err == nil {
			x = put(l, model.SourceEntry{Rel: at.Rel, Mode: 0o644, Stamp: stamp}, wr.By)
		}
	} else {
		file := model.NewFile{Data: []byte(c.Raw()), ModTime: wr.ModTime, BeforeRename: func(post model.Stamp) error { return c.Keep(at.Rel, post) }}
		if file.ModTime.IsZero() {
			file.ModTime = time.Now()
		}
		x, stamp, err = makeFile(ctx, l, at.Rel, file, wr.By)
	}
	if err != nil {
		return note.Result{}, errors.Join(err, c.Abandon())
	}
	c.RecordFile()
	res := x.Note().Create(c, stamp)
	if err := l.ShowAt(ctx, x, at, wr.By); err != nil {
		if n.retract(ctx, l, p, at.Rel, stamp) {
			l.RemoveFromSource(x, true)
		} else {
			ev.Path = l.Path().Join(at.Rel)
			l.QueueEvents(ev)
		}
		return note.Result{}, err
	}
	ev.Version = res.Version
	l.QueueEvents(ev)
	return res, nil
}

// caseWarning returns a warning if the path of another note or file differs from p only in case, else "". If p is the
// new path of a rename, from is the present path; otherwise from is "".
func (n *service) caseWarning(p, from model.Path) string {
	other := n.tree.InAnotherCase(p, from)
	if other == "" {
		return ""
	}
	return fmt.Sprintf("%q differs from it only in case: many disks, and Obsidian on Windows and macOS, treat both as one", string(other))
}

// retract removes the new note at rel again, because the store could not store the proposal that shows it at p. It
// reports whether the note no longer exists. It does not remove a file that no longer has this stamp.
func (n *service) retract(ctx context.Context, l *Locked, p model.Path, rel string, stamp model.Stamp) bool {
	var err error
	if r, ok := l.Structure.(model.Retractor); ok {
		err = r.Retract(ctx, rel, stamp)
	} else {
		err = l.Structure.Remove(ctx, rel)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		n.config.Logger.Error("cannot remove a note that could not be created", model.LogPath, string(p), model.LogErr, err)
		return false
	}
	return true
}

func (n *Namespace) Mkdir(ctx context.Context, p model.Path, o ChangeRequest) error {
	if err := n.tree.CheckNew("mkdir", p); err != nil {
		return err
	}
	return n.change("mkdir", p, func(l *Locked) error { return n.mkdir(ctx, l, p, o) })
}

func (n *service) mkdir(ctx context.Context, l *Locked, p model.Path, o ChangeRequest) error {
	at, err := n.placeFor(ctx, l, p, true, o)
	if errors.Is(err, errDeletionWithdrawn) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := l.Structure.Mkdir(ctx, at.Rel); err != nil {
		return model.WrapError("mkdir", p, err)
	}
	x := put(l, model.SourceEntry{Rel: at.Rel, Dir: true, Mode: 0o755, Stamp: model.Stamp{ModTime: time.Now().UnixNano()}}, o.Author)
	if err := l.ShowAt(ctx, x, at, o.Author); err != nil {
		return model.WrapError("mkdir", p, err)
	}
	ev := created(p, o)
	ev.Dir = true
	l.QueueEvents(ev)
	return nil
}

// placeFor finds the place for a new node at p. If the deletion of a node there is proposed, it withdraws the proposal
// and returns errDeletionWithdrawn.
func (n *service) placeFor(ctx context.Context, l *Locked, p model.Path, dir bool, o ChangeRequest) (tree.Destination, error) {
	if err := n.folderFor(ctx, l, p.Dir(), o); err != nil {
		return tree.Destination{}, err
	}
	at, deleted, err := n.tree.DestinationAt(p, dir)
	if deleted != nil {
		if err = l.WithdrawDeletion(deleted, o.Author, o.Origin); err == nil {
			err = errDeletionWithdrawn
		}
	}
	return at, err
}

// folderFor checks that p is a folder or does not exist. It creates a missing folder only if the source has another
// node with that name, because then the source cannot create the folder itself.
func (n *service) folderFor(ctx context.Context, l *Locked, p model.Path, o ChangeRequest) error {
	x, err := n.tree.Find("create", p)
	switch {
	case err == nil && x.Kind != model.KindDir:
		return &model.Error{Op: "create", Path: p, Err: model.ErrNotDir}
	case err == nil || o.InFolder:
		return err
	}
	if err := n.folderFor(ctx, l, p.Dir(), o); err != nil || !n.tree.IsTaken(p) {
		return err
	}
	return n.mkdir(ctx, l, p, o)
}

func (n *service) makeFolders(ctx context.Context, l *Locked, dir model.Path, o ChangeRequest) error {
	if _, err := n.tree.Find("mkdir", dir); err == nil {
		return nil
	}
	if err := n.makeFolders(ctx, l, dir.Dir(), o); err != nil {
		return err
	}
	return n.mkdir(ctx, l, dir, o)
}
