package namespace

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/namespace/internal/tree"
	"github.com/relayfs/relayfs/bridge/note"
)

// maxAttempts bounds how often a file is written anew because it changed meanwhile. Each
// time somebody else's save went through.
const maxAttempts = 32

// Folder is a Folder whose names change, one change at a time.
type Folder struct {
	*tree.Folder
	Structure model.Structure // its Source as one; nil if its names cannot be changed
	log       *slog.Logger
	act       *model.Bus
	brake     brake

	mu   sync.Mutex             // one change of names at a time, also across disk; protects the following
	told []model.Event          // to be published
	done []model.ProposalRecord // renames that are done and owe links, for TakeDone

	// linking is held while the links of one note follow a rename. It is taken before a note's lock.
	linking sync.Mutex
}

// Locked is a Folder whose names nobody else changes, until Unlock.
type Locked Folder

// Folders are those of a workspace.
type Folders map[*tree.Folder]*Folder

func NewFolder(f *tree.Folder, log *slog.Logger, act *model.Bus) *Folder {
	s, _ := f.Source.(model.Structure)
	return &Folder{Folder: f, Structure: s, log: log, act: act}
}

// Lock waits for the change of names that is under way.
func (f *Folder) Lock() *Locked {
	f.mu.Lock()
	return (*Locked)(f)
}

// Tell has events published once the lock is released: subscribers run under no lock.
func (l *Locked) Tell(events ...model.Event) { l.told = append(l.told, events...) }

// Unlock settles what the change did to proposals, lets the next change go on, and publishes what was told. A rename that waited
// for a name gets it here rather than while the change has a place in mind for something else.
func (l *Locked) Unlock() {
	l.Settle()
	told := l.told
	l.told = nil
	l.mu.Unlock()
	l.act.Publish(told...)
}

// Owe keeps a rename that is about to be done at once with the links that it will owe.
func (l *Locked) Owe(rel, to string, by model.Author, owes []model.OwedLinks) (id string, err error) {
	rec := newRecord(model.RenameDone, rel, by)
	rec.ToDir, rec.Name, rec.Owes, rec.Linking = string(model.Path(to).Dir()), model.Path(to).Base(), owes, true
	if err := l.Store.Propose(model.ProposalChange{Put: []model.ProposalRecord{rec}}); err != nil {
		return "", err
	}
	l.done = append(l.done, rec)
	return rec.ID, nil
}

// Forgive takes back Owe: the rename was not done.
func (l *Locked) Forgive(id string) error {
	l.done = slices.DeleteFunc(l.done, func(rec model.ProposalRecord) bool { return rec.ID == id })
	return l.Store.Propose(model.ProposalChange{Drop: []string{id}})
}

// TakeDone returns those of the renames that are done and owe links, each to one caller.
func (f *Folder) TakeDone(which func(*model.ProposalRecord) bool) (taken []model.ProposalRecord) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.done = slices.DeleteFunc(f.done, func(rec model.ProposalRecord) bool {
		if !which(&rec) {
			return false
		}
		taken = append(taken, rec)
		return true
	})
	return taken
}

func (f *Folder) LinkOne(fn func()) {
	f.linking.Lock()
	defer f.linking.Unlock()
	fn()
}

// LockNotes takes the locks of every note that the source has at or below n, in path order.
func (l *Locked) LockNotes(n *tree.Node) (unlock func()) {
	var held []*note.Locked
	for _, x := range n.Notes() {
		locked := x.Lock()
		held = append(held, locked)
	}
	return func() {
		for _, locked := range held {
			locked.Unlock()
		}
	}
}

// Settle keeps what became of the Folder's proposals while the tree was changed, and tells of it.
func (l *Locked) Settle() {
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
	l.Tell(s.Events...)
}

// NewBatch names what is decided in one go; later ones sort later.
func NewBatch() string {
	return time.Now().UTC().Format("20060102T150405.000") + "-" + string(note.NewDocID()[:8])
}

// Rewrite makes the file that the source has of n hold what fn makes of its content, again
// if somebody else's save came first, and says how it was stamped before and is after. An
// error of fn is returned unchanged, and nothing is written.
func (l *Locked) Rewrite(ctx context.Context, n *tree.Node, modTime time.Time, fn func(have []byte) ([]byte, error)) (before, after model.Stamp, err error) {
	rel := n.Place().Rel
	for range maxAttempts {
		var have, data []byte
		if have, before, err = l.Source.Read(ctx, rel); err != nil {
			return before, after, err
		}
		if data, err = fn(have); err != nil {
			return before, after, err
		}
		if after = before; !bytes.Equal(have, data) {
			after, err = l.Source.Replace(ctx, rel, model.Replacement{IfMatch: before, Data: data, ModTime: before.Next(modTime)})
		}
		if err == nil {
			l.SetStamp(n, after)
		}
		if !errors.Is(err, model.ErrConflict) {
			break
		}
	}
	return before, after, err
}
