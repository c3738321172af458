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
	"github.com/relayfs/relayfs/fusefs/program"
)

// Editors save by moving the note away and creating a new file in its place, and mv does so by unlinking it first.
// Taken literally that deletes the document for everyone and creates another one. So a note that loses its name is
// parked: hidden here, unchanged in the workspace. If a file is created at its name within a moment, it is the note,
// written again. Otherwise the move or the removal was intended, and the structure policy decides.
//
// An unlink is the same call whether a save follows or not. So one rule holds for all programs. Where an unlink creates
// a proposal it does so at once, and a file that is put at the name withdraws the proposal. Where it would be refused,
// by the policy or the deletion limit, the note is parked, and shown again after the grace. But a process that has
// unlinked another note and has not put it back is not saving, and is refused at once.

// parkGrace is the time for which a name may be missing during a save.
const parkGrace = 3 * time.Second

// parking is a note or folder that is hidden for now.
type parking struct {
	at     model.Path
	doc    uint64        // 0 for a folder
	image  content.Image // the text that it showed
	target model.Path    // new path of a rename; "" if it was unlinked or moved out of the workspace
	why    string
	gave   bool                 // another note has its name
	backup *File                // what target shows of a file that is no note; nil for a note or folder
	by     bridge.ChangeRequest // the request that parked it
	proc   program.Program      // the process of that request
	since  time.Time
	timer  *time.Timer
}

const (
	whyUnlinked = "unlinked"
	whyRenamed  = "renamed away"
)

// maxParkGrace bounds the grace of notes that a busy program may yet put back.
const maxParkGrace = time.Minute

// graceLeft returns how long pk stays parked. The grace begins again with each note that the same
// process unlinks or puts back: git may unlink thousands first.
func (tb *table) graceLeft(pk *parking) time.Duration {
	return min(parkGrace-time.Since(tb.busy[pk.proc.Identity]), maxParkGrace-time.Since(pk.since))
}

// unpark ends the parking at p and returns it, nil if there is none.
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

// removal is a proposal to delete a note, made a moment ago. It is made at once, because a kill must not restore the
// note, and withdrawn if a file is put at the note's name.
type removal struct {
	home  model.Path // the note's source path
	doc   uint64
	image content.Image // the text that it showed
	by    bridge.ChangeRequest
	proc  program.Program
	since time.Time
}

func (n *names) unlinkedBy(proc program.Identity) (count int) {
	n.update(func(tb *table) {
		for _, pk := range tb.parked {
			if pk.why == whyUnlinked && pk.proc.Identity == proc {
				count++
			}
		}
		for _, r := range tb.removed {
			if r.proc.Identity == proc && time.Since(r.since) < parkGrace {
				count++
			}
		}
	})
	return count
}

func (t *tree) removeAtOnce(ctx context.Context, p model.Path, f *File) error {
	home, err := t.ws.SourcePath(p)
	if err != nil {
		return err
	}
	r := &removal{home: home, by: t.restructuring(ctx), proc: t.programs.Of(ctx), since: time.Now()}
	f.update(func(s *fileState) { r.doc, r.image = s.doc, s.text.Base() })
	done, err := t.ws.Remove(ctx, p, r.by)
	if err != nil {
		return err
	}
	t.unlinkRetired(p)
	if done.Proposal == "" { // the agent's own note was removed
		return nil
	}
	t.update(func(tb *table) {
		maps.DeleteFunc(tb.removed, func(_ model.Path, r *removal) bool { return time.Since(r.since) > parkGrace })
		tb.removed[p] = r
	})
	return nil
}

// putBack is called before a file is put at the free name p. If a note with another source path was unlinked at p a
// moment ago, putBack parks it at p. (A note whose source path is p needs nothing: the workspace recognizes it.)
func (t *tree) putBack(ctx context.Context, p model.Path) {
	var r *removal
	t.update(func(tb *table) {
		r = tb.removed[p]
		delete(tb.removed, p)
	})
	if r == nil || r.home == p || time.Since(r.since) > parkGrace || t.ws.HasNote(p) {
		return
	}
	ctx = context.WithoutCancel(ctx)
	_, err := t.ws.Create(ctx, r.home, bridge.Write{Text: r.image.Text, By: r.by.By, Origin: t})
	if err == nil {
		_, err = t.ws.Rename(ctx, r.home, p, r.by)
	}
	if err != nil {
		t.log.Warn("a note that was unlinked and written again is a new note: reject the deletion to restore the old one", model.LogPath, string(p), model.LogErr, err)
		return
	}
	pk := &parking{doc: r.doc, image: r.image, why: whyUnlinked, by: r.by, proc: r.proc}
	t.update(func(tb *table) { t.parkAt(tb, p, pk) })
}

// park hides the note at p. Its inode becomes a scratch file with the content that the
// note shows.
func (t *tree) park(ctx context.Context, p model.Path, f *File, target model.Path, why string) error {
	err := f.pin(ctx)
	defer f.unpin()
	if err != nil {
		return err
	}
	pk := &parking{target: target, why: why, by: t.restructuring(ctx), proc: t.programs.Of(ctx)}
	f.update(func(s *fileState) {
		pk.doc, pk.image = s.doc, s.text.Base()
		s.detach(evBecomeScratch)
		_ = s.fits(s.text.Size()) // a backup may exceed the scratch quota: it is one more copy, for a while
	})
	t.unlinkRetired(p)
	t.update(func(tb *table) {
		tb.forget(p, f)
		tb.inos.set(pk.doc, tb.inos.next()) // the old number stays with the old inode
		t.parkAt(tb, p, pk)
	})
	return nil
}

func (t *tree) parkAt(tb *table, p model.Path, pk *parking) {
	tb.epoch++
	tb.parked[p], pk.at = pk, p
	if pk.since.IsZero() {
		pk.since = time.Now()
		tb.busy[pk.proc.Identity] = pk.since
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

// graceOver removes or renames the parked node in the workspace, or shows it again.
func (t *tree) graceOver(ctx context.Context, p model.Path, pk *parking) {
	if t.parkedAt(p) != pk {
		return
	}
	err := t.carryOut(ctx, p, pk)
	t.update(func(tb *table) {
		if tb.parked[pk.at] == pk { // a rename may have moved it
			tb.unpark(pk.at)
		}
	})
	if err != nil {
		t.entryChanged(p)
		if pk.why == whyUnlinked {
			t.errno.OfSaveBy(pk.proc, "unlink", p, err) // unlink had reported success
		}
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
	case pk.backup != nil && pk.target != "" && !t.dropBackup(pk):
		_, err = t.ws.Remove(ctx, p, pk.by)
	case pk.target == "":
		err = &model.Error{Op: "rename", Path: p, Err: syscall.EXDEV}
	default:
		_, err = t.ws.Rename(ctx, p, pk.target, pk.by)
	}
	return err
}

// dropBackup shows at the target what is about to be renamed to it. There is no target if the backup was removed.
func (t *tree) dropBackup(pk *parking) bool {
	dir := t.folderOf(pk.target)
	if dir == nil || !dir.layer().drop(pk.target.Base(), pk.backup) {
		return false
	}
	pk.backup.lose(evUnlink)
	t.entryChanged(pk.target)
	return true
}

func (t *tree) settleParked(ctx context.Context, p model.Path) {
	t.settleBelow(ctx, p)
	if pk := t.parkedAt(p); pk != nil {
		t.graceOver(ctx, p, pk)
	}
}

// settleBelow ends the grace of everything below p. A parked folder includes its contents.
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

// vacate ends the parking at p for good, because another node gets the name.
func (t *tree) vacate(ctx context.Context, p model.Path) {
	t.update(func(tb *table) {
		if pk := tb.parked[p]; pk != nil {
			pk.gave = true
		}
	})
	t.settleParked(ctx, p)
}

// git undoes a rename by unlinking the new name and creating a file at the old one (git reset
// --hard, git checkout). Taken separately these calls delete the note and create another one next
// to it. So if a note was unlinked elsewhere a moment ago, a file that is created at its source
// path is that note, back at its name and about to be written again. The same applies to a folder:
// its contents are unlinked, it is removed, and a folder is created at its source path.

// isRenamed reports whether the node shown at p has another path in the source.
func (t *tree) isRenamed(p model.Path) bool {
	home, err := t.ws.SourcePath(p)
	return err == nil && home != p
}

// parkedFrom finds the node with the source path p that was unlinked elsewhere a moment ago.
func (t *tree) parkedFrom(p model.Path) (model.Path, *parking) {
	elsewhere := t.parkedIf(func(at model.Path, pk *parking) bool { return at != p && pk.why == whyUnlinked })
	for at, pk := range elsewhere {
		if home, err := t.ws.SourcePath(at); err == nil && home == p {
			return at, pk
		}
	}
	return "", nil
}

// bringHome parks the note with the source path p, which was unlinked where it is shown, at p instead. It first ends
// the grace period of another note parked at p, because a program may create that note's own name next.
func (t *tree) bringHome(ctx context.Context, p model.Path) {
	at, pk := t.parkedFrom(p)
	if pk == nil || pk.doc == 0 || !pk.timer.Stop() { // a folder, or its grace is just over
		return
	}
	ctx = context.WithoutCancel(ctx)
	t.settleParked(ctx, p)
	t.renameBack(ctx, at, p, pk)
}

// bringFolderHome shows the folder with the source path p, which was removed where it was shown, at
// p. Its contents stay parked there.
func (t *tree) bringFolderHome(ctx context.Context, p model.Path) bool {
	at, pk := p, t.parkedAt(p)
	if pk == nil || pk.doc != 0 {
		if at, pk = t.parkedFrom(p); pk == nil || pk.doc != 0 {
			return false
		}
	}
	if !pk.timer.Stop() { // its grace is just over
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
		t.log.Warn("cannot move a renamed node back to its old name: reject the rename to undo it", model.LogPath, string(p), model.LogErr, err)
		pk.timer.Reset(parkGrace)
	}
	return err == nil
}
