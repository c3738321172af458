//go:build !windows

package fusefs

import (
	"context"

	"github.com/relayfs/relayfs/bridge"
)

// git takes a rename back by unlinking the new name and making a file at the old
// one (git reset --hard, git checkout). Taken one by one these delete the note and
// make another beside it. So a file that is made at the name at which people have a
// note that was unlinked elsewhere a moment ago is that note, back at its name and
// about to be written anew.

// isRenamed says whether people have what is shown at p somewhere else.
func (t *tree) isRenamed(p bridge.Path) bool {
	home, err := t.ws.PeoplesPath(p)
	return err == nil && home != p
}

// bringHome lets the note that people have at p, and that was unlinked where it is
// shown, be parked at p instead. Another one that is parked there goes first: its
// own name may be the next that is made.
func (t *tree) bringHome(ctx context.Context, p bridge.Path) {
	at, pk := t.parkedFrom(p)
	if pk == nil || !pk.timer.Stop() { // or its grace is over just now
		return
	}
	ctx = context.WithoutCancel(ctx)
	t.settleParked(ctx, p)
	if _, err := t.ws.Rename(ctx, at, p, t.restructuring(ctx)); err != nil {
		t.log.Warn("note is not back at the name it was renamed from", bridge.LogPath, string(p), bridge.LogErr, err)
		pk.timer.Reset(parkGrace)
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.parked[at] == pk {
		t.unpark(at)
		t.parkAt(p, pk)
	}
}

// parkedFrom finds the note that people have at p among those that were unlinked
// elsewhere a moment ago.
func (t *tree) parkedFrom(p bridge.Path) (bridge.Path, *parking) {
	t.mu.Lock()
	unlinked := make(map[bridge.Path]*parking)
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
