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
// deferred: hidden here, unchanged in the workspace. If a file is created at its name within a moment, it is the note,
// written again. Otherwise the move or the removal was intended, and the structure policy decides.
//
// An unlink is the same call whether a save follows or not. So one rule holds for all programs. Where an unlink creates
// a proposal it does so at once, and a file that is put at the name withdraws the proposal. Where it would be refused,
// by the policy or the deletion limit, the unlink is deferred, and the note shown again after the grace. But a process that has
// unlinked another note and has not put it back is not saving, and is refused at once.

// unlinkGrace is the time for which a name may be missing during a save.
const unlinkGrace = 3 * time.Second

// deferredUnlink is a note or folder that is hidden for now.
type deferredUnlink struct {
	at        model.Path
	doc       uint64        // 0 for a folder
	image     content.Image // the text that it showed
	target    model.Path    // new path of a rename; "" if it was unlinked or moved out of the workspace
	why       string
	nameTaken bool                 // another note has its name
	backup    *File                // what target shows of a file that is no note; nil for a note or folder
	by        bridge.ChangeRequest // the request that was deferred
	proc      program.Program      // the process of that request
	since     time.Time
	timer     *time.Timer
}

const (
	whyUnlinked = "unlinked"
	whyRenamed  = "renamed away"
)

// maxUnlinkGrace bounds the grace of notes that a busy program may yet put back.
const maxUnlinkGrace = time.Minute

// graceLeft returns how long du stays deferred. The grace begins again with each note that the same
// process unlinks or puts back: git may unlink thousands first.
func (tb *tableState) graceLeft(du *deferredUnlink) time.Duration {
	return min(unlinkGrace-time.Since(tb.lastUnlink[du.proc.Identity]), maxUnlinkGrace-time.Since(du.since))
}

// cancelUnlink ends the deferred unlink at p and returns it, nil if there is none.
func (tb *tableState) cancelUnlink(p model.Path) *deferredUnlink {
	du := tb.deferred[p]
	if du != nil {
		du.timer.Stop()
		delete(tb.deferred, p)
		tb.epoch++
		if len(tb.deferred) == 0 {
			clear(tb.lastUnlink)
		}
	}
	return du
}

func (n *nodeTable) deferredAt(p model.Path) (du *deferredUnlink) {
	n.update(func(tb *tableState) { du = tb.deferred[p] })
	return du
}

func (n *nodeTable) deferredIf(condition func(at model.Path, du *deferredUnlink) bool) map[model.Path]*deferredUnlink {
	found := make(map[model.Path]*deferredUnlink)
	n.update(func(tb *tableState) {
		for at, du := range tb.deferred {
			if condition(at, du) {
				found[at] = du
			}
		}
	})
	return found
}

// removal is a proposal to delete a note, made a moment ago. It is made at once, because a kill must not restore the
// note, and withdrawn if a file is put at the note's name.
type removal struct {
	sourcePath model.Path // the note's source path
	doc        uint64
	image      content.Image // the text that it showed
	by         bridge.ChangeRequest
	proc       program.Program
	since      time.Time
}

func (n *nodeTable) unlinkedBy(proc program.Identity) (count int) {
	n.update(func(tb *tableState) {
		for _, du := range tb.deferred {
			if du.why == whyUnlinked && du.proc.Identity == proc {
				count++
			}
		}
		for _, r := range tb.removed {
			if r.proc.Identity == proc && time.Since(r.since) < unlinkGrace {
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
	r := &removal{sourcePath: home, by: t.changeRequest(ctx), proc: t.programs.Of(ctx), since: time.Now()}
	f.update(func(s *fileState) { r.doc, r.image = s.doc, s.text.Base() })
	done, err := t.ws.Remove(ctx, p, r.by)
	if err != nil {
		return err
	}
	t.unlinkReplaced(p)
	if done.Proposal == "" { // the agent's own note was removed
		return nil
	}
	t.update(func(tb *tableState) {
		maps.DeleteFunc(tb.removed, func(_ model.Path, r *removal) bool { return time.Since(r.since) > unlinkGrace })
		tb.removed[p] = r
	})
	return nil
}

// putBack is called before a file is put at the free name p. If a note with another source path was unlinked at p a
// moment ago, putBack defers its unlink at p. (A note whose source path is p needs nothing: the workspace recognizes it.)
func (t *tree) putBack(ctx context.Context, p model.Path) {
	var r *removal
	t.update(func(tb *tableState) {
		r = tb.removed[p]
		delete(tb.removed, p)
	})
	if r == nil || r.sourcePath == p || time.Since(r.since) > unlinkGrace || t.ws.HasNote(p) {
		return
	}
	ctx = context.WithoutCancel(ctx)
	_, err := t.ws.Create(ctx, r.sourcePath, bridge.Write{Text: r.image.Text, By: r.by.Author, Origin: t})
	if err == nil {
		_, err = t.ws.Rename(ctx, r.sourcePath, p, r.by)
	}
	if err != nil {
		t.log.Warn("a note that was unlinked and written again is a new note: reject the deletion to restore the old one", model.LogPath, string(p), model.LogErr, err)
		return
	}
	du := &deferredUnlink{doc: r.doc, image: r.image, why: whyUnlinked, by: r.by, proc: r.proc}
	t.update(func(tb *tableState) { t.deferAt(tb, p, du) })
}

// deferUnlink hides the note at p. Its inode becomes a scratch file with the content that the
// note shows.
func (t *tree) deferUnlink(ctx context.Context, p model.Path, f *File, target model.Path, why string) error {
	err := f.pin(ctx)
	defer f.unpin()
	if err != nil {
		return err
	}
	du := &deferredUnlink{target: target, why: why, by: t.changeRequest(ctx), proc: t.programs.Of(ctx)}
	f.update(func(s *fileState) {
		du.doc, du.image = s.doc, s.text.Base()
		s.detach(evBecomeScratch)
		_ = s.fits(s.text.Size()) // a backup may exceed the scratch quota: it is one more copy, for a while
	})
	t.unlinkReplaced(p)
	t.update(func(tb *tableState) {
		tb.forget(p, f)
		tb.inos.set(du.doc, tb.inos.next()) // the old number stays with the old inode
		t.deferAt(tb, p, du)
	})
	return nil
}

func (t *tree) deferAt(tb *tableState, p model.Path, du *deferredUnlink) {
	tb.epoch++
	tb.deferred[p], du.at = du, p
	if du.since.IsZero() {
		du.since = time.Now()
		tb.lastUnlink[du.proc.Identity] = du.since
	}
	du.timer = time.AfterFunc(unlinkGrace, func() {
		var left time.Duration
		t.update(func(tb *tableState) {
			if left = tb.graceLeft(du); left > 0 && tb.deferred[p] == du {
				du.timer.Reset(left)
			}
		})
		if left <= 0 {
			t.applyUnlink(context.Background(), p, du)
		}
	})
}

// applyUnlink removes or renames the deferred node in the workspace, or shows it again.
func (t *tree) applyUnlink(ctx context.Context, p model.Path, du *deferredUnlink) {
	if t.deferredAt(p) != du {
		return
	}
	err := t.applyDeferred(ctx, p, du)
	t.update(func(tb *tableState) {
		if tb.deferred[du.at] == du { // a rename may have moved it
			tb.cancelUnlink(du.at)
		}
	})
	if err != nil {
		t.entryChanged(p)
		if du.why == whyUnlinked {
			t.errno.OfSaveBy(du.proc, "unlink", p, err) // unlink had reported success
		}
		t.log.Warn("note is back at its name", model.LogPath, string(p), "was", du.why, model.LogErr, err)
	}
}

func (t *tree) applyDeferred(ctx context.Context, p model.Path, du *deferredUnlink) (err error) {
	if du.doc == 0 {
		t.flushBelow(ctx, p)
	}
	switch {
	case du.why == whyUnlinked, du.nameTaken:
		_, err = t.ws.Remove(ctx, p, du.by)
	case du.backup != nil && du.target != "" && !t.dropBackup(du):
		_, err = t.ws.Remove(ctx, p, du.by)
	case du.target == "":
		err = &model.Error{Op: "rename", Path: p, Err: syscall.EXDEV}
	default:
		_, err = t.ws.Rename(ctx, p, du.target, du.by)
	}
	return err
}

// dropBackup shows at the target what is about to be renamed to it. There is no target if the backup was removed.
func (t *tree) dropBackup(du *deferredUnlink) bool {
	dir := t.folderOf(du.target)
	if dir == nil || !dir.layer().drop(du.target.Base(), du.backup) {
		return false
	}
	du.backup.loseName(evUnlink)
	t.entryChanged(du.target)
	return true
}

func (t *tree) flushUnlinks(ctx context.Context, p model.Path) {
	t.flushBelow(ctx, p)
	if du := t.deferredAt(p); du != nil {
		t.applyUnlink(ctx, p, du)
	}
}

// flushBelow ends the grace of everything below p. A deferred folder includes its contents.
func (t *tree) flushBelow(ctx context.Context, p model.Path) {
	below := t.deferredIf(func(at model.Path, _ *deferredUnlink) bool { return at != p && p.Contains(at) })
	maps.DeleteFunc(below, func(at model.Path, _ *deferredUnlink) bool {
		for up := at.Dir(); up != p && up != ""; up = up.Dir() {
			if below[up] != nil {
				return true
			}
		}
		return false
	})
	for at, du := range below {
		t.applyUnlink(ctx, at, du)
	}
}

// dropDeferred ends the deferred unlink at p for good, because another node gets the name.
func (t *tree) dropDeferred(ctx context.Context, p model.Path) {
	t.update(func(tb *tableState) {
		if du := tb.deferred[p]; du != nil {
			du.nameTaken = true
		}
	})
	t.flushUnlinks(ctx, p)
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

// deferredFrom finds the node with the source path p that was unlinked elsewhere a moment ago.
func (t *tree) deferredFrom(p model.Path) (model.Path, *deferredUnlink) {
	elsewhere := t.deferredIf(func(at model.Path, du *deferredUnlink) bool { return at != p && du.why == whyUnlinked })
	for at, du := range elsewhere {
		if home, err := t.ws.SourcePath(at); err == nil && home == p {
			return at, du
		}
	}
	return "", nil
}

// deferAtSourcePath defers the unlink of the note with the source path p, which was unlinked where it is shown, at p
// instead. It first ends the grace period of another note deferred at p, because a program may create that note's own name next.
func (t *tree) deferAtSourcePath(ctx context.Context, p model.Path) {
	at, du := t.deferredFrom(p)
	if du == nil || du.doc == 0 || !du.timer.Stop() { // a folder, or its grace is just over
		return
	}
	ctx = context.WithoutCancel(ctx)
	t.flushUnlinks(ctx, p)
	t.renameBack(ctx, at, p, du)
}

// restoreFolder shows the folder with the source path p, which was removed where it was shown, at
// p. Its contents stay deferred there.
func (t *tree) restoreFolder(ctx context.Context, p model.Path) bool {
	at, du := p, t.deferredAt(p)
	if du == nil || du.doc != 0 {
		if at, du = t.deferredFrom(p); du == nil || du.doc != 0 {
			return false
		}
	}
	if !du.timer.Stop() { // its grace is just over
		return false
	}
	if at != p && !t.renameBack(context.WithoutCancel(ctx), at, p, du) {
		return false
	}
	t.update(func(tb *tableState) { tb.cancelUnlink(p) })
	return true
}

func (t *tree) renameBack(ctx context.Context, at, p model.Path, du *deferredUnlink) bool {
	_, err := t.ws.Rename(ctx, at, p, t.changeRequest(ctx))
	if err != nil {
		t.log.Warn("cannot move a renamed node back to its old name: reject the rename to undo it", model.LogPath, string(p), model.LogErr, err)
		du.timer.Reset(unlinkGrace)
	}
	return err == nil
}
