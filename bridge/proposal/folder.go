package proposal

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/relayfs/relayfs/bridge/activity"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/note"
	"github.com/relayfs/relayfs/bridge/tree"
)

// maxAttempts bounds how often a file is written anew because it changed meanwhile. Each
// time somebody else's save went through.
const maxAttempts = 32

// Folder is a Folder whose names change, one change at a time.
type Folder struct {
	core
	mu     sync.Mutex // one change of names at a time, also across disk
	locked Locked     // for who holds mu
}

// core is what of a Folder can be used without its lock.
type core struct {
	*tree.Folder
	log   *slog.Logger
	act   *activity.Activity
	brake brake
}

// Folders are those of a workspace.
type Folders map[*tree.Folder]*Folder

// NewFolder is the Folder of f, whose changes act publishes.
func NewFolder(f *tree.Folder, log *slog.Logger, act *activity.Activity) *Folder {
	p := &Folder{core: core{Folder: f, log: log, act: act}}
	p.locked = Locked{core: &p.core, mu: &p.mu}
	return p
}

// Locked is a Folder whose names nobody else changes, until Unlock.
type Locked struct {
	*core
	mu   *sync.Mutex
	told []model.Event
}

// Lock waits for the change of names that is under way.
func (f *Folder) Lock() *Locked {
	f.mu.Lock()
	return &f.locked
}

// Tell has events published once the lock is released: subscribers run under no lock.
func (l *Locked) Tell(events ...model.Event) { l.told = append(l.told, events...) }

// Unlock lets the next change go on and publishes what was told.
func (l *Locked) Unlock() {
	told := l.told
	l.told = nil
	l.mu.Unlock()
	l.act.Publish(told...)
}

// LockNotes takes the locks of every note that the source has at or below n, in path order.
func (l *Locked) LockNotes(n *tree.Node) (unlock func()) {
	var held []*note.Locked
	for _, x := range n.Notes() {
		locked := x.Lock()
		late, _ := locked.Materialise(context.Background()) // or the old name would get the text
		l.Tell(late...)
		held = append(held, locked)
	}
	return func() {
		for _, locked := range held {
			locked.Unlock()
		}
	}
}

// Settle keeps what became of the Folder's proposals while the tree was changed, and tells
// of it with that origin.
func (l *Locked) Settle(origin any) {
	s := l.TakeShift()
	change := model.ProposalChange{Put: l.Changed(), Drop: s.Done}
	now := time.Now().UTC()
	for _, rec := range s.Dropped {
		l.log.Warn("proposal dropped: what it is about is gone, or its place is taken",
			model.LogPath, string(l.Path().Join(rec.Rel)), "kind", string(rec.Kind))
		change.Drop = append(change.Drop, rec.ID)
		change.Journal = append(change.Journal, rec.Decided(model.Decision{Batch: NewBatch(), Verdict: model.Rejected, Lapsed: true}, now))
	}
	if len(change.Put)+len(change.Drop) > 0 {
		if err := l.Store.Propose(change); err != nil {
			l.log.Error("proposals are not kept as they are now", model.LogFolder, l.Name, model.LogErr, err)
		}
	}
	for _, ev := range s.Events {
		ev.Origin = origin
		l.Tell(ev)
	}
}

// NewBatch names what is decided in one go; later ones sort later.
func NewBatch() string {
	return time.Now().UTC().Format("20060102T150405.000") + "-" + string(note.NewDocID()[:8])
}

// newID names a proposal as suggestions are named.
func newID() string { return string(note.NewDocID()[:10]) }
