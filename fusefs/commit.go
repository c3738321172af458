//go:build !windows

package fusefs

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"slices"
	"time"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/fusefs/internal/content"
	"github.com/relayfs/relayfs/fusefs/internal/program"
)

// A commit uses the file's path, and for a stored note also the note's ID. So a file is renamed only between two commits
// of the file, and a folder only while no commit is in progress. Otherwise the commit would create a removed file again,
// or write a new note or an attachment to a path that another file has taken.

// holdCommits waits for the commits of nodes, and blocks new commits until release is called. The replaced inodes of a
// note count as well. If a node is a folder of the workspace, holdCommits waits for and blocks the commits of all
// files.
func (t *tree) holdCommits(nodes ...node) (release func()) {
	var files []*common
	for _, n := range nodes {
		switch n := n.(type) {
		case *File:
			files = append(files, &n.common)
			t.update(func(tb *tableState) {
				if p := n.path(); tb.has(p, n) {
					for _, f := range tb.replaced[p] {
						files = append(files, &f.common)
					}
				}
			})
		case *Attachment:
			files = append(files, &n.common)
		case folder:
			if n.inWorkspace() {
				t.folders.Lock()
				return t.folders.Unlock
			}
		}
	}
	// All callers take the locks in the order of the generations, which are unique.
	slices.SortFunc(files, func(a, b *common) int { return cmp.Compare(a.StableAttr().Gen, b.StableAttr().Gen) })
	for _, c := range files {
		c.commitMu.Lock()
	}
	return func() {
		for _, c := range files {
			c.commitMu.Unlock()
		}
	}
}

func (f *fileState) edit() *content.Buffer {
	if f.text.Buffer() == nil {
		f.t.dirtyFiles.Store(f.File, nil)
	}
	return f.text.Edit()
}

func (f *fileState) changed(h *Handle, prog program.Program) {
	f.text.Buffer().Touch(prog, time.Now())
	f.followContent()
	if h != nil {
		h.wrote, h.failed = true, 0
	}
	if f.life.IsNote() {
		f.scheduleTick(content.WritebackDelay)
	}
}

// failWrite records that a write failed. The content that the program has written is then incomplete.
func (f *fileState) failWrite(why error) {
	if b := f.text.Buffer(); b != nil && f.life.IsNote() {
		b.WriteErr = why
	}
}

// hasPositionedWriter reports whether a handle that wrote at its own positions is open. Until such a handle is closed,
// the file must show the bytes that the handle has written.
func (f *fileState) hasPositionedWriter() bool {
	for h := range f.handles {
		if h.wrote && !h.appends {
			return true
		}
	}
	return false
}

type change struct {
	f     *File
	buf   *content.Buffer
	gen   uint64
	where func() (p model.Path, there bool) // the present path of the note; users may move it
	path  model.Path
	from  content.Image // the image that the buffer was made from
	whole bool          // no part of the content is from that image, so by has computed it from a text that it was shown
	text  string
	by    program.Program
	write bridge.Write // without Base, Unread and Text; the ID is 0 for a new note
}

// change returns the content of f's buffer as a write to doc, by prog. The buffer was made from the image from; see
// change.whole.
func (f *fileState) change(where func() (model.Path, bool), doc uint64, prog program.Program, from content.Image, whole bool) *change {
	b := f.text.Buffer()
	p, _ := where()
	return &change{
		f: f.File, buf: b, gen: b.Gen, where: where, path: p, from: from, whole: whole, text: string(b.Data), by: prog,
		write: bridge.Write{ID: doc, By: f.t.authorOf(prog), ModTime: b.ModTime, Origin: f.File, InFolder: true},
	}
}

// base returns the image to which the content is a change, and whether the program has read that image itself. If the
// program has read the note, that is the text that it read. Otherwise the program may have the content from a file or a
// variable that other processes of its session have filled, or may repeat an earlier text. The base is then the oldest
// of shownLog.images and the image from which the buffer was made, or a later one if the content has the changes up to
// that image.
func (c *change) base() (base content.Image, read bool) {
	if !c.whole {
		return c.from, false
	}
	doc := c.write.ID
	if doc == 0 {
		doc = c.f.t.ws.NoteID(c.path) // a note that was removed: a new note of that name continues it
	}
	images, read := c.f.t.shown.images(doc, c.by)
	if c.from.Version != nil && !read {
		images = append(images, c.from)
	}
	if len(images) == 0 {
		return c.from, false
	}
	// An image that another session was shown may be newer than the one that the program opened.
	slices.SortStableFunc(images, func(a, b content.Image) int { return cmp.Compare(a.Version.Seq(), b.Version.Seq()) })
	base = images[0]
	for _, later := range images[1:] {
		if base.HasChangesTo(later, c.text) {
			base = later
		}
	}
	return base, read
}

// commit writes the buffer to the workspace (Workspace.Write). It skips a buffer that was only truncated, unless force
// is set. After an error the buffer stays, so that the writer can save again.
func (f *File) commit(ctx context.Context, force bool) error {
	defer f.t.holdCommits(f)()
	return f.commitHeld(ctx, force)
}

// commitHeld does the same as commit, for callers that hold f's commits.
func (f *File) commitHeld(ctx context.Context, force bool) error {
	f.t.folders.RLock()
	defer f.t.folders.RUnlock()
	var c *change
	var err error
	f.update(func(s *fileState) { c, err = s.pending(force) })
	if c == nil {
		return nil
	}
	var res bridge.Result
	if err == nil {
		res, err = c.store(ctx)
	}
	f.update(func(s *fileState) { s.stored(c, res, err) })
	if err == nil && c.write.ID == 0 {
		c.giveMode(ctx)
	}
	return err
}

// pending returns the change to commit, or nil if there is none. It returns an error if a commit is due but the content
// cannot be committed.
func (f *fileState) pending(force bool) (*change, error) {
	b := f.text.Buffer()
	if !f.life.IsNote() || b == nil || !b.Dirty() || b.Truncated && !force {
		return nil, nil
	}
	p, there := f.where()
	c := f.change(f.where, f.doc, b.Writer, b.Base, b.IsRewritten())
	switch {
	case b.WriteErr != nil:
		return c, &model.Error{Op: "write", Path: p, Err: b.WriteErr}
	case !there:
		return c, &model.Error{Op: "write", Path: p, Err: fs.ErrNotExist}
	}
	return c, nil
}

// A user may have moved the note or its folder. The workspace reports a move after some 300 ms, or after more than a
// second if the source polls. Until moveWait has passed, store tries again every moveStep.
const (
	moveWait = 2 * time.Second
	moveStep = 50 * time.Millisecond
)

// store writes the note. If the note has no ID, store creates it.
func (c *change) store(ctx context.Context) (res bridge.Result, err error) {
	wr := c.write
	base, read := c.base()
	wr.Base, wr.Text = base.Rebase(c.text)
	wr.Unread = c.whole && !read
	for start := time.Now(); ; time.Sleep(moveStep) {
		res, err = c.storeOnce(context.WithoutCancel(ctx), wr)
		p, there := c.where()
		if !errors.Is(err, fs.ErrNotExist) || !there || time.Since(start) > moveWait {
			return res, err
		}
		c.path = p
	}
}

func (c *change) storeOnce(ctx context.Context, wr bridge.Write) (bridge.Result, error) {
	ws := c.f.t.ws
	if wr.ID == 0 {
		res, err := ws.Create(ctx, c.path, wr)
		if !errors.Is(err, fs.ErrExist) {
			return res, err
		}
		if wr.Base == nil { // another writer has created the note since c.by created it empty
			wr.Base = model.RawVersion("", nil)
		}
	}
	return ws.Write(ctx, c.path, wr)
}

// giveMode tries to give a new note the permissions of the file from which it was made, because a rename
// keeps permissions.
func (c *change) giveMode(ctx context.Context) {
	_ = c.f.t.ws.Chmod(context.WithoutCancel(ctx), c.f.path(), fs.FileMode(c.f.permissions()&0o777), c.f.t.isMounts)
}

// stored applies the outcome of a commit. If the commit failed and the workspace has the note, the name shows the
// stored note again. The name shows it before the writer gets the error. Programs that have the file open still see the
// written text, and can commit it again.
func (f *fileState) stored(c *change, res bridge.Result, err error) {
	mine := f.text.Buffer() == c.buf
	if err != nil {
		c.buf.FailedGen = c.gen
		if f.doc != 0 && mine {
			f.replaceInode(evFailWrite)
		}
		return
	}
	for _, warning := range res.Warnings {
		f.t.log.Warn("note written", model.LogPath, string(c.path), slog.String("warning", warning))
	}
	if !f.life.IsNote() {
		return // the file was deferred or unlinked in the meantime
	}
	if f.doc == 0 {
		f.doc = res.ID
		f.t.setDoc(f.File, res.ID)
	}
	f.text.SetLatest(res.Version)
	wrote := f.written(c, res)
	if mine {
		c.buf.Saved(wrote, c.gen)
		f.releaseClean()
	}
}

func (f *fileState) become(c *change, res bridge.Result) {
	f.life, f.doc = f.life.After(evAdopt), res.ID
	f.text.Adopt(f.written(c, res), c.gen, res.Version)
	if b := f.text.Buffer(); b != nil {
		f.t.dirtyFiles.Store(f.File, nil)
		if b.Dirty() {
			f.scheduleTick(content.WritebackDelay)
		}
	}
	f.releaseClean()
}

// written returns the image that the writer sees after its write has become a version. The image has the bytes that the
// program wrote. If the version has the same bytes, the image has the version's time, otherwise the time of the last
// write. The version may have other bytes, because it may include another writer's change or keep the note's line ends.
// written also records the image as shown to the writer, and extends the hold.
func (f *fileState) written(c *change, res bridge.Result) content.Image {
	v, wrote := res.Version, content.ImageOf(res.Version)
	if v.Text() != c.text {
		wrote.Text, wrote.ModTime, wrote.Form = c.text, c.buf.ModTime, !res.Changed || v.Raw() == ""
	} else if c.buf.Gen == c.gen && !c.buf.ModTime.Equal(v.ModTime()) {
		c.buf.ModTime = v.ModTime()
		f.t.inval.content(f)
	}
	f.t.shown.add(res.ID, c.by, wrote, false)
	f.extendHold(c.write.By.Session)
	return wrote
}

// releaseClean releases the buffer if everything is committed and no open handle depends on its positions.
func (f *fileState) releaseClean() {
	if b := f.text.Buffer(); !f.life.IsNote() || b == nil || b.Dirty() || f.hasPositionedWriter() {
		return
	}
	f.text.Release()
	f.bufferReleased()
	f.nameHold.hidesNewer = false
	if f.text.IsStale() {
		f.showLatest()
	}
}

func (f *fileState) bufferReleased() {
	f.pagesStored = true // the kernel has pages of the buffer, possibly more than the image has
	f.t.dirtyFiles.Delete(f.File)
	f.forgetReplaced()
	for h := range f.handles {
		f.recordRead(h)
	}
}

// discardBuffer drops a buffer that could not be committed. A note that does not exist yet disappears.
func (f *fileState) discardBuffer() {
	f.text.FailWrite()
	f.bufferReleased()
	if f.doc != 0 {
		f.replaceInode(evFailWrite)
		return
	}
	f.detach(evUnlinkStale) // an open that is in progress must not find an inode whose content is not committed any more
	f.t.remove(f.File)
	f.t.entryChanged(f.path())
}

func (f *fileState) scheduleTick(d time.Duration) {
	if f.timer == nil {
		f.timer = time.AfterFunc(d, f.tick)
	}
}

// tick commits a buffer that has not changed for long enough. It holds f's commits while it checks the buffer: if a
// concurrent commit failed, its writer got an error, and tick must not save that text later.
func (f *File) tick() {
	defer f.t.holdCommits(f)()
	due, force := false, false
	var prog program.Program
	f.update(func(s *fileState) {
		s.timer = nil
		b := s.text.Buffer()
		if b == nil || !s.life.IsNote() {
			return
		}
		var wait time.Duration
		if wait, due = b.Wait(time.Now(), s.hasPositionedWriter(), s.doc == 0); due && wait > 0 {
			s.scheduleTick(wait)
			due = false
		}
		force, prog = b.Truncated, b.Writer
	})
	if !due {
		return
	}
	if err := f.commitHeld(context.Background(), force); err != nil {
		f.t.errno.OfSaveBy(prog, "commit", f.path(), err)
	}
}
