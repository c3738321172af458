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

// maxAttempts is the maximum number of times that Rewrite computes and writes a file whose content changes in the
// meantime. Each retry means that another writer's save succeeded in the meantime.
const maxAttempts = 32

// Root changes the names of a tree.Root, one change at a time.
type Root struct {
	*tree.Root
	Structure model.Structure // structure of the Source; nil if names in the Source cannot be changed
	log       *slog.Logger
	events    *model.Bus
	sequence  *model.Sequence // numbers the decisions and proposals of the workspace

	mu           sync.Mutex             // held during a change of names, including disk access; guards the fields below
	queuedEvents []model.Event          // events to publish
	completed    []model.ProposalRecord // RenameDone records, for TakeCompleted
	started      []model.ProposalRecord // interrupted decisions and undos, for TakeStarted

	// linking is held while the links of one note are rewritten after a rename. It is taken before a note's lock.
	linking sync.Mutex
}

// Locked is a Root whose lock the caller holds until Unlock. Only the caller can change its names.
type Locked Root

// Roots maps the roots of a workspace's tree to their Root.
type Roots map[*tree.Root]*Root

func NewRoot(f *tree.Root, log *slog.Logger, act *model.Bus, q *model.Sequence) *Root {
	s, _ := f.Source.(model.Structure)
	return &Root{Root: f, Structure: s, log: log, events: act, sequence: q}
}

func (f *Root) Lock() *Locked {
	f.mu.Lock()
	return (*Locked)(f)
}

// QueueEvents queues events for Unlock, which publishes them without the lock.
func (l *Locked) QueueEvents(events ...model.Event) {
	l.queuedEvents = append(l.queuedEvents, events...)
}

// Unlock stores the effects of the change on proposals, releases the lock, and publishes the events of QueueEvents. A
// blocked rename whose name is free now usually gets it here and not earlier, because the change itself may need that
// name.
func (l *Locked) Unlock() {
	l.PersistChanges()
	queued := l.queuedEvents
	l.queuedEvents = nil
	l.mu.Unlock()
	l.events.Publish(queued...)
}

// RecordRename stores a rename that the caller is about to do without a proposal. owes are the links to rewrite after
// the rename.
func (l *Locked) RecordRename(rel, to string, author model.Author, owes []model.PendingRelink) (id string, err error) {
	rec := l.newRecord(model.RenameDone, rel, author)
	rec.ToDir, rec.Name, rec.PendingRelinks = model.Parent(to), model.Path(to).Base(), owes
	if err := l.Store.Propose(model.ProposalChange{Upserted: []model.ProposalRecord{rec}}); err != nil {
		return "", err
	}
	l.completed = append(l.completed, rec)
	return rec.ID, nil
}

// DropRename undoes RecordRename if the rename failed.
func (l *Locked) DropRename(id string) error {
	l.completed = slices.DeleteFunc(l.completed, func(rec model.ProposalRecord) bool { return rec.ID == id })
	return l.Store.Propose(model.ProposalChange{Removed: []string{id}})
}

// TakeCompleted returns the completed renames that still have links to rewrite, filtered by which. It returns
// each rename to one caller only.
func (f *Root) TakeCompleted(which func(*model.ProposalRecord) bool) (taken []model.ProposalRecord) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.completed = slices.DeleteFunc(f.completed, func(rec model.ProposalRecord) bool {
		if !which(&rec) {
			return false
		}
		taken = append(taken, rec)
		return true
	})
	return taken
}

// rebaseCompleted applies a move in the source to the completed renames whose links are not rewritten yet. It returns
// the records that have changed.
func (f *Root) rebaseCompleted(oldRel, newRel string) (changed []model.ProposalRecord) {
	for i, old := range f.completed {
		rec := &f.completed[i]
		if rec.Rebase(oldRel, newRel); !rec.SameAs(&old) {
			changed = append(changed, *rec)
		}
	}
	return changed
}

// KeepStarted keeps interrupted decisions and undos until TakeStarted returns them. The store must have their records.
func (f *Root) KeepStarted(list ...model.ProposalRecord) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.started = append(f.started, list...)
}

// TakeStarted returns the interrupted decisions and undos, each to one caller only.
func (f *Root) TakeStarted() (taken []model.ProposalRecord) {
	f.mu.Lock()
	defer f.mu.Unlock()
	taken, f.started = f.started, nil
	return taken
}

func (f *Root) WithLinkLock(fn func()) {
	f.linking.Lock()
	defer f.linking.Unlock()
	fn()
}

// LockNotes locks every note that the source has at or below n.
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

// PersistChanges stores the changes of the root's proposals since the last call, and queues their events.
func (l *Locked) PersistChanges() {
	s := l.TakeChanges()
	change := model.ProposalChange{Upserted: l.Changed(), Removed: s.Done}
	now := time.Now().UTC()
	for _, rec := range s.Invalidated {
		l.log.Warn("proposal dropped: its note or file no longer exists, or its path is taken",
			model.LogPath, string(l.Path().Join(rec.Rel)), "kind", string(rec.Kind))
		d := model.Decision{Batch: model.NewBatch(), Verdict: model.Rejected, Withdrawn: true}
		change.Removed, change.Journal = append(change.Removed, rec.ID), append(change.Journal, rec.Decided(d, now))
		if rec.Kind == model.ProposedRename {
			ended := decidedRename(rec, nil, d, "")
			change.Upserted, l.completed = append(change.Upserted, ended), append(l.completed, ended)
		}
	}
	if len(change.Upserted)+len(change.Removed) > 0 {
		if err := l.Store.Propose(change); err != nil {
			l.log.Error("cannot store the current state of proposals", model.LogFolder, l.Name, model.LogErr, err)
		}
	}
	l.QueueEvents(s.Events...)
}

// Rewrite replaces the content of n's file with fn(content). If another save comes first, it tries again with the new
// content. It returns the stamps before and after. If fn fails, Rewrite writes nothing and returns fn's error
// unchanged.
func (l *Locked) Rewrite(ctx context.Context, n *tree.Node, modTime time.Time, fn func(have []byte) ([]byte, error)) (before, after model.Stamp, err error) {
	rel := n.Location().Rel
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
