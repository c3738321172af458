//go:build !windows

package fusefs

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"slices"
	"strconv"
	"time"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/fusefs/internal/content"
	"github.com/relayfs/relayfs/fusefs/internal/life"
	"github.com/relayfs/relayfs/fusefs/internal/process"
)

// How what is written goes to the workspace.
//
// A commit keeps a file at the path that the file had when it began. So a file
// changes its name between two commits, and a folder while nothing is committed:
// otherwise the commit would make anew what was just removed, or write to what has
// come to that path since.

// holdCommits waits for the commits of nodes, and lets none begin until release is
// called. Those of a folder are the commits of everything.
func (t *tree) holdCommits(nodes ...node) (release func()) {
	var files []*File
	for _, n := range nodes {
		if f, ok := n.(*File); ok {
			files = append(append(files, f), t.retiredFor(f)...)
		} else if d, ok := n.(folder); ok && d.inWorkspace() {
			t.folders.Lock()
			return t.folders.Unlock
		}
	}
	// In the same order everywhere; a generation is unique.
	slices.SortFunc(files, func(a, b *File) int { return cmp.Compare(a.StableAttr().Gen, b.StableAttr().Gen) })
	for _, f := range files {
		f.commitMu.Lock()
	}
	return func() {
		for _, f := range files {
			f.commitMu.Unlock()
		}
	}
}

// edit returns the buffer, made from the image if there is none. mu is held.
func (f *File) edit() *content.Buffer {
	if f.text.Buffer() == nil {
		f.t.dirtied(f)
	}
	return f.text.Edit()
}

// changed records that by changed the buffer through h, or nil. mu is held.
func (f *File) changed(h *Handle, by process.Process) {
	f.text.Buffer().Touch(by, time.Now())
	f.meta.mtime = time.Time{}
	if h != nil {
		h.wrote = true
	}
	if f.life.IsNote() {
		f.arm(content.Quiet)
	}
}

// spoil is for a write that did not go in: what its program has written so far
// is half of something. mu is held.
func (f *File) spoil(why error) {
	if b := f.text.Buffer(); b != nil && f.life.IsNote() {
		b.Spoiled = why
	}
}

// frozen says that a handle that wrote at positions of its own is open: the file
// must keep showing what it wrote. mu is held.
func (f *File) frozen() bool {
	for h := range f.handles {
		if h.wrote && !h.appends {
			return true
		}
	}
	return false
}

// change is a state of a file's buffer on its way to the workspace.
type change struct {
	f     *File
	buf   *content.Buffer
	gen   uint64
	path  model.Path
	doc   uint64
	text  string
	by    process.Process
	write bridge.Write
}

// newChange is what f's buffer holds, to be written at path to doc by who started from an
// image. mu is held.
func newChange(f *File, path model.Path, doc uint64, by process.Process, from content.Image, first, anew bool) *change {
	b := f.text.Buffer()
	c := &change{f: f, buf: b, gen: b.Gen, path: path, doc: doc, text: string(b.Data), by: by}
	c.write = f.t.writeOf(doc, by, from, first, anew, c.text)
	c.write.ModTime, c.write.Origin = b.ModTime, f
	return c
}

// writeOf is the write of text by somebody who started from an image, and, if it
// is its first, may have computed text from what it was shown before: surely so if it
// has written the text anew and has read the note itself.
func (t *tree) writeOf(doc uint64, by process.Process, from content.Image, first, anew bool, text string) bridge.Write {
	var shown []content.Image
	read := false
	if first && doc != 0 {
		shown, read = t.shown.Images(doc, by)
	}
	if from.Version != nil && !(read && anew) && !slices.Contains(shown, from) {
		shown = append(shown, from)
	}
	w := bridge.Write{Text: text}
	if len(shown) > 0 {
		w = content.Write(shown, text)
	}
	w.By = t.authorOf(by)
	return w
}

// commit brings what the buffer holds to the workspace, durably. A buffer that
// was only emptied is left alone unless force is set. After an error the buffer
// stays, so that the writer can save again.
func (f *File) commit(ctx context.Context, force bool) error {
	defer f.t.holdCommits(f)()
	return f.commitHeld(ctx, force)
}

// commitHeld is commit for callers that hold commitMu.
func (f *File) commitHeld(ctx context.Context, force bool) error {
	f.t.folders.RLock()
	defer f.t.folders.RUnlock()
	c, err := pending(f, force)
	if c == nil {
		return nil
	}
	var res bridge.Result
	var doc uint64
	if err == nil {
		res, doc, err = c.store(ctx)
	}
	c.stored(res, doc, err)
	if err == nil && c.doc == 0 {
		c.giveMode(ctx)
	}
	return err
}

// pending is what there is to commit, nil if nothing is, and why it cannot be.
func pending(f *File, force bool) (*change, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	b := f.text.Buffer()
	if !f.life.IsNote() || b == nil || !b.Dirty() || b.Emptied && !force {
		return nil, nil
	}
	p, there := f.t.where(&f.place)
	c := newChange(f, p, f.doc, b.Writer, b.From, b.First, b.Anew)
	if b.Spoiled != nil {
		return c, &model.Error{Op: "write", Path: p, Err: b.Spoiled}
	} else if !there {
		return c, &model.Error{Op: "write", Path: p, Err: fs.ErrNotExist}
	}
	return c, nil
}

// store writes the note, or creates it if it has no ID.
func (c *change) store(ctx context.Context) (bridge.Result, uint64, error) {
	ctx, ws := context.WithoutCancel(ctx), c.f.t.ws
	if c.doc != 0 {
		res, err := ws.Write(ctx, c.path, c.write)
		return res, c.doc, err
	}
	res, err := ws.Create(ctx, c.path, c.write)
	if errors.Is(err, fs.ErrExist) { // somebody else made it in the meantime
		res, err = ws.Write(ctx, c.path, c.write)
	}
	if err != nil {
		return res, 0, err
	}
	info, err := ws.Stat(ctx, c.path)
	return res, info.ID, err
}

// giveMode gives the note that the file has become just now the permissions of the file,
// as a rename does, where that can be.
func (c *change) giveMode(ctx context.Context) {
	c.f.mu.Lock()
	mode := c.f.meta.mode
	c.f.mu.Unlock()
	_ = c.f.t.ws.Chmod(context.WithoutCancel(ctx), c.path, fs.FileMode(mode&0o777), c.f.t.isMounts)
}

// stored takes over the outcome of a commit. After an error the name shows the note as it
// is and not what could not be saved, from the moment on at which the writer is told. Who
// has the file open still sees that, and may try again.
func (c *change) stored(res bridge.Result, doc uint64, err error) {
	f := c.f
	f.mu.Lock()
	defer f.mu.Unlock()
	mine := f.text.Buffer() == c.buf
	if err != nil {
		c.buf.Failed = c.gen
		if f.doc != 0 && mine {
			f.retire(life.Refuse)
		}
		return
	}
	for _, warning := range res.Warnings {
		f.t.log.Warn("note written", model.LogPath, string(c.path), slog.String("warning", warning))
	}
	if !f.life.IsNote() {
		return // parked or unlinked meanwhile
	}
	if f.doc == 0 {
		f.doc, f.life = doc, f.life.After(life.Store)
		f.t.bound(c.path, f, doc)
	}
	f.text.Learn(res.Version)
	wrote := c.written(res, doc)
	if mine {
		c.buf.Saved(wrote, c.gen)
		f.settle()
	}
}

// become turns a scratch file into the note that its content was committed to.
func (c *change) become(doc uint64, res bridge.Result) {
	f := c.f
	f.mu.Lock()
	defer f.mu.Unlock()
	f.life, f.doc = f.life.After(life.Adopt), doc
	f.text.Adopt(c.written(res, doc), c.gen, res.Version)
	if b := f.text.Buffer(); b != nil {
		f.t.dirtied(f)
		if b.Dirty() {
			f.arm(content.Quiet)
		}
	}
	f.settle()
}

// written is what the writer knows after its write became a version: its own bytes,
// with the time of its last write. What others are shown may differ from that, as
// somebody else's change is in the version too, or the note keeps its line ends. The
// same bytes as before keep their time. The file's mu is held.
func (c *change) written(res bridge.Result, doc uint64) content.Image {
	v, wrote := res.Version, content.ImageOf(res.Version)
	if v.Text() != c.text {
		wrote.Text, wrote.ModTime = c.text, c.buf.ModTime
	} else if c.buf.Gen == c.gen && !c.buf.ModTime.Equal(v.ModTime()) {
		c.buf.ModTime = v.ModTime()
		c.f.t.inval.Content(c.f)
	}
	c.f.t.shown.Wrote(doc, c.by, wrote)
	c.f.keepName()
	return wrote
}

// settle ends the buffer once everything is committed and nobody counts on
// positions in it. mu is held.
func (f *File) settle() {
	if b := f.text.Buffer(); !f.life.IsNote() || b == nil || b.Dirty() || f.frozen() {
		return
	}
	f.text.Settle()
	f.dropped()
	f.hold.hides = false
	if f.text.Outdated() {
		f.giveWay()
	}
}

// dropped is called when the buffer has gone. mu is held.
func (f *File) dropped() {
	f.pushed = true // the kernel has pages of the buffer, maybe more than the image's
	f.t.saved(f)
	for h := range f.handles {
		h.see()
	}
}

// giveUp ends a buffer that could not be committed. A note that does not exist vanishes.
// mu is held.
func (f *File) giveUp() {
	f.text.Refuse()
	f.dropped()
	if f.doc != 0 {
		f.retire(life.Refuse)
		return
	}
	f.detach(life.Unlink)
	f.t.entryChanged(f.t.remove(f))
}

// arm has tick look after d, unless it is going to anyway. mu is held.
func (f *File) arm(d time.Duration) {
	if f.timer == nil {
		f.timer = time.AfterFunc(d, f.tick)
	}
}

// tick commits what has been left alone for long enough. It looks when no commit is under
// way: one that is may be refused, and what its writer has been told of is not kept later.
func (f *File) tick() {
	defer f.t.holdCommits(f)()
	f.mu.Lock()
	f.timer = nil
	var wait time.Duration
	b, due := f.text.Buffer(), false
	if b != nil && f.life.IsNote() {
		wait, due = b.Wait(time.Now(), f.frozen(), f.doc == 0)
	}
	if due && wait > 0 {
		f.arm(wait)
	}
	force := due && b.Emptied
	f.mu.Unlock()
	if !due || wait > 0 {
		return
	}
	if err := f.commitHeld(context.Background(), force); err != nil {
		f.t.errno.OfSave("commit", f.t.pathOf(&f.path), err)
	}
}

// sessionPrefix tells the sessions of programs on a mount from others.
const sessionPrefix = "mount-"

// authorOf is who a process's changes are by.
func (t *tree) authorOf(p process.Process) model.Author {
	return model.Author{Name: t.author, Session: sessionPrefix + strconv.Itoa(p.Session)}
}
