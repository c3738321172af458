package note

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"maps"
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
	n     *Note
	share *share
	doc   *ycrdt.Doc
	id    model.DocID
	close sync.Once
}

// share is what the holders of one note have in common.
type share struct {
	over chan struct{} // closed when the document is not the note's any more
	end  func()

	holders int // protected by the note's lock

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

// OpenShared opens the note, which was found at p, as a live document, which is made if
// the note has none yet. Errors: those of Version, and model.ErrReadOnly for a note that
// cannot be written. Close it at the end.
func (n *Note) OpenShared(ctx context.Context, p model.Path) (*Shared, error) {
	if err := n.set.act.Begin(); err != nil {
		return nil, model.WrapError("open", p, err)
	}
	defer n.set.act.Done()
	l := n.Lock()
	defer l.Unlock()
	cur, err := l.load(ctx)
	switch {
	case err != nil:
		return nil, err
	case cur.ReadOnly():
		return nil, &model.Error{Op: "open", Path: p, Err: model.ErrReadOnly}
	case l.live != nil:
		return nil, &model.Error{Op: "open", Path: p, Err: errors.ErrUnsupported} // its server shares it
	}
	if err := l.prepare(n.node.Place(), cur.Raw()); err != nil {
		return nil, err
	}
	// A client keeps what it gets, and brings it back: after a power cut it would come beside
	// the same text under other identities.
	if err := l.store.Sync(); err != nil {
		return nil, model.WrapError("open", p, err)
	}
	return l.newShared(), nil
}

func (n *Locked) newShared() *Shared {
	sh := n.share.Load()
	if sh == nil {
		over := make(chan struct{})
		sh = &share{over: over, end: sync.OnceFunc(func() { close(over) })}
		n.share.Store(sh)
	}
	sh.holders++
	return &Shared{n: (*Note)(n), share: sh, doc: n.doc, id: n.id}
}

// ID is the document's.
func (s *Shared) ID() model.DocID { return s.id }

// Path is where people have the note now.
func (s *Shared) Path() model.Path { return s.n.node.Place().Peoples }

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
	act := s.n.set.act
	if err := act.Begin(); err != nil {
		return err
	}
	defer act.Done()
	c := &sharedChange{by: by, fn: fn, done: make(chan struct{})}
	s.share.mu.Lock()
	s.share.queue = append(s.share.queue, c)
	s.share.mu.Unlock()

	l := s.n.Lock()
	ev := s.changeAll(context.WithoutCancel(ctx), l)
	l.Unlock()
	act.Publish(appendEvent(nil, ev)...)
	<-c.done
	return c.err
}

func (s *Shared) changeAll(ctx context.Context, n *Locked) *model.Event {
	s.share.mu.Lock()
	batch := s.share.queue
	s.share.queue = nil
	s.share.mu.Unlock()
	if len(batch) == 0 {
		return nil // another holder made this one's too
	}
	ev, err := s.apply(ctx, n, batch)
	for _, c := range batch {
		if c.err == nil {
			c.err = err
		}
		close(c.done)
	}
	return ev
}

func (s *Shared) apply(ctx context.Context, n *Locked, batch []*sharedChange) (*model.Event, error) {
	at := n.node.Place()
	if err := s.mayChange(n, at); err != nil {
		return nil, err
	}
	cur, err := n.load(ctx)
	if err != nil {
		return nil, err
	}
	n.nameRuns(cur)
	var records []model.Record
	for _, c := range batch {
		records = append(records, c.run(n.doc)...)
	}
	if len(records) == 0 {
		return nil, nil
	}
	raw := n.text.String()
	ahead := n.onDisk != nil || raw != cur.Raw()
	for i := range records {
		records[i].Ahead = ahead
	}
	seq, err := n.store.Append(n.id, model.Path(at.Rel), records...)
	if err != nil {
		n.closeDoc()
		return nil, model.WrapError("write", at.Path, err)
	}
	if !ahead {
		n.advance(seq, model.SumOf(raw), records)
		return nil, nil
	}
	n.hasKept(seq, records)
	if n.onDisk == nil {
		n.markDirty(cur)
	}
	n.flushAfter(flushDelay)
	if raw == cur.Raw() {
		return nil, nil
	}
	return n.succeed(cur, n.newVersion(raw, model.NextModTime(cur.ModTime(), time.Now()))), nil
}

// mayChange says why the holder cannot change the note now, if so.
func (s *Shared) mayChange(n *Locked, at Place) error {
	switch {
	case n.share.Load() != s.share || n.doc != s.doc:
		return &model.Error{Op: "write", Path: at.Path, Err: fs.ErrNotExist}
	case n.set.o.ReadOnly:
		return &model.Error{Op: "write", Path: at.Path, Err: model.ErrReadOnly}
	case at.Offline:
		return &model.Error{Op: "write", Path: at.Path, Err: model.ErrOffline}
	case model.LockedBy(n.source) != nil:
		return &model.Error{Op: "write", Path: at.Path, Err: model.ErrReadOnly}
	}
	return nil
}

// run makes the change in doc and returns the records of it: the first holds
// what was done, and each says for one client which units are the author's.
func (c *sharedChange) run(doc *ycrdt.Doc) []model.Record {
	before := doc.StateVector()
	cancel := doc.OnUpdate(func(update []byte, _ any) { c.update = append(c.update, update) })
	c.err = c.fn(doc)
	dropObjects(doc, doc.Text(model.ContentsName))
	cancel()
	if len(c.update) == 0 {
		return nil
	}
	update, err := ycrdt.MergeUpdates(c.update...)
	if err != nil {
		update = doc.EncodeStateAsUpdate(nil) // holds them, too
	}
	rec := model.Record{Update: update, Author: c.by.Name, Session: c.by.Session, Time: time.Now().UTC()}
	var records []model.Record
	after := doc.StateVector()
	for _, client := range slices.Sorted(maps.Keys(after)) {
		if after[client] <= before[client] {
			continue
		}
		rec.Client, rec.Clock = uint64(client), before[client]
		rec.Len = after[client] - before[client]
		records = append(records, rec)
		rec.Update = model.EmptyUpdate()
	}
	if len(records) == 0 {
		return []model.Record{rec} // deletions only
	}
	return records
}

// Close lets go of the note. When the last holder does, the file is written.
func (s *Shared) Close() {
	s.close.Do(func() {
		l := s.n.Lock()
		defer l.Unlock()
		if s.share.holders--; s.share.holders > 0 || s.n.share.Load() != s.share {
			return
		}
		s.n.share.Store(nil)
		l.flushAfter(0)
	})
}

// endShare tells the holders, if there are any, that the document is not the
// note's any more.
func (n *Note) endShare() {
	if sh := n.share.Swap(nil); sh != nil {
		sh.end()
	}
}

// DocID is the id of the note's document: the one it has, or the one that it
// gets when a document is made for it. That is want, unless an earlier caller
// wanted another. No document is made.
func (n *Note) DocID(want model.DocID) (model.DocID, error) {
	l := n.Lock()
	defer l.Unlock()
	if l.id != "" {
		return l.id, nil
	}
	if l.assigned == "" {
		id, err := l.lookupID(n.node.Place())
		if err != nil {
			return "", err
		}
		l.assigned = cmp.Or(id, want)
	}
	return l.assigned, nil
}

// Adopt makes doc, which the store has up to the record seq, the document of a new note
// whose file, of that stamp, holds its text, and opens it.
func (n *Note) Adopt(id model.DocID, doc *ycrdt.Doc, seq uint64, stamp model.Stamp) (*Shared, *model.Version) {
	l := n.Lock()
	defer l.Unlock()
	l.stamp, l.synced, l.id, l.kept = stamp, true, id, seq
	l.use(doc)
	v := l.publish(l.newVersion(l.text.String(), time.Unix(0, stamp.ModTime)))
	n.share.Store(nil)
	return l.newShared(), v
}

// TextOf is the text of a note whose document is doc.
func TextOf(doc *ycrdt.Doc) string { return doc.Text(model.ContentsName).String() }
