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

// errWasDeleted says that a proposal to delete what is to be created was
// withdrawn: it is there again.
var errWasDeleted = errors.New("was to be deleted")

// Create makes a new note with wr.Text as its view: front matter plain, in
// suggest mode its body as additions. Missing parent folders are made.
// fs.ErrExist if the name is taken. After an error there is no note, unless somebody
// else has written to it meanwhile. At the name of a note that is proposed to be
// deleted it is that note, written anew.
func (n *Names) Create(ctx context.Context, p model.Path, wr note.Write) (res note.Result, err error) {
	start := time.Now()
	err = n.change("create", p, func(l *Locked) error {
		if !p.IsNote() {
			return model.ErrNotNote
		}
		if err := n.tree.CheckNew("create", p); err != nil {
			return err
		}
		c, err := n.c.Notes.Create(l.Store, wr.Text, wr.By)
		if err != nil {
			return err
		}
		for _, warning := range []string{links.NameWarning(p.Base()), n.caseWarning(p, "")} {
			if warning != "" {
				c.Warn(warning)
			}
		}
		res, err = n.createAt(ctx, l, p, c, wr)
		return err
	})
	if errors.Is(err, errWasDeleted) {
		x, err := n.tree.FindNote("write", p)
		if err != nil {
			return note.Result{}, err
		}
		return x.Write(ctx, p, wr)
	}
	n.c.Observe(start, err)
	return res, err
}

func (n *Names) createAt(ctx context.Context, l *Locked, p model.Path, c *note.Creation, wr note.Write) (note.Result, error) {
	if had := n.tree.HiddenAt(p); had != nil && had.Note != nil { // if it does not take the text, it stays proposed to be deleted
		if _, err := had.Note.Preview(ctx, p, wr.Text, wr.By); err != nil {
			return note.Result{}, err
		}
	}
	o := Restructure{By: wr.By, Origin: wr.Origin}
	at, err := n.placeFor(ctx, l, p, false, o)
	if err != nil {
		return note.Result{}, err
	}
	c.MadeFor(l.MadeFor(string(model.Path(at.Rel).Dir())))
	ev := created(p, o)
	if docs, ok := l.Source.(model.Documents); ok {
		stamp, err := c.KeepLive(ctx, docs, at.Rel)
		if err != nil {
			return note.Result{}, err
		}
		x := put(l, model.SourceEntry{Rel: at.Rel, Mode: 0o644, Stamp: stamp}, wr.By)
		res := x.Note.Create(c, stamp)
		ev.Version = res.Version
		l.Tell(ev)
		return res, l.ShowAt(x, at, wr.By)
	}
	file := model.NewFile{Data: []byte(c.Raw()), ModTime: wr.ModTime, BeforeRename: func(post model.Stamp) error { return c.Keep(at.Rel, post) }}
	if file.ModTime.IsZero() {
		file.ModTime = time.Now()
	}
	x, stamp, err := makeFile(ctx, l, at.Rel, file, wr.By)
	if err != nil {
		return note.Result{}, errors.Join(err, c.Abandon())
	}
	c.Placed()
	if err := l.ShowAt(x, at, wr.By); err != nil {
		if n.retract(ctx, l, p, at.Rel, stamp) {
			l.Vanish(x, true)
		} else {
			ev.Path = l.Path().Join(at.Rel)
			l.Tell(ev)
		}
		return note.Result{}, err
	}
	res := x.Note.Create(c, stamp)
	ev.Version = res.Version
	l.Tell(ev)
	return res, nil
}

// caseWarning warns of another note or file whose path differs from p in case alone, "" if there is none. from is what
// p is to be the new path of, "" for something new.
func (n *base) caseWarning(p, from model.Path) string {
	other := n.tree.InAnotherCase(p, from)
	if other == "" {
		return ""
	}
	return fmt.Sprintf("%q differs from it in the case of letters alone: on many disks, and for Obsidian on Windows and macOS, both are one", string(other))
}

// retract takes the new file at rel, which stamp names, away again, since the store
// could not keep what belongs to it. It says whether it did: not if somebody has
// changed the file since.
func (n *base) retract(ctx context.Context, l *Locked, p model.Path, rel string, stamp model.Stamp) bool {
	err := errors.ErrUnsupported
	if r, ok := l.Structure.(model.Retractor); ok {
		err = r.Retract(ctx, rel, stamp)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		n.c.Logger.Error("a note that could not be made stays", model.LogPath, string(p), model.LogErr, err)
		return false
	}
	return true
}

func (n *Names) Mkdir(ctx context.Context, p model.Path, o Restructure) error {
	if err := n.tree.CheckNew("mkdir", p); err != nil {
		return err
	}
	return n.change("mkdir", p, func(l *Locked) error { return n.mkdir(ctx, l, p, o) })
}

func (n *base) mkdir(ctx context.Context, l *Locked, p model.Path, o Restructure) error {
	at, err := n.placeFor(ctx, l, p, true, o)
	if errors.Is(err, errWasDeleted) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := l.Structure.Mkdir(ctx, at.Rel); err != nil {
		return model.WrapError("mkdir", p, err)
	}
	x := put(l, model.SourceEntry{Rel: at.Rel, Dir: true, Mode: 0o755, Stamp: model.Stamp{ModTime: time.Now().UnixNano()}}, o.By)
	if err := l.ShowAt(x, at, o.By); err != nil {
		return model.WrapError("mkdir", p, err)
	}
	ev := created(p, o)
	ev.Dir = true
	l.Tell(ev)
	return nil
}

// placeFor finds the place for something new at p. What is proposed to be deleted
// there is shown again, and errWasDeleted says so.
func (n *base) placeFor(ctx context.Context, l *Locked, p model.Path, dir bool, o Restructure) (tree.Destination, error) {
	if err := n.folderFor(ctx, l, p.Dir(), o); err != nil {
		return tree.Destination{}, err
	}
	at, deleted, err := n.tree.DestinationAt(p, dir)
	if deleted != nil {
		if err = l.BringBack(deleted, o.By, o.Origin); err == nil {
			err = errWasDeleted
		}
	}
	return at, err
}

// folderFor checks the folder at p. If it is missing and the source may not make it,
// because it has something else at the name, it is made here.
func (n *base) folderFor(ctx context.Context, l *Locked, p model.Path, o Restructure) error {
	if x, err := n.tree.Find("create", p); err == nil {
		if x.Kind != model.KindDir {
			return &model.Error{Op: "create", Path: p, Err: model.ErrNotDir}
		}
		return nil
	}
	if err := n.folderFor(ctx, l, p.Dir(), o); err != nil || !n.tree.IsTaken(p) {
		return err
	}
	return n.mkdir(ctx, l, p, o)
}

func (n *base) makeFolders(ctx context.Context, l *Locked, dir model.Path, o Restructure) error {
	if _, err := n.tree.Find("mkdir", dir); err == nil {
		return nil
	}
	if err := n.makeFolders(ctx, l, dir.Dir(), o); err != nil {
		return err
	}
	return n.mkdir(ctx, l, dir, o)
}
