//go:build !windows

package fusefs

import (
	"context"
	"errors"
	"maps"
	"syscall"
	"time"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/model"
)

// Editors save by moving the note away and making a new file in its place, and
// mv does by unlinking it first. Taken literally that deletes the document for
// everybody and makes another. So a note whose name goes away is parked: hidden
// here, untouched in the workspace. A file that is made at its name within a
// moment is the note, written anew. Otherwise the move or the removal was meant,
// and the structure policy decides.

// parkGrace is how long a name may be missing during a save.
const parkGrace = 3 * time.Second

// parking is a note that is hidden for now, or a folder.
type parking struct {
	at     model.Path
	doc    uint64     // 0 for a folder
	image  image      // what it showed
	target model.Path // where it was renamed to, "" if unlinked or out of the workspace
	why    string
	gave   bool               // another note has its name
	by     bridge.Restructure // who did it
	proc   process            // its process
	since  time.Time
	timer  *time.Timer
}

// replaces knows the programs that unlink a file in order to put another in its
// place: mv between file systems, cp --remove-destination, git checkout, tar x.
// Unlink(2) alone does not tell them from rm.
func replaces(program string) bool {
	switch program {
	case "mv", "cp", "install", "git", "tar", "bsdtar", "cpio", "unzip":
		return true
	}
	return false
}

// removes knows the programs that unlink a file because it is to go.
func removes(program string) bool {
	switch program {
	case "rm", "unlink", "find", "shred":
		return true
	}
	return false
}

// maxParked is how many notes a process may have unlinked that are parked: one that
// saves has one or two, one that cleans up has all of them.
const maxParked = 5

// park hides the note at p. Its inode goes on as a file of its own, with the
// content it shows.
func (t *tree) park(ctx context.Context, p model.Path, f *File, target model.Path, why string) error {
	err := f.pin(ctx)
	defer f.unpin()
	if err != nil {
		return err
	}
	f.mu.Lock()
	pk := &parking{doc: f.doc, image: f.image, target: target, why: why, by: t.restructuring(ctx), proc: t.procs.of(ctx)}
	if f.buf != nil {
		pk.image = f.buf.from
	}
	f.detach()
	_ = f.fits(f.size()) // a backup may exceed the scratch layer: it is one more copy, for a while
	f.mu.Unlock()
	t.unlinkRetired(p)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.forget(p, f)
	t.setIno(pk.doc, t.newIno()) // the old number stays with the old inode
	t.parkAt(p, pk)
	return nil
}

// parkAt hides what is at p for the grace. mu is held.
func (t *tree) parkAt(p model.Path, pk *parking) {
	t.epoch++
	t.parked[p], pk.at = pk, p
	if pk.since.IsZero() {
		pk.since = time.Now()
	}
	pk.timer = time.AfterFunc(parkGrace, func() {
		t.mu.Lock()
		goesOn := t.parked[p] == pk && pk.goesOn()
		if goesOn {
			pk.timer.Reset(parkGrace)
		}
		t.mu.Unlock()
		if !goesOn {
			t.graceOver(context.Background(), p, pk)
		}
	})
}

// maxParkGrace bounds the grace of what a program that goes on may yet put back.
const maxParkGrace = time.Minute

// goesOn says that a program which unlinks files in order to put others in their place
// has not ended: git may have thousands of them to unlink first.
func (pk *parking) goesOn() bool {
	return replaces(pk.proc.name) && time.Since(pk.since) < maxParkGrace && syscall.Kill(pk.proc.id, 0) == nil
}

// unpark ends the parking at p, nil if there is none. mu is held.
func (t *tree) unpark(p model.Path) *parking {
	pk := t.parked[p]
	if pk == nil {
		return nil
	}
	pk.timer.Stop()
	delete(t.parked, p)
	t.epoch++
	return pk
}

// graceOver does for real what was done to the name, or brings the note back.
func (t *tree) graceOver(ctx context.Context, p model.Path, pk *parking) {
	t.mu.Lock()
	mine := t.parked[p] == pk
	t.mu.Unlock()
	if !mine {
		return
	}
	err := t.restructure(ctx, p, pk)
	t.mu.Lock()
	if t.parked[pk.at] == pk { // a rename has taken it along
		t.unpark(pk.at)
	}
	t.mu.Unlock()
	if err == nil {
		return
	}
	t.entryChanged(p)
	t.log.Warn("note is back at its name", model.LogPath, string(p), "was", pk.why, model.LogErr, err)
}

func (t *tree) restructure(ctx context.Context, p model.Path, pk *parking) error {
	if pk.doc == 0 {
		t.settle(ctx, t.parkedBelow(p))
	}
	if pk.why == whyUnlinked || pk.gave {
		_, err := t.ws.Remove(ctx, p, pk.by)
		return err
	}
	if pk.target == "" {
		return &model.Error{Op: "rename", Path: p, Err: syscall.EXDEV}
	}
	_, err := t.ws.Rename(ctx, p, pk.target, pk.by)
	return err
}

// giveWay lets a note that was renamed away give its name to the one that is moved
// there now. It gets that one's name, and waits on: a.md to a.md.tmp, b.md to a.md,
// a.md.tmp to b.md is how two files are exchanged. If nothing comes to that name, it
// was replaced, and goes.
func (t *tree) giveWay(ctx context.Context, m *move) (done bool, err error) {
	t.mu.Lock()
	pk := t.parked[m.newPath]
	t.mu.Unlock()
	if src, ok := m.src.(*File); !ok || !src.isNote() || pk == nil || pk.why != whyRenamed || !pk.timer.Stop() {
		return false, nil
	}
	if err := t.ws.Exchange(ctx, m.oldPath, m.newPath, t.restructuring(ctx)); err != nil {
		pk.timer.Reset(parkGrace)
		return true, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	pk.gave = true
	return true, nil
}

const (
	whyUnlinked = "unlinked"
	whyRenamed  = "renamed away"
)

// settleParked ends the grace of everything at and below p now.
func (t *tree) settleParked(ctx context.Context, p model.Path) {
	t.settle(ctx, t.parkedBelow(p))
	t.mu.Lock()
	pk := t.parked[p]
	t.mu.Unlock()
	if pk != nil {
		t.graceOver(ctx, p, pk)
	}
}

// vacate lets what is parked at p go for good, because something else gets the name.
func (t *tree) vacate(ctx context.Context, p model.Path) {
	t.mu.Lock()
	if pk := t.parked[p]; pk != nil {
		pk.gave = true
	}
	t.mu.Unlock()
	t.settleParked(ctx, p)
}

// parkedBelow is what is parked below p, and not in a folder that is.
func (t *tree) parkedBelow(p model.Path) map[model.Path]*parking {
	t.mu.Lock()
	defer t.mu.Unlock()
	below := make(map[model.Path]*parking)
	for at, pk := range t.parked {
		if at != p && p.Contains(at) {
			below[at] = pk
		}
	}
	maps.DeleteFunc(below, func(at model.Path, _ *parking) bool {
		for up := at.Dir(); up != p && up != ""; up = up.Dir() {
			if below[up] != nil {
				return true
			}
		}
		return false
	})
	return below
}

func (t *tree) settle(ctx context.Context, due map[model.Path]*parking) {
	for at, pk := range due {
		t.graceOver(ctx, at, pk)
	}
}

// Unlink removes a name.
func (d *Dir) Unlink(ctx context.Context, name string) syscall.Errno {
	ctx = context.WithoutCancel(ctx)
	defer d.t.inval.names.begin(d)()
	t := d.t
	if errno, done := t.unlinkScratch(d, name); done {
		return errno
	}
	n, p, err := d.child(ctx, name)
	if err != nil {
		return t.errno("unlink", p, err)
	}
	switch n := n.(type) {
	case *File:
		return t.unlinkNote(ctx, d, p, n)
	case *Attachment, *Link:
		_, err := t.ws.Remove(ctx, p, t.restructuring(ctx))
		return t.errno("unlink", p, err)
	}
	return syscall.EISDIR
}

func (d *ScratchDir) Unlink(_ context.Context, name string) syscall.Errno {
	defer d.t.inval.names.begin(d)()
	if errno, done := d.t.unlinkScratch(d, name); done {
		return errno
	}
	return syscall.ENOENT
}

func (t *tree) unlinkScratch(dir folder, name string) (errno syscall.Errno, done bool) {
	t.mu.Lock()
	n := dir.names().get(name)
	if _, isDir := n.(*ScratchDir); n == nil || isDir {
		t.mu.Unlock()
		return syscall.EISDIR, n != nil
	}
	dir.names().drop(name)
	dir.touchLocked()
	t.mu.Unlock()
	if f, ok := n.(*File); ok {
		f.unlink()
	}
	return 0, true
}

// unlinking counts the notes that the process has unlinked and that are parked.
func (t *tree) unlinking(proc int) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := 0
	for _, pk := range t.parked {
		if pk.why == whyUnlinked && pk.proc.id == proc {
			n++
		}
	}
	return n
}

// unlinkNow removes the note, which makes a proposal, or is refused. A program
// that writes it anew afterwards has written the same note: the workspace knows
// it again.
func (t *tree) unlinkNow(ctx context.Context, d *Dir, p model.Path, f *File) error {
	err := f.pin(ctx)
	defer f.unpin()
	if err == nil {
		_, err = t.ws.Remove(context.WithoutCancel(ctx), p, t.restructuring(ctx))
	}
	if err != nil {
		return err
	}
	t.unlinkRetired(p)
	f.unlink()
	d.touch()
	return nil
}

// unlinkNote parks the note if the removal may be the beginning of a save, or is
// to happen for real; else it is a proposal at once. Where that would be one
// deletion too many it is parked, too, since it may be a save: the brake decides
// when the grace is over, unless it is clear before.
//
// What has been written so far is kept first: a person who keeps the note finds it.
func (t *tree) unlinkNote(ctx context.Context, d *Dir, p model.Path, f *File) syscall.Errno {
	defer t.holdCommits(f)()
	f.mu.Lock()
	unborn := f.doc == 0
	f.mu.Unlock()
	if !unborn {
		_ = t.commitErrno("unlink", p, f.commitHeld(ctx, false)) // it goes all the same
	}
	if unborn {
		t.mu.Lock()
		t.forget(p, f)
		d.touchLocked()
		t.mu.Unlock()
		f.unlink()
		return 0
	}
	who := t.procs.of(ctx)
	if t.ws.Options().Structure != bridge.StructureDirect && !replaces(who.name) {
		err := t.unlinkNow(ctx, d, p, f)
		if !errors.Is(err, model.ErrTooMany) || removes(who.name) {
			return t.errno("unlink", p, err)
		}
	}
	if n := t.unlinking(who.id); n >= maxParked && !t.isRenamed(p) {
		if err := t.ws.Brake(p, t.authorOf(who), n); err != nil {
			return t.errno("unlink", p, err)
		}
	}
	if err := t.park(ctx, p, f, "", whyUnlinked); err != nil {
		return t.errno("unlink", p, err)
	}
	f.unlink()
	d.touch()
	return 0
}
