//go:build !windows

package fusefs

import (
	"context"
	"maps"
	"slices"
	"syscall"
	"time"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/fusefs/internal/content"
	"github.com/relayfs/relayfs/fusefs/internal/life"
	"github.com/relayfs/relayfs/fusefs/internal/process"
)

// Editors save by moving the note away and creating a new file in its place, and
// mv does by unlinking it first. Taken literally that deletes the document for
// everybody and creates another. So a note whose name goes away is parked: hidden
// here, untouched in the workspace. A file that is created at its name within a
// moment is the note, written again. Otherwise the move or the removal was meant,
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

// replaces says whether a program unlinks a file in order to put another in its place. With
// --structure deny nothing else distinguishes that from a removal, which is refused at once
// (TestDenialLetsSavesThrough). What others unlink is removed before they are answered: a
// kill must not bring it back (tests/crash, TestKillLosesNoWrite).
func replaces(program string) bool {
	return slices.Contains([]string{"mv", "cp", "install", "git", "tar"}, program)
}

// removes says whether a program unlinks a file because it is to go, so that it can be told
// at once that too many would go. Unlink(2) alone does not distinguish it from a save. See
// TestBrakeLetsSavesThrough.
func removes(program string) bool { return slices.Contains([]string{"rm", "unlink", "find"}, program) }

const (
	whyUnlinked = "unlinked"
	whyRenamed  = "renamed away"
)

// maxParked is how many notes a process may have unlinked that are parked: one that
// saves has one or two, one that cleans up has all of them.
const maxParked = 5

// maxParkGrace bounds the grace of what a busy program may yet put back.
const maxParkGrace = time.Minute

// graceLeft is how long pk stays parked. The grace begins again with each note that the
// same process unlinks or puts back: git may have thousands to unlink first.
func (tb *table) graceLeft(pk *parking) time.Duration {
	return min(parkGrace-time.Since(tb.busy[pk.proc.Id]), maxParkGrace-time.Since(pk.since))
}

// unpark ends the parking at p, nil if there is none.
func (tb *table) unpark(p model.Path) *parking {
	pk := tb.parked[p]
	if pk != nil {
		pk.timer.Stop()
		delete(tb.parked, p)
		tb.epoch++
		if len(tb.parked) == 0 {
			clear(tb.busy)
		}
	}
	return pk
}

func (n *names) parkedAt(p model.Path) (pk *parking) {
	n.update(func(tb *table) { pk = tb.parked[p] })
	return pk
}

func (n *names) parkedIf(condition func(at model.Path, pk *parking) bool) map[model.Path]*parking {
	found := make(map[model.Path]*parking)
	n.update(func(tb *table) {
		for at, pk := range tb.parked {
			if condition(at, pk) {
				found[at] = pk
			}
		}
	})
	return found
}

func (n *names) unlinkedBy(proc int) int {
	return len(n.parkedIf(func(_ model.Path, pk *parking) bool { return pk.why == whyUnlinked && pk.proc.Id == proc }))
}

// park hides the note at p. Its inode goes on as a scratch file with the content it shows.
func (t *tree) park(ctx context.Context, p model.Path, f *File, target model.Path, why string) error {
	err := f.pin(ctx)
	defer f.unpin()
	if err != nil {
		return err
	}
	pk := &parking{target: target, why: why, by: t.restructuring(ctx), proc: t.procs.Of(ctx)}
	f.update(func(s *fileState) {
		pk.doc, pk.image = s.doc, s.text.Base()
		s.detach(life.Detach)
		_ = s.fits(s.text.Size()) // a backup may exceed the scratch layer: it is one more copy, for a while
	})
	t.unlinkRetired(p)
	t.update(func(tb *table) {
		tb.forget(p, f)
		tb.inos.Set(pk.doc, tb.inos.Next()) // the old number stays with the old inode
		t.parkAt(tb, p, pk)
	})
	return nil
}

// parkAt hides what is at p for the grace.
func (t *tree) parkAt(tb *table, p model.Path, pk *parking) {
	tb.epoch++
	tb.parked[p], pk.at = pk, p
	if pk.since.IsZero() {
		pk.since = time.Now()
		tb.busy[pk.proc.Id] = pk.since
	}
	pk.timer = time.AfterFunc(parkGrace, func() {
		var left time.Duration
		t.update(func(tb *table) {
			if left = tb.graceLeft(pk); left > 0 && tb.parked[p] == pk {
				pk.timer.Reset(left)
			}
		})
		if left <= 0 {
			t.graceOver(context.Background(), p, pk)
		}
	})
}

// graceOver removes or renames in the workspace what is parked, or shows it again.
func (t *tree) graceOver(ctx context.Context, p model.Path, pk *parking) {
	if t.parkedAt(p) != pk {
		return
	}
	err := t.carryOut(ctx, p, pk)
	t.update(func(tb *table) {
		if tb.parked[pk.at] == pk { // a rename has taken it along
			tb.unpark(pk.at)
		}
	})
	if err != nil {
		t.entryChanged(p)
		t.log.Warn("note is back at its name", model.LogPath, string(p), "was", pk.why, model.LogErr, err)
	}
}

func (t *tree) carryOut(ctx context.Context, p model.Path, pk *parking) (err error) {
	if pk.doc == 0 {
		t.settleBelow(ctx, p)
	}
	switch {
	case pk.why == whyUnlinked, pk.gave:
		_, err = t.ws.Remove(ctx, p, pk.by)
	case pk.target == "":
		err = &model.Error{Op: "rename", Path: p, Err: syscall.EXDEV}
	default:
		_, err = t.ws.Rename(ctx, p, pk.target, pk.by)
	}
	return err
}

// settleParked ends the grace of everything at and below p now.
func (t *tree) settleParked(ctx context.Context, p model.Path) {
	t.settleBelow(ctx, p)
	if pk := t.parkedAt(p); pk != nil {
		t.graceOver(ctx, p, pk)
	}
}

// settleBelow ends the grace of everything below p. What is in a parked folder goes with that.
func (t *tree) settleBelow(ctx context.Context, p model.Path) {
	below := t.parkedIf(func(at model.Path, _ *parking) bool { return at != p && p.Contains(at) })
	maps.DeleteFunc(below, func(at model.Path, _ *parking) bool {
		for up := at.Dir(); up != p && up != ""; up = up.Dir() {
			if below[up] != nil {
				return true
			}
		}
		return false
	})
	for at, pk := range below {
		t.graceOver(ctx, at, pk)
	}
}

// vacate lets what is parked at p go for good, because something else gets the name.
func (t *tree) vacate(ctx context.Context, p model.Path) {
	t.update(func(tb *table) {
		if pk := tb.parked[p]; pk != nil {
			pk.gave = true
		}
	})
	t.settleParked(ctx, p)
}

// git takes a rename back by unlinking the new name and creating a file at the old
// one (git reset --hard, git checkout). Taken one by one these delete the note and
// create another beside it. So a file that is created at the name at which people have a
// note that was unlinked elsewhere a moment ago is that note, back at its name and
// about to be written again. The same goes for a folder: what was in it is unlinked, it
// is removed, and one is created at the name that people have it by.

// isRenamed says whether people have what is shown at p somewhere else.
func (t *tree) isRenamed(p model.Path) bool {
	home, err := t.ws.PeoplesPath(p)
	return err == nil && home != p
}

// parkedFrom finds what people have at p among what was unlinked elsewhere a moment
// ago.
func (t *tree) parkedFrom(p model.Path) (model.Path, *parking) {
	elsewhere := t.parkedIf(func(at model.Path, pk *parking) bool { return at != p && pk.why == whyUnlinked })
	for at, pk := range elsewhere {
		if home, err := t.ws.PeoplesPath(at); err == nil && home == p {
			return at, pk
		}
	}
	return "", nil
}

// bringHome lets the note that people have at p, and that was unlinked where it is
// shown, be parked at p instead. Another one that is parked there goes first: its
// own name may be the next that is created.
func (t *tree) bringHome(ctx context.Context, p model.Path) {
	at, pk := t.parkedFrom(p)
	if pk == nil || pk.doc == 0 || !pk.timer.Stop() { // a folder, or its grace is over just now
		return
	}
	ctx = context.WithoutCancel(ctx)
	t.settleParked(ctx, p)
	t.renameBack(ctx, at, p, pk)
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
	if at != p && !t.renameBack(context.WithoutCancel(ctx), at, p, pk) {
		return false
	}
	t.update(func(tb *table) { tb.unpark(p) })
	return true
}

func (t *tree) renameBack(ctx context.Context, at, p model.Path, pk *parking) bool {
	_, err := t.ws.Rename(ctx, at, p, t.restructuring(ctx))
	if err != nil {
		t.log.Warn("what was renamed is not back at its old name: reject the rename to undo it", model.LogPath, string(p), model.LogErr, err)
		pk.timer.Reset(parkGrace)
	}
	return err == nil
}
