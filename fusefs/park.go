//go:build !windows

package fusefs

import (
	"context"
	"maps"
	"syscall"
	"time"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/fusefs/internal/content"
	"github.com/relayfs/relayfs/fusefs/internal/life"
	"github.com/relayfs/relayfs/fusefs/internal/process"
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
	doc    uint64        // 0 for a folder
	image  content.Image // what it showed
	target model.Path    // where it was renamed to, "" if unlinked or out of the workspace
	why    string
	gave   bool               // another note has its name
	by     bridge.Restructure // who did it
	proc   process.Process    // its process
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

const (
	whyUnlinked = "unlinked"
	whyRenamed  = "renamed away"
)

// maxParked is how many notes a process may have unlinked that are parked: one that
// saves has one or two, one that cleans up has all of them.
const maxParked = 5

// maxParkGrace bounds the grace of what a program that goes on may yet put back.
const maxParkGrace = time.Minute

// goesOn says that a program which unlinks files in order to put others in their place
// has not ended: git may have thousands of them to unlink first.
func (pk *parking) goesOn() bool {
	return replaces(pk.proc.Name) && time.Since(pk.since) < maxParkGrace && syscall.Kill(pk.proc.Id, 0) == nil
}

// parkedBelow is what is parked below p, and not in a folder that is.
func (n *names) parkedBelow(p model.Path) map[model.Path]*parking {
	n.mu.Lock()
	defer n.mu.Unlock()
	below := make(map[model.Path]*parking)
	for at, pk := range n.parked {
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

// parkedAt is what is parked at p, nil if nothing is.
func (n *names) parkedAt(p model.Path) *parking {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.parked[p]
}

// parkedElsewhere is what was unlinked a moment ago, and not at p.
func (n *names) parkedElsewhere(p model.Path) map[model.Path]*parking {
	n.mu.Lock()
	defer n.mu.Unlock()
	unlinked := make(map[model.Path]*parking)
	for at, pk := range n.parked {
		if at != p && pk.why == whyUnlinked {
			unlinked[at] = pk
		}
	}
	return unlinked
}

// unlinkedBy counts the notes that a process has unlinked and that are parked.
func (n *names) unlinkedBy(proc int) (count int) {
	for _, pk := range n.parkedElsewhere("") {
		if pk.proc.Id == proc {
			count++
		}
	}
	return count
}

// unpark ends the parking at p, nil if there is none. mu is held.
func (n *names) unpark(p model.Path) *parking {
	pk := n.parked[p]
	if pk == nil {
		return nil
	}
	pk.timer.Stop()
	delete(n.parked, p)
	n.epoch++
	return pk
}

// park hides the note at p. Its inode goes on as a file of its own, with the
// content it shows.
func (t *tree) park(ctx context.Context, p model.Path, f *File, target model.Path, why string) error {
	err := f.pin(ctx)
	defer f.unpin()
	if err != nil {
		return err
	}
	f.mu.Lock()
	pk := &parking{doc: f.doc, image: f.text.Base(), target: target, why: why, by: t.restructuring(ctx), proc: t.procs.Of(ctx)}
	f.detach(life.Detach)
	_ = f.fits(f.text.Size()) // a backup may exceed the scratch layer: it is one more copy, for a while
	f.mu.Unlock()
	t.unlinkRetired(p)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.forget(p, f)
	t.inos.Set(pk.doc, t.inos.Next()) // the old number stays with the old inode
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

// graceOver does for real what was done to the name, or brings the note back.
func (t *tree) graceOver(ctx context.Context, p model.Path, pk *parking) {
	if t.parkedAt(p) != pk {
		return
	}
	err := pk.carryOut(ctx, t, p)
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

// carryOut does it in the workspace.
func (pk *parking) carryOut(ctx context.Context, t *tree, p model.Path) error {
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

// settleParked ends the grace of everything at and below p now.
func (t *tree) settleParked(ctx context.Context, p model.Path) {
	t.settle(ctx, t.parkedBelow(p))
	if pk := t.parkedAt(p); pk != nil {
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

func (t *tree) settle(ctx context.Context, due map[model.Path]*parking) {
	for at, pk := range due {
		t.graceOver(ctx, at, pk)
	}
}

// git takes a rename back by unlinking the new name and making a file at the old
// one (git reset --hard, git checkout). Taken one by one these delete the note and
// make another beside it. So a file that is made at the name at which people have a
// note that was unlinked elsewhere a moment ago is that note, back at its name and
// about to be written anew. The same goes for a folder: what was in it is unlinked, it
// is removed, and one is made at the name that people have it by.

// isRenamed says whether people have what is shown at p somewhere else.
func (t *tree) isRenamed(p model.Path) bool {
	home, err := t.ws.PeoplesPath(p)
	return err == nil && home != p
}

// bringHome lets the note that people have at p, and that was unlinked where it is
// shown, be parked at p instead. Another one that is parked there goes first: its
// own name may be the next that is made.
func (t *tree) bringHome(ctx context.Context, p model.Path) {
	at, pk := t.parkedFrom(p)
	if pk == nil || pk.doc == 0 || !pk.timer.Stop() { // a folder, or its grace is over just now
		return
	}
	ctx = context.WithoutCancel(ctx)
	t.settleParked(ctx, p)
	if _, err := t.ws.Rename(ctx, at, p, t.restructuring(ctx)); err != nil {
		t.log.Warn("note is not back at the name it was renamed from", model.LogPath, string(p), model.LogErr, err)
		pk.timer.Reset(parkGrace)
		return
	}
}

// bringFolderHome shows the folder that people have at p, and that was removed where it
// was shown, at p. What was in it stays parked, there.
func (t *tree) bringFolderHome(ctx context.Context, p model.Path) bool {
	at, pk := p, t.parkedAt(p)
	if pk == nil || pk.doc != 0 {
		if at, pk = t.parkedFrom(p); pk == nil || pk.doc != 0 {
			return false
		}
	}
	if !pk.timer.Stop() { // its grace is over just now
		return false
	}
	ctx = context.WithoutCancel(ctx)
	if at != p {
		if _, err := t.ws.Rename(ctx, at, p, t.restructuring(ctx)); err != nil {
			t.log.Warn("folder is not back at the name it was renamed from", model.LogPath, string(p), model.LogErr, err)
			pk.timer.Reset(parkGrace)
			return false
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.unpark(p)
	return true
}

// parkedFrom finds what people have at p among what was unlinked elsewhere a moment
// ago.
func (t *tree) parkedFrom(p model.Path) (model.Path, *parking) {
	for at, pk := range t.parkedElsewhere(p) {
		if home, err := t.ws.PeoplesPath(at); err == nil && home == p {
			return at, pk
		}
	}
	return "", nil
}
