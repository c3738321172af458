//go:build !windows

package fusefs

import (
	"context"

	"github.com/relayfs/relayfs/bridge/model"
)

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

// parkFolder parks a folder that is shown elsewhere than people have it, and in which
// nothing is left but what is parked: it may be about to be taken back.
func (t *tree) parkFolder(ctx context.Context, p model.Path, d *Dir) {
	by, proc := t.restructuring(ctx), t.procs.of(ctx)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.forget(p, d)
	t.parkAt(p, &parking{why: whyUnlinked, by: by, proc: proc})
}

// bringFolderHome shows the folder that people have at p, and that was removed where it
// was shown, at p. What was in it stays parked, there.
func (t *tree) bringFolderHome(ctx context.Context, p model.Path) bool {
	at, pk := p, (*parking)(nil)
	t.mu.Lock()
	if here := t.parked[p]; here != nil && here.doc == 0 {
		pk = here
	}
	t.mu.Unlock()
	if pk == nil {
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
	t.mu.Lock()
	unlinked := make(map[model.Path]*parking)
	for at, pk := range t.parked {
		if at != p && pk.why == whyUnlinked {
			unlinked[at] = pk
		}
	}
	t.mu.Unlock()
	for at, pk := range unlinked {
		if home, err := t.ws.PeoplesPath(at); err == nil && home == p {
			return at, pk
		}
	}
	return "", nil
}
