package bridge

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"sync"
	"time"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/ycrdt"
)

// Shared is a note that is open as a live document: what its holder changes in
// it is a person's plain text, at once for every reader of the workspace, and
// in the source's file a moment later; what others do comes out as updates.
//
// A change is in the store before it is acknowledged. The file follows within
// flushDelay, or before that when a program writes the note, when the last
// holder closes it, and when the workspace closes.
type Shared struct {
	n     *note
	share *share
	doc   *ycrdt.Doc
	id    model.DocID
	close sync.Once
}

// share is what the holders of one note have in common.
type share struct {
	over chan struct{} // closed when the document is not the note's any more
	end  func()

	holders int // protected by note.write

	mu    sync.Mutex // protects the following
	queue []*sharedChange
}

// sharedChange is one call of Change that waits for the note.
type sharedChange struct {
	by     model.Author
	fn     func(*ycrdt.Doc) error
	err    error
	done   chan struct{}
	update [][]byte // what fn did
}

// OpenShared opens the note at p as a live document, which is made if the note
// has none yet. Errors: those of Open, and ErrReadOnly for a note that cannot
// be written. Close it at the end.
func (w *Workspace) OpenShared(ctx context.Context, p model.Path) (*Shared, error) {
	n, err := w.peoplesNote("open", p)
	if err != nil {
		return nil, err
	}
	if err := w.begin(); err != nil {
		return nil, model.WrapError("open", p, err)
	}
	defer w.inflight.Done()
	n.write.Lock()
	defer n.write.Unlock()
	cur, err := n.load(ctx)
	switch {
	case err != nil:
		return nil, err
	case cur.ReadOnly():
		return nil, &model.Error{Op: "open", Path: p, Err: model.ErrReadOnly}
	case n.live != nil:
		return nil, &model.Error{Op: "open", Path: p, Err: errors.ErrUnsupported} // its server shares it
	}
	if err := n.prepare(n.where(), cur.Raw()); err != nil {
		return nil, err
	}
	sh := n.share.Load()
	if sh == nil {
		sh = newShare()
		n.share.Store(sh)
	}
	sh.holders++
	return &Shared{n: n, share: sh, doc: n.doc, id: n.id}, nil
}

func newShare() *share {
	over := make(chan struct{})
	return &share{over: over, end: sync.OnceFunc(func() { close(over) })}
}

// ID is the document's.
func (s *Shared) ID() model.DocID { return s.id }

// Path is where people have the note now.
func (s *Shared) Path() model.Path {
	s.n.ws.treeMu.RLock()
	defer s.n.ws.treeMu.RUnlock()
	return s.n.node.peoplesPath()
}

// Doc is the document, to be read and listened to. It is changed by Change
// alone.
func (s *Shared) Doc() *ycrdt.Doc { return s.doc }

// Over is closed when the document is no longer the note's: the note was
// removed, or its store failed. What the holder has not got acknowledged may be
// missing then; it opens the note again.
func (s *Shared) Over() <-chan struct{} { return s.share.over }

// Change runs fn, which changes the document: by ApplyUpdate, say. When Change
// returns nil, what fn did is durable, and every reader of the workspace sees
// it. Changes that arrive together are kept together. Errors: fn's own,
// fs.ErrNotExist if the note is gone, ErrReadOnly, ErrOffline, ErrNoSpace,
// ErrClosed.
func (s *Shared) Change(ctx context.Context, by model.Author, fn func(*ycrdt.Doc) error) error {
	w := s.n.ws
	if err := w.begin(); err != nil {
		return err
	}
	defer w.inflight.Done()
	c := &sharedChange{by: by, fn: fn, done: make(chan struct{})}
	s.share.mu.Lock()
	s.share.queue = append(s.share.queue, c)
	s.share.mu.Unlock()

	s.n.write.Lock()
	ev := s.n.changeShared(context.WithoutCancel(ctx), s)
	s.n.write.Unlock()
	w.publishAll(appendEvent(nil, ev))
	<-c.done
	return c.err
}

// changeShared makes all changes that wait, as one. The write lock is held.
func (n *note) changeShared(ctx context.Context, s *Shared) *model.Event {
	s.share.mu.Lock()
	batch := s.share.queue
	s.share.queue = nil
	s.share.mu.Unlock()
	if len(batch) == 0 {
		return nil // another holder made this one's too
	}
	ev, err := n.applyShared(ctx, s, batch)
	for _, c := range batch {
		if c.err == nil {
			c.err = err
		}
		close(c.done)
	}
	return ev
}

func (n *note) applyShared(ctx context.Context, s *Shared, batch []*sharedChange) (*model.Event, error) {
	at := n.where()
	if err := n.mayChangeShared(at, s); err != nil {
		return nil, err
	}
	cur, err := n.load(ctx)
	if err != nil {
		return nil, err
	}
	n.replaced(cur)
	var records []model.Record
	for _, c := range batch {
		records = append(records, n.recordShared(c)...)
	}
	if len(records) == 0 {
		return nil, nil
	}
	raw := n.text.String()
	ahead := n.behind != nil || raw != cur.Raw()
	for i := range records {
		records[i].Ahead = ahead
	}
	seq, err := at.store.Append(n.id, model.Path(at.rel), records...)
	if err != nil {
		n.closeDoc()
		return nil, model.WrapError("write", at.path, err)
	}
	n.extendLedger(seq, records)
	n.kept = seq
	if !ahead {
		at.store.Materialized(n.id, n.kept, model.SumOf(raw))
		return nil, nil
	}
	if n.behind == nil {
		n.fallBehind(cur)
	}
	n.flushAfter(flushDelay)
	if raw == cur.Raw() {
		return nil, nil
	}
	return n.succeed(cur, raw, model.NextModTime(cur.ModTime(), time.Now())), nil
}

// mayChangeShared says why a holder cannot change the note now, if so.
func (n *note) mayChangeShared(at place, s *Shared) error {
	switch {
	case n.share.Load() != s.share || n.doc != s.doc:
		return &model.Error{Op: "write", Path: at.path, Err: fs.ErrNotExist}
	case n.ws.o.ReadOnly:
		return &model.Error{Op: "write", Path: at.path, Err: model.ErrReadOnly}
	case at.offline.Load():
		return &model.Error{Op: "write", Path: at.path, Err: model.ErrOffline}
	case at.readOnly():
		return &model.Error{Op: "write", Path: at.path, Err: model.ErrReadOnly}
	}
	return nil
}

// recordShared runs one change and returns the records of it: the first holds
// what was done, and each says for one client which units are the author's.
func (n *note) recordShared(c *sharedChange) []model.Record {
	before := n.doc.StateVector()
	cancel := n.doc.OnUpdate(func(update []byte, _ any) { c.update = append(c.update, update) })
	c.err = c.fn(n.doc)
	dropObjects(n.doc, n.text)
	cancel()
	if len(c.update) == 0 {
		return nil
	}
	update, err := ycrdt.MergeUpdates(c.update...)
	if err != nil {
		update = n.doc.EncodeStateAsUpdate(nil) // holds them, too
	}
	rec := model.Record{Update: update, Author: c.by.Name, Session: c.by.Session, Time: time.Now().UTC()}
	var records []model.Record
	after := n.doc.StateVector()
	for _, client := range slices.Sorted(sharedClients(before, after)) {
		rec.Client, rec.Clock = uint64(client), before[client]
		rec.Len = after[client] - before[client]
		records = append(records, rec)
		rec.Update = emptyUpdate()
	}
	if len(records) == 0 {
		return []model.Record{rec} // deletions only
	}
	return records
}

// emptyUpdate is the update that changes nothing.
func emptyUpdate() []byte { return []byte{0, 0} }

// sharedClients yields the clients that have more units after than before.
func sharedClients(before, after ycrdt.StateVector) func(func(ycrdt.ClientID) bool) {
	return func(yield func(ycrdt.ClientID) bool) {
		for client, clock := range after {
			if clock > before[client] && !yield(client) {
				return
			}
		}
	}
}

// Close lets go of the note. When the last holder does, the file is written.
func (s *Shared) Close() {
	s.close.Do(func() {
		s.n.write.Lock()
		defer s.n.write.Unlock()
		if s.share.holders--; s.share.holders > 0 || s.n.share.Load() != s.share {
			return
		}
		s.n.share.Store(nil)
		s.n.flushAfter(0)
	})
}

// endShare tells the holders, if there are any, that the document is not the
// note's any more.
func (n *note) endShare() {
	if sh := n.share.Swap(nil); sh != nil {
		sh.end()
	}
}
