//go:build !windows

package fusefs

import (
	"context"
	"errors"
	"io/fs"
	"syscall"
	"time"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/fusefs/internal/content"
)

// This file decides which text a note's inode shows.
//
// The kernel takes the size of a file and the bytes from different answers and caches both. It may combine a cached
// size with newly requested bytes (sendfile uses the cached size). An inode has one size at a time, for all processes.
// So an inode of a note has one text until a program writes through it. A change made elsewhere is shown like a save by
// rename: the name gets a new inode with the same number, for which the kernel has cached nothing. The old inode is
// replaced: programs that have it open continue to read the text that they opened, and base their writes on that text.
//
// A note without open handles is evicted: its inode keeps the length of its text but not the text, so that only the
// workspace decides which texts stay in memory. If the note has another text when it is requested again, the inode is
// replaced.

// refresh gets the newest version from the workspace and loads the text of f. It does not change a file that
// has a buffer, that the workspace does not have, or that was removed or replaced and still has its text. It
// returns ESTALE if the text that f showed is no longer available.
func (f *File) refresh(ctx context.Context) error {
	var rests, ask bool
	f.update(func(s *fileState) {
		rests = s.text.IsEvicted()
		ask = s.doc != 0 && s.text.Buffer() == nil && (rests || !s.life.IsReplaced())
	})
	p, there := f.where()
	switch {
	case !ask, !there && !rests: // a file that was removed while open keeps its text
		return nil
	case !there:
		return &model.Error{Op: "open", Path: p, Err: fs.ErrNotExist}
	}
	v, err := f.t.ws.Open(ctx, p)
	f.update(func(s *fileState) {
		if err == nil {
			err = s.load(v, p)
		} else if !s.text.IsEvicted() && errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
	})
	return err
}

func (f *fileState) load(v *model.Version, p model.Path) error {
	f.text.SetLatest(v)
	if f.text.IsStale() {
		f.showLatest() // the event of that change comes a moment later
		if f.t.handleless && f.text.IsEvicted() {
			_ = f.NotifyContent(attributesOnly, 0) // readers already have the file open
			f.text.Forget()
		}
	}
	if f.text.IsEvicted() {
		f.text.Show()
	}
	if f.text.State() == content.Evicted {
		return &model.Error{Op: "open", Path: p, Err: syscall.ESTALE}
	}
	return nil
}

// published applies an event of the note. mine is set if a program on this mount has caused it. Even during a
// hold, the name immediately shows a decision or a write that a caller has requested elsewhere, and a write by the
// session for which the name is held.
func (f *File) published(ev model.Event, mine bool) {
	f.update(func(s *fileState) {
		s.text.SetLatest(ev.Version)
		switch {
		case ev.Origin == any(f) || !ev.ViewChanged || !s.text.IsStale():
		case ev.Asked && (!mine || ev.By.Session == s.nameHold.session):
			s.replaceInode(evReplace)
		default:
			s.showLatest()
		}
	})
}

// evict drops the text if it is not needed. A replaced f keeps its text until the kernel has forgotten f, because no
// other place has that text. Before f is replaced on a mount without handles, tree.recent keeps the text for a while.
func (f *fileState) evict() {
	if f.life == stateLive && len(f.handles) == 0 && f.pins == 0 && f.nameHold.until.IsZero() {
		f.text.Evict()
	}
}

// pin loads the text of f and keeps it until unpin. The caller must call unpin even after an error.
func (f *File) pin(ctx context.Context) error {
	f.update(func(s *fileState) { s.pins++ })
	return f.refresh(ctx)
}

func (f *File) unpin() {
	f.update(func(s *fileState) {
		s.pins--
		s.evict()
	})
}

// saveHold is the time for which a name keeps the inode through which a note was saved, although the note's text
// differs from the saved text: the note's text includes another writer's change, or has other line ends. The name keeps
// the inode because programs check that the saved text is there. If another session opens the note, the hold ends.
const saveHold = 300 * time.Millisecond

type nameHold struct {
	until      time.Time // end of the hold; zero if there is none
	session    string    // the session that saved
	hidesNewer bool      // the shown text is outdated, and the hold delays the newer text
	// free is the earliest time of the next hold. A hold that has delayed a newer text is followed by an equally long
	// time without a hold. Otherwise a program that saves all the time would hide the changes of others forever.
	free time.Time
}

// extendHold starts a hold, or extends a hold that delays no newer text. So changes by others are hidden for at most
// saveHold.
func (f *fileState) extendHold(session string) {
	f.nameHold.session = session
	if f.nameHold.hidesNewer || time.Now().Before(f.nameHold.free) {
		return
	}
	if f.nameHold.until.IsZero() {
		time.AfterFunc(saveHold, f.endHold)
	}
	f.nameHold.until = time.Now().Add(saveHold)
}

func (f *File) endHold() {
	f.update(func(s *fileState) {
		if wait := time.Until(s.nameHold.until); wait > 0 {
			time.AfterFunc(wait, f.endHold)
			return
		}
		ended := nameHold{}
		if s.nameHold.hidesNewer {
			ended.free = time.Now().Add(saveHold)
		}
		s.nameHold = ended
		if s.text.IsStale() {
			s.replaceInode(evReplace)
		}
		s.evict()
	})
}

// inherit takes over the hold of the file that f replaces at its name, if that hold delays a newer text or did so a
// moment ago.
func (f *File) inherit(replaced node) {
	over, ok := replaced.(*File)
	if !ok {
		return
	}
	var h nameHold
	over.update(func(s *fileState) { h = s.nameHold })
	if h.hidesNewer {
		f.update(func(s *fileState) { s.nameHold = h })
		time.AfterFunc(time.Until(h.until), f.endHold)
	} else {
		f.update(func(s *fileState) { s.nameHold.free = h.free })
	}
}

// showLatest makes the name show the newest version, at once or when the hold ends.
func (f *fileState) showLatest() {
	if !f.nameHold.until.IsZero() {
		f.nameHold.hidesNewer = true
		return
	}
	f.replaceInode(evReplace)
}

// replaceInode applies e. If e makes f a replaced inode, it puts a new inode at f's name, which shows a newer
// version than f does. If f may be open, f continues to receive the events of its note.
func (f *fileState) replaceInode(e inodeEvent) {
	f.replaceBy(e, f.text.Next(), nameHold{free: f.nameHold.free})
}

// replaceBy puts a new inode with the given text and hold at f's name. It does nothing if the workspace does not have the
// note yet, because then only f has its text.
func (f *fileState) replaceBy(e inodeEvent, text content.Text, hold nameHold) {
	if f.doc == 0 {
		return
	}
	old := f.life
	f.life = old.After(e)
	if !old.IsReplaced() && f.life.IsReplaced() {
		next := f.t.newFile(0)
		next.attributes.inherit(&f.attributes)
		next.state.life, next.state.doc, next.state.text, next.state.nameHold = stateLive, f.doc, text, hold
		if !hold.until.IsZero() {
			time.AfterFunc(time.Until(hold.until), next.endHold)
		}
		f.t.replace(f.File, next)
	}
	if f.mayBeOpen() || f.text.Buffer() != nil {
		f.t.trackReplaced(f.File)
	}
	if p, there := f.where(); there && !f.attrSentAt.IsZero() {
		f.t.former.add(f.File, p)
	}
}

// replace gives f's number and name to next, if f has the name.
func (t *tree) replace(f, next *File) {
	var dir *nodeEntry
	t.update(func(tb *tableState) {
		p := f.path()
		if tb.has(p, f) {
			next.moveTo(p)
			t.attach(next, f.StableAttr().Mode, f.StableAttr().Ino)
			tb.put(p, next, tb.nodes[p].id)
			dir = tb.nodes[p.Dir()]
		}
	})
	if dir != nil {
		t.inval.renamed(dir.node, next.path().Base())
	}
}

func (f *fileState) mayBeOpen() bool {
	return len(f.handles) > 0 || f.t.handleless && !f.attrSentAt.IsZero()
}

// mustReopen reports whether an open of f must fail with ESTALE, so that the kernel repeats the lookup. An open of a
// stale inode always fails. The first open of an inode without a name fails, too. The repeated open does not, because
// the kernel does not look up a third time, and because programs may open an inode that has no name.
func (f *File) mustReopen(repeated bool) bool {
	life := f.lifeState()
	return life.IsStale() || (life.IsReplaced() || life.Links() == 0) && !repeated && !f.t.handleless
}

// successor returns the inode that now has the name at which f was replaced, or nil.
func (f *File) successor() (next *File) {
	if !f.lifeState().IsReplaced() {
		return nil
	}
	f.t.update(func(tb *tableState) {
		if p, there := f.where(); there && !tb.has(p, f) {
			if k := tb.nodes[p]; k != nil {
				next, _ = k.node.(*File)
			}
		}
	})
	return next
}
