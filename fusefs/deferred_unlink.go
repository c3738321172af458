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
	"github.com/relayfs/relayfs/fusefs/internal/program"
)

// Editors save by moving the note away and creating a new file at its name, and mv saves by unlinking the note first.
// Taken literally, these calls delete the document for everyone and create another one. So if a note loses its name,
// its unlink is usually deferred: the mount hides the note, and the workspace keeps it unchanged. If a program creates
// a file at its name within a moment, that file is the note, written again. Otherwise the move or the removal was
// intended, and the structure policy decides.
//
// An unlink is the same call whether or not a save follows, so one rule holds for all programs. If an unlink would
// create a proposal, the mount creates the proposal at once. A file that is put at the name withdraws the proposal. If
// the policy or the deletion limit would refuse the unlink, the mount defers it, and shows the note again after the
// grace period. It also defers the unlink of a server's note that needs no proposal, because another note at its name
// would be another document, and a user may be typing in this one. But a process that has unlinked another note and has
// not put that note back is not saving. Its unlink is usually refused at once.

// unlinkGrace is the grace period: the time for which a name may be missing during a save.
const unlinkGrace = 3 * time.Second

// deferredUnlink is a note, another file or a folder that the mount hides during its grace period.
type deferredUnlink struct {
	at        model.Path
	doc       uint64        // ID of the note or file; 0 for a folder
	image     content.Image // the text that the note showed
	target    model.Path    // new path of a rename; "" if it was unlinked or moved out of the workspace
	why       string
	nameTaken bool                 // another note has taken its name
	backup    *File                // the scratch file that shows the content of a file that is not a note; otherwise nil
	by        bridge.ChangeRequest // the request that was deferred
	proc      program.Program      // the process that made the request
	since     time.Time
	timer     *time.Timer
}

const (
	whyUnlinked = "unlinked"
	whyRenamed  = "renamed away"
)

// maxUnlinkGrace is the maximum total length of a grace period, however often it begins again.
const maxUnlinkGrace = time.Minute

// graceLeft returns the remaining grace period of du. The grace period begins again with each note that the same
// process unlinks or puts back, because git may unlink thousands of notes before it puts them back.
func (tb *tableState) graceLeft(du *deferredUnlink) time.Duration {
	return min(unlinkGrace-time.Since(tb.lastUnlink[du.proc.Identity]), maxUnlinkGrace-time.Since(du.since))
}

// cancelUnlink cancels the deferred unlink at p without applying it. It returns the unlink, or nil if there is none.
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
	if dir, err := t.ws.SourcePath(p.Dir()); err == nil && dir == home.Dir() {
		home = p.Dir().Join(home.Base()) // a rename of the folder may be pending, too
	}
	r := &deferredUnlink{at: home, why: whyUnlinked, by: t.changeRequest(ctx), proc: t.programs.Of(ctx), since: time.Now()}
	f.update(func(s *fileState) { r.doc, r.image = s.doc, s.text.Base() })
	by := r.by
	by.Deferrable = true
	done, err := t.ws.Remove(ctx, p, by)
	if err != nil {
		return err
	}
	t.unlinkReplaced(p)
	if done.Proposal == "" { // the agent's own note was removed
		return nil
	}
	t.update(func(tb *tableState) {
		maps.DeleteFunc(tb.removed, func(_ model.Path, r *deferredUnlink) bool { return time.Since(r.since) > unlinkGrace })
		tb.removed[p] = r
	})
	return nil
}

// putBack is called before a file is put at the free name p. If a note whose rename is pending was unlinked at p a
// moment ago, putBack creates the note again and defers its unlink at p. If no rename of the note is pending, the
// workspace itself recognizes the note.
func (t *tree) putBack(ctx context.Context, p model.Path) {
	var r *deferredUnlink
	t.update(func(tb *tableState) {
		r = tb.removed[p]
		delete(tb.removed, p)
	})
	if r == nil || r.at == p || time.Since(r.since) > unlinkGrace || t.ws.NoteID(p) != 0 {
		return
	}
	ctx = context.WithoutCancel(ctx)
	base, text := r.image.Rebase(r.image.Text) // as base, so that a user's changes since the unlink stay
	_, err := t.ws.Create(ctx, r.at, bridge.Write{Base: base, Text: text, By: r.by.Author, Origin: t, InFolder: true})
	if err == nil {
		_, err = t.ws.Rename(ctx, r.at, p, r.by)
	}
	if err != nil {
		t.log.Warn("a note that was unlinked and written again is a new note: reject the deletion to restore the old note", model.LogPath, string(p), model.LogErr, err)
		return
	}
	r.since = time.Time{}
	t.update(func(tb *tableState) { t.deferAt(tb, p, r) })
}

// deferUnlink hides the note at p. Its inode becomes a scratch file with the content that the note shows.
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
		_ = s.fits(s.text.Size()) // a backup may exceed the scratch quota, because it is only a temporary copy
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

// applyUnlink removes or renames the deferred node in the workspace. If that fails, the mount shows the node again.
func (t *tree) applyUnlink(ctx context.Context, p model.Path, du *deferredUnlink) {
	if t.deferredAt(p) != du {
		return
	}
	err := t.applyDeferred(ctx, p, du)
	t.update(func(tb *tableState) {
		if tb.deferred[du.at] == du { // a rename may have moved du
			tb.cancelUnlink(du.at)
		}
	})
	if err != nil {
		t.entryChanged(p)
		if du.why == whyUnlinked {
			t.errno.OfSaveBy(du.proc, "unlink", p, err) // the unlink had reported success
		}
		t.log.Warn("note is shown at its name again", model.LogPath, string(p), "was", du.why, model.LogErr, err)
	}
}

func (t *tree) applyDeferred(ctx context.Context, p model.Path, du *deferredUnlink) (err error) {
	if du.doc == 0 {
		t.flushBelow(ctx, p)
	}
	switch {
	case du.why == whyUnlinked && !du.nameTaken && t.hasChanged(ctx, p, du):
		err = &model.Error{Op: "remove", Path: p, Err: model.ErrConflict}
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

// hasChanged reports whether the note at p has changed since its unlink. It then stays, because the program that
// unlinked it has not seen the change.
func (t *tree) hasChanged(ctx context.Context, p model.Path, du *deferredUnlink) bool {
	if du.image.Version == nil {
		return false
	}
	v, err := t.ws.Open(ctx, p)
	return err == nil && v.Raw() != du.image.Version.Raw()
}

// dropBackup removes the backup file that the target of a deferred rename shows, because the renamed file gets that
// name. It reports whether the backup was still there.
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

// flushBelow applies all deferred unlinks below p. It skips the contents of a deferred folder, because applying the
// folder's unlink includes them.
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

// dropDeferred removes the node whose unlink is deferred at p, because another node gets that name.
func (t *tree) dropDeferred(ctx context.Context, p model.Path) {
	t.update(func(tb *tableState) {
		if du := tb.deferred[p]; du != nil {
			du.nameTaken = true
		}
	})
	t.flushUnlinks(ctx, p)
}

// git undoes a rename by unlinking the new name and creating a file at the old name (git reset --hard, git checkout).
// Taken separately, these calls delete the note and create another one next to it. So if a note was unlinked at another
// path a moment ago, a file that is created at the note's source path is that note, which git is about to write again.
// The same applies to a folder: git unlinks the folder's contents, removes the folder, and creates a folder at its
// source path.

// isRenamed reports whether the node shown at p has another path in the source.
func (t *tree) isRenamed(p model.Path) bool {
	home, err := t.ws.SourcePath(p)
	return err == nil && home != p
}

// deferredFrom finds the node with the source path p that was unlinked at another path a moment ago.
func (t *tree) deferredFrom(p model.Path) (model.Path, *deferredUnlink) {
	elsewhere := t.deferredIf(func(at model.Path, du *deferredUnlink) bool { return at != p && du.why == whyUnlinked })
	for at, du := range elsewhere {
		if home, err := t.ws.SourcePath(at); err == nil && home == p {
			return at, du
		}
	}
	return "", nil
}

// deferAtSourcePath is called before a file is created at p. If the note with the source path p was unlinked at another
// path, where it was shown, deferAtSourcePath defers that unlink at p instead. It first ends the grace period of
// another note deferred at p, because a program may create a file at that note's source path next.
func (t *tree) deferAtSourcePath(ctx context.Context, p model.Path) {
	at, du := t.deferredFrom(p)
	if du == nil || du.doc == 0 || !du.timer.Stop() { // no deferred unlink, a folder, or a grace period that has just ended
		return
	}
	ctx = context.WithoutCancel(ctx)
	t.flushUnlinks(ctx, p)
	t.renameBack(ctx, at, p, du)
}

// restoreFolder is called before a folder is created at p. It looks for a folder that was removed a moment ago, either
// at p or at another path with p as its source path. If there is one, restoreFolder shows it at p again and returns
// true. The unlinks of the folder's contents stay deferred at p.
func (t *tree) restoreFolder(ctx context.Context, p model.Path) bool {
	at, du := p, t.deferredAt(p)
	if du == nil || du.doc != 0 {
		if at, du = t.deferredFrom(p); du == nil || du.doc != 0 {
			return false
		}
	}
	if !du.timer.Stop() { // the grace period has just ended
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
		t.log.Warn("cannot move a renamed note or folder back to its old name: reject the rename to undo it", model.LogPath, string(p), model.LogErr, err)
		du.timer.Reset(unlinkGrace)
	}
	return err == nil
}
