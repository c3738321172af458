//go:build !windows

package fusefs

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"slices"
	"strconv"
	"time"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/model"
)

// How a note's content goes to the workspace and comes from it.

const (
	// quiet is how long after the last write content is committed that no flush
	// has committed: pages of a mapping are written back at the kernel's leisure.
	quiet = time.Second
	// emptyGrace is how long a note stays emptied on this mount alone. A program
	// that was killed between truncating and writing looks just like one that
	// wanted the note empty.
	emptyGrace = 5 * time.Second
	// newGrace is the same for a new note, for which being empty does no harm.
	newGrace = time.Second
)

// refresh is learn and show, for answers that carry the size and time.
func (f *File) refresh(ctx context.Context) error {
	if err := f.learn(ctx); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.show()
	return nil
}

// newer keeps v if it is newer than latest. mu is held.
func (f *File) newer(v *model.Version) {
	if f.note && (f.latest == nil || v.Seq() > f.latest.Seq()) {
		f.latest = v
	}
}

// show makes latest the image if f has none, or the same text is in it. mu is held.
func (f *File) show() {
	if !f.note || f.buf != nil || f.latest == nil || f.image.version == f.latest && f.image.exact() {
		return
	}
	if f.image.version == nil {
		f.wake()
		return
	}
	if f.image.text == f.latest.Text() {
		f.image, f.madeFrom = f.imageOf(f.latest), nil
	}
}

// imageOf is what v looks like here. mu is held.
func (f *File) imageOf(v *model.Version) image {
	im := image{v.Text(), v.ModTime(), v}
	if im.modTime.Before(f.notBefore) {
		im.modTime = f.notBefore
	}
	return im
}

// published takes over an event of the note. What was decided or written elsewhere, on
// demand, is shown at once: nobody waits for a hold to end who asked for it.
func (f *File) published(ev model.Event, atOnce bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if ev.Version != nil {
		f.newer(ev.Version)
	} else {
		f.latest = nil
	}
	switch {
	case ev.Origin == any(f) || !ev.ViewChanged || !f.isOutdated():
	case atOnce:
		f.retire()
		f.asked = true
	default:
		f.giveWay()
	}
}

// edit returns the buffer, made from the image if there is none. mu is held.
func (f *File) edit() *buffer {
	if f.buf == nil {
		from := f.image
		if f.madeFrom != nil {
			from = *f.madeFrom
		}
		f.buf = &buffer{data: []byte(f.image.text), from: from, first: true}
		f.t.dirtied(f)
	}
	return f.buf
}

// changed records that by changed the buffer through h, or nil. mu is held.
func (f *File) changed(h *Handle, by process) {
	f.buf.touch(by, time.Now())
	f.meta.mtime = time.Time{}
	if h != nil {
		h.wrote = true
	}
	if f.note {
		f.arm(quiet)
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

// change is a state of the buffer on its way to the workspace.
type change struct {
	buf   *buffer
	gen   uint64
	path  model.Path
	doc   uint64
	text  string
	by    process
	write bridge.Write

	spoiled error // why it cannot be
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
	c, ok := f.pending(force)
	if !ok {
		return nil
	}
	var res bridge.Result
	doc, err := uint64(0), error(nil)
	if c.spoiled != nil {
		err = &model.Error{Op: "write", Path: c.path, Err: c.spoiled}
	} else if _, there := f.t.where(f); there {
		res, doc, err = f.t.store(context.WithoutCancel(ctx), c.path, c.doc, c.write)
	} else {
		err = &model.Error{Op: "write", Path: c.path, Err: fs.ErrNotExist}
	}
	f.stored(c, res, doc, err)
	if err == nil && c.doc == 0 {
		f.giveMode(ctx, c.path)
	}
	return err
}

// giveMode gives the note that f has become just now the permissions of f, as a rename
// does, where that can be.
func (f *File) giveMode(ctx context.Context, p model.Path) {
	f.mu.Lock()
	mode := f.meta.mode
	f.mu.Unlock()
	_ = f.t.ws.Chmod(context.WithoutCancel(ctx), p, fs.FileMode(mode&0o777), f.t.isMounts)
}

// pending is what there is to commit.
func (f *File) pending(force bool) (c change, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	b := f.buf
	if !f.note || b == nil || !b.dirty() || b.emptied && !force {
		return change{}, false
	}
	p, _ := f.t.where(f)
	c = change{buf: b, gen: b.gen, path: p, doc: f.doc, text: string(b.data), by: b.writer, spoiled: b.spoiled}
	c.write = f.t.writeOf(f.doc, b.writer, b.from, b.first, b.anew, c.text)
	c.write.ModTime, c.write.Origin = b.modTime, f
	return c, true
}

// writeOf is the write of text by somebody who started from an image, and, if it
// is its first, may have computed text from what it was shown before: surely so if it
// has written the text anew and has read the note itself.
func (t *tree) writeOf(doc uint64, by process, from image, first, anew bool, text string) bridge.Write {
	var shown []image
	read := false
	if first && doc != 0 {
		shown, read = t.shown.images(doc, by)
	}
	if from.version != nil && !(read && anew) && !slices.Contains(shown, from) {
		shown = append(shown, from)
	}
	w := bridge.Write{Text: text}
	if len(shown) > 0 {
		w = asWrite(shown, text)
	}
	w.By = t.authorOf(by)
	return w
}

// store writes the note at p, or creates it if doc is 0.
func (t *tree) store(ctx context.Context, p model.Path, doc uint64, w bridge.Write) (bridge.Result, uint64, error) {
	if doc != 0 {
		res, err := t.ws.Write(ctx, p, w)
		return res, doc, err
	}
	res, err := t.ws.Create(ctx, p, w)
	if errors.Is(err, fs.ErrExist) { // somebody else made it in the meantime
		res, err = t.ws.Write(ctx, p, w)
	}
	if err != nil {
		return res, 0, err
	}
	info, err := t.ws.Stat(ctx, p)
	return res, info.ID, err
}

// stored takes over the outcome of a commit.
func (f *File) stored(c change, res bridge.Result, doc uint64, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err != nil {
		c.buf.failed = c.gen
		if f.note && f.doc != 0 && f.buf == c.buf {
			f.stepAside()
		}
		return
	}
	for _, warning := range res.Warnings {
		f.t.log.Warn("note written", model.LogPath, string(c.path), slog.String("warning", warning))
	}
	if !f.note {
		return // parked or unlinked meanwhile
	}
	if f.doc == 0 {
		f.doc = doc
		f.t.bound(c.path, f, doc)
	}
	f.newer(res.Version)
	wrote := f.written(c, res)
	f.t.shown.wrote(doc, c.by, wrote)
	f.keepName()
	if f.buf == c.buf {
		f.buf.from, f.buf.kept, f.buf.first, f.buf.anew = wrote, c.gen, false, false
		f.settle()
	}
}

// written is what the writer knows after its write became a version: its own bytes,
// with the time of its last write. What others are shown may differ from that, as
// somebody else's change is in the version too, or the note keeps its line ends. The
// same bytes as before keep their time. mu is held.
func (f *File) written(c change, res bridge.Result) image {
	v := res.Version
	if v.Text() != c.text {
		return image{c.text, c.buf.modTime, v}
	}
	if c.buf.gen == c.gen && !c.buf.modTime.Equal(v.ModTime()) {
		c.buf.modTime = v.ModTime()
		f.t.inval.content(f)
	}
	return image{v.Text(), v.ModTime(), v}
}

// bound records the ID that a new note got.
func (t *tree) bound(p model.Path, f *File, doc uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.setIno(doc, f.StableAttr().Ino)
	if k := t.nodes[p]; k != nil && k.node == f {
		t.put(p, f, doc)
	}
}

// settle ends the buffer once everything is committed and nobody counts on
// positions in it. mu is held.
func (f *File) settle() {
	if !f.note || f.buf == nil || f.buf.dirty() || f.frozen() {
		return
	}
	f.image, f.madeFrom = f.buf.from, nil
	f.dropBuffer()
	f.hold.hides = false
	if f.isOutdated() {
		f.giveWay()
	}
}

func (f *File) dropBuffer() {
	f.buf = nil
	f.pushed = true // the kernel has pages of the buffer, maybe more than the image's
	f.t.saved(f)
	for h := range f.handles {
		h.see()
	}
}

// closed forgets h. A buffer whose commit failed goes with the last handle that
// wrote: its program has been told. mu is held.
func (f *File) closed(h *Handle) {
	delete(f.handles, h)
	if len(f.handles) == 0 {
		f.exported.close()
	}
	if !f.retired.IsZero() && !f.mayBeOpen() {
		f.t.left(f)
	}
	defer f.sleep()
	b := f.buf
	if !f.note || b == nil || f.frozen() {
		return
	}
	if b.dirty() && b.failed == b.gen {
		f.giveUp()
		return
	}
	if b.dirty() {
		b.touched = time.Now()
		f.arm(quiet)
		return
	}
	f.settle()
}

// giveUp ends a buffer that could not be committed. A note that does not exist vanishes.
// mu is held.
func (f *File) giveUp() {
	from := f.buf.from
	f.image, f.madeFrom = image{string(f.buf.data), f.buf.modTime, from.version}, &from
	f.dropBuffer()
	if f.doc != 0 {
		f.stepAside()
		return
	}
	f.detachNew()
}

// stepAside has the name show the note as it is and not what could not be saved, from
// the moment on at which the writer is told. Who has f open still sees that, and may try
// again. mu is held.
func (f *File) stepAside() {
	f.retire()
	f.superseded = true
}

// detachNew makes a note that was never created a file without a name. mu is held.
func (f *File) detachNew() {
	f.detach()
	f.unlinked = true
	f.t.mu.Lock()
	p := f.path
	f.t.forget(p, f)
	f.t.mu.Unlock()
	f.t.entryChanged(p)
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
	wait, due := f.untilCommit(time.Now())
	if due && wait > 0 {
		f.arm(wait)
	}
	force := f.buf != nil && f.buf.emptied
	f.mu.Unlock()
	if !due || wait > 0 {
		return
	}
	if err := f.commitHeld(context.Background(), force); err != nil {
		f.t.commitErrno("commit", f.t.pathOf(&f.path), err)
	}
}

// untilCommit is how long to wait before the buffer is committed without being
// asked; not due if that would be wrong. mu is held.
func (f *File) untilCommit(now time.Time) (wait time.Duration, due bool) {
	b := f.buf
	if !f.note || b == nil || !b.dirty() || b.failed == b.gen {
		return 0, false
	}
	limit := quiet
	if b.emptied {
		if f.frozen() {
			return 0, false // its writer may only now begin
		}
		limit = emptyGrace
		if f.doc == 0 {
			limit = newGrace
		}
	}
	return b.touched.Add(limit).Sub(now), true
}

// sessionPrefix tells the sessions of programs on a mount from others.
const sessionPrefix = "mount-"

// authorOf is who a process's changes are by.
func (t *tree) authorOf(p process) model.Author {
	return model.Author{Name: t.author, Session: sessionPrefix + strconv.Itoa(p.session)}
}
