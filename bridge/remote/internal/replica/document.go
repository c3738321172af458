package replica

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/note/facts"
	"github.com/relayfs/relayfs/bridge/remote/folderdoc"
	"github.com/relayfs/relayfs/bridge/remote/transport"
	"github.com/relayfs/relayfs/bridge/ycrdt"
)

// Document is one Yjs document: the folder's document, a note's document, or the drafts. It is in memory while it is
// used or connected. Otherwise it may be only in the store.
type Document struct {
	set  *Set
	id   model.DocID
	Name string // name on the server; "" for a document that never leaves this machine
	Note bool   // false for the folder's document and the drafts

	compared atomic.Pointer[time.Time] // see Compared; nil for never
	asked    atomic.Pointer[time.Time] // see LastAsked; nil for never
	query    atomic.Pointer[query]     // the open query of the peer, or nil

	mu    sync.Mutex // guards the fields below
	state docState
	peer  *Peer
	// outbox has the updates that the peer must still send. It is empty if the document has no peer.
	outbox []outgoing
}

// docState is the state of a document. The caller of its methods holds the document's lock.
type docState struct {
	doc        *ycrdt.Doc       // nil if it is not in memory
	ownUpdates [][]byte         // updates of the change in progress
	unstored   [][]byte         // updates from the server that are not stored yet
	modTime    time.Time        // zero for a document without a history
	version    int64            // counts changes in this process
	last       uint64           // sequence number of the last local record
	written    model.ContentSum // of the note's text after the last call of Change
	agent      string           // user for whom this process is registered in the document, or "" if not registered yet
	reclaimed  int              // number of times that the registration was repeated
	pruned     bool             // whether unneeded facts were removed

	conflicts []string    // properties that two clients have set concurrently; see repair
	repair    *time.Timer // calls repair; nil if there was no conflict
}

type outgoing struct {
	seq    uint64
	update []byte
}

func (d *Document) ID() model.DocID { return d.id }

func (d *Document) Title() string {
	return strconv.Quote(strings.TrimPrefix(string(d.set.path(d)), "/"))
}

func (d *Document) ModTime() time.Time {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.state.modTime
}

// Compared returns the last time when a comparison found that the document has everything that the server has. The time
// is zero if there was no such comparison in this process.
func (d *Document) Compared() time.Time { return timeOf(&d.compared) }

func (d *Document) SetCompared() { d.compared.Store(new(time.Now())) }

// LastAsked returns the time when a client of this process last opened or changed the document.
func (d *Document) LastAsked() time.Time { return timeOf(&d.asked) }

// Ask records that a client of this process opens or changes the document.
func (d *Document) Ask() { d.asked.Store(new(time.Now())) }

// timeOf returns the stored time. It keeps the monotonic reading, so that a clock that is set back does not stop
// comparisons.
func timeOf(stored *atomic.Pointer[time.Time]) time.Time {
	if t := stored.Load(); t != nil {
		return *t
	}
	return time.Time{}
}

// SetLast sets the sequence number of the last local record that an earlier process has stored.
func (d *Document) SetLast(seq uint64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.state.last = seq
}

// Stamp returns the stamp that the document has if its text is size bytes long. The caller holds the document's lock,
// as functions called by View or Change do.
func (d *Document) Stamp(size int) model.Stamp {
	return model.Stamp{
		Device: uint64(d.set.Client), Size: int64(size), ModTime: d.state.modTime.UnixNano(), CTime: d.state.version,
	}
}

func (d *Document) loaded(fn func(s *docState) error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.state.doc == nil {
		if err := d.state.load(d.set.Store, d.id, d.set.Client); err != nil {
			return err
		}
		d.set.loadedDocs.add(d)
	}
	return fn(&d.state)
}

func (s *docState) load(store model.Store, id model.DocID, client ycrdt.ClientID) error {
	h, err := store.Load(id)
	if err != nil {
		return err
	}
	s.written = h.Sum
	doc := ycrdt.NewDoc(ycrdt.Options{})
	for _, rec := range h.Records {
		if err := rec.ApplyTo(doc); err != nil {
			return fmt.Errorf("document %q: %w", id, err)
		}
		s.changedAt(rec.Time)
	}
	for _, update := range s.unstored {
		if err := doc.ApplyUpdate(update); err != nil {
			return err
		}
	}
	doc.SetClientID(client) // the updates may be client's own, so NewDoc's ClientID could be replaced
	doc.OnUpdate(func(update []byte) { s.ownUpdates = append(s.ownUpdates, update) })
	s.doc = doc
	return nil
}

func (s *docState) changedAt(t time.Time) {
	if t.After(s.modTime) {
		s.modTime = t
	}
}

// take returns the updates since the last call, merged into one. It returns nil if there were none.
func (s *docState) take() ([]byte, error) {
	made := s.ownUpdates
	s.ownUpdates = nil
	return merge(made)
}

func merge(updates [][]byte) ([]byte, error) {
	if len(updates) < 2 {
		return append([][]byte{nil}, updates...)[len(updates)], nil
	}
	return ycrdt.MergeUpdates(updates...)
}

// drop removes the document from memory, except for the updates in s.unstored and the conflicts.
func (s *docState) drop() {
	s.doc, s.ownUpdates, s.agent, s.reclaimed, s.pruned = nil, nil, "", 0, false
}

// View calls fn with the document and its modification time. The document does not change during the call.
func (d *Document) View(_ context.Context, fn func(*ycrdt.Doc, time.Time) error) error {
	return d.loaded(func(s *docState) error { return fn(s.doc, s.modTime) })
}

func (d *Document) ViewFolder(fn func(*folderdoc.Folder) error) error {
	return d.loaded(func(s *docState) error { return fn(folderdoc.Open(s.doc)) })
}

func (d *Document) ChangeFolder(fn func(*folderdoc.Folder) error) error {
	return d.Change(context.Background(), &model.Record{}, func(doc *ycrdt.Doc) error { return fn(folderdoc.Open(doc)) })
}

func (d *Document) Change(_ context.Context, rec *model.Record, fn func(*ycrdt.Doc) error) error {
	if d.Name != "" {
		if err := d.set.WriteAccess.ReadOnlyErr(); err != nil {
			return err
		}
	}
	d.Ask()
	return d.loaded(func(s *docState) error {
		if err := d.repair(s); err != nil { // without it the change would write a mixture to the mirror
			return err
		}
		client := d.set.Client
		rec.Client = uint64(client)
		rec.Clock = s.doc.StateVector()[client]
		mirrored := folderdoc.Mirror(s.doc)
		if err := fn(s.doc); err != nil {
			return err
		}
		rec.Len = s.doc.StateVector()[client] - rec.Clock
		if d.Note {
			s.written = model.SumOf(s.doc.Text(model.ContentsName).String())
		}
		if len(s.ownUpdates) == 0 && rec.Update == nil {
			return nil
		}
		mirrored()
		if d.Note {
			if !s.pruned {
				facts.Prune(s.doc, time.Now())
				s.pruned = true
			}
			facts.Put(s.doc, rec) // also for a decision that changes no text
			d.set.cursors.setCursor(d.id, rec.Clock+rec.Len)
		}
		if len(s.ownUpdates) == 0 {
			return d.appendUpdates(s, rec) // the record has data about the existing text
		}
		if s.agent == "" && rec.Author != "" && d.Name != "" {
			s.agent = "ai:" + rec.Author
			folderdoc.Register(s.doc, s.agent, client)
			folderdoc.Reclaim(s.doc, s.agent) // an earlier process may have been unable to do it
		}
		return d.keep(s, rec)
	})
}

// appendUpdates appends the unstored updates from the server, and then the record of a local change, to the store. It
// queues the change for the server.
func (d *Document) appendUpdates(s *docState, rec *model.Record) error {
	records, err := s.unstoredRecords()
	if err != nil {
		return err
	}
	rec.Unsent = d.Name != ""
	if rec.Time.IsZero() {
		rec.Time = time.Now().UTC()
	}
	rec.Seq, err = d.set.append(d, append(records, *rec)...)
	if err == nil && !rec.Unsent {
		err = d.set.Store.Sync() // no other machine has a copy of the drafts
	}
	if err != nil {
		return err
	}
	s.unstored = nil
	s.changedAt(rec.Time)
	s.version++
	if rec.Unsent {
		s.last = rec.Seq
		d.set.callbacks.Unsent(d, rec.Seq, d.peer != nil)
		if d.peer != nil { // otherwise the next peer will compare state vectors
			d.outbox = append(d.outbox, outgoing{rec.Seq, rec.Update})
			d.peer.wake.Set()
		}
	}
	return nil
}

// unstoredRecords returns a record of the updates from the server that are not stored yet.
func (s *docState) unstoredRecords() ([]model.Record, error) {
	if len(s.unstored) == 0 {
		return nil, nil
	}
	update, err := merge(s.unstored)
	if err != nil {
		return nil, err
	}
	return []model.Record{{Update: update, Time: s.modTime.UTC()}}, nil // keeps the modification time after a restart
}

// flushDelay is the time after which updates from the server are stored. Updates that a crash loses are fetched again.
const flushDelay = 200 * time.Millisecond

// Receive applies an update from the server. If the update is invalid, the error is transport.ErrProtocol. If wait is
// set, the update contains all that the document lacked, and Receive stores this update before it returns, so that the
// server sends no faster than the disk stores. Updates that cannot be stored stay in memory until the next attempt. For
// a document without a history Receive stores even an empty answer, to record that the document is empty.
func (d *Document) Receive(update []byte, wait bool) error {
	return d.loaded(func(s *docState) error {
		applied := func() {}
		if d == d.set.Folder {
			applied = d.set.callbacks.FolderReceives(s.doc, update)
		}
		if err := s.doc.ApplyUpdate(update); err != nil {
			return fmt.Errorf("%w: document %q: %v", transport.ErrProtocol, d.Name, err)
		}
		applied()
		added, err := s.take()
		if added == nil && wait && s.modTime.IsZero() {
			added = model.EmptyUpdate()
		}
		if err != nil {
			return err
		}
		if added != nil {
			if len(s.unstored) == 0 && !wait {
				time.AfterFunc(flushDelay, func() { _ = d.Flush() })
			}
			s.unstored = append(s.unstored, added)
			s.version++
			if !s.modTime.IsZero() { // otherwise the update is the whole history, with conflicts of the past
				d.repairLater(s)
			}
			s.changedAt(time.Now())
			d.set.callbacks.Changed(d)
			d.reclaim(s)
		}
		if wait {
			_ = d.flush(s)
		}
		return nil
	})
}

// maxReclaims is the maximum number of times that a registration is repeated. The limit is needed because a server may
// change the registration back each time.
const maxReclaims = 8

// reclaim attributes this process's changes to its agent again, if the server has registered them for a user.
func (d *Document) reclaim(s *docState) {
	if s.agent == "" || s.reclaimed == maxReclaims || d.set.WriteAccess.ReadOnlyErr() != nil {
		return
	}
	client := d.set.Client
	rec := model.Record{Client: uint64(client), Clock: s.doc.StateVector()[client]}
	if !folderdoc.Reclaim(s.doc, s.agent) {
		return
	}
	s.reclaimed++
	_ = d.appendOwn(s, &rec) // the store reports the error
}

// appendOwn stores and queues a change that no caller requested, such as a repair.
func (d *Document) appendOwn(s *docState, rec *model.Record) error {
	rec.Len = s.doc.StateVector()[d.set.Client] - rec.Clock
	return d.keep(s, rec)
}

// keep stores the changes of the document since the last call, as one record.
func (d *Document) keep(s *docState, rec *model.Record) error {
	update, err := s.take()
	if err == nil {
		rec.Update = update
		err = d.appendUpdates(s, rec)
	}
	if err != nil {
		s.drop() // the store has the previous state
	}
	return err
}

// repairLater notes the properties that the update just received has set concurrently with another client. It calls
// repair once no update has arrived for a random time, so that mounts rarely repair simultaneously.
func (d *Document) repairLater(s *docState) {
	s.conflicts = append(s.conflicts, folderdoc.Conflicts(s.doc)...)
	if len(s.conflicts) == 0 {
		return
	}
	quiet := d.set.Resync / 20 // a second, unless a test shortens Resync
	if s.repair != nil {
		s.repair.Stop()
	}
	s.repair = time.AfterFunc(quiet+rand.N(2*quiet), func() { _ = d.loaded(d.repair) }) // the store reports the error
}

// repair reconciles the text and the mirror of the properties in s.conflicts.
func (d *Document) repair(s *docState) error {
	keys := s.conflicts
	s.conflicts = nil
	rec := model.Record{Client: uint64(d.set.Client), Clock: s.doc.StateVector()[d.set.Client]}
	if len(keys) == 0 || d.set.WriteAccess.ReadOnlyErr() != nil || !folderdoc.Repair(s.doc, keys) {
		return nil
	}
	defer d.set.callbacks.Changed(d)
	return d.appendOwn(s, &rec)
}

// Flush stores the updates from the server that are not stored yet. The store also reports the errors of Flush as
// problems.
func (d *Document) Flush() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.flush(&d.state)
}

func (d *Document) flush(s *docState) error {
	records, err := s.unstoredRecords()
	if err != nil || len(records) == 0 {
		return err
	}
	if _, err := d.set.append(d, records...); err != nil {
		return err
	}
	s.unstored = nil
	return nil
}

func (d *Document) close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	err := d.flush(&d.state)
	d.state.unstored, d.state.conflicts = nil, nil // the timers find nothing to do
	if d.state.repair != nil {
		d.state.repair.Stop()
	}
	return err
}

// evict removes the document from memory, unless it is in use or connected, or its updates cannot be stored.
func (d *Document) evict() bool {
	if !d.mu.TryLock() {
		return false
	}
	defer d.mu.Unlock()
	if d.peer != nil || d.flush(&d.state) != nil {
		return false
	}
	d.state.drop()
	return true
}

// attach sets the document's peer. It returns an error if the document has a peer already.
func (d *Document) attach(p *Peer) error {
	return d.loaded(func(*docState) error {
		if d.peer != nil {
			return errors.New("document is already connected")
		}
		d.peer, d.outbox = p, nil
		return nil
	})
}

func (d *Document) detach() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.peer, d.outbox = nil, nil
}

func read[T any](d *Document, fn func(s *docState) T) (found T, err error) {
	err = d.loaded(func(s *docState) error {
		found = fn(s)
		return nil
	})
	return found, err
}

// difference returns the update that a server with the given state vector lacks, and the number of the last record in
// the update. The update includes the outbox, which difference empties.
func (d *Document) difference(stateVector []byte) (outgoing, error) {
	if _, err := ycrdt.DecodeStateVector(stateVector); err != nil {
		return outgoing{}, err
	}
	return read(d, func(s *docState) outgoing {
		d.outbox = nil
		return outgoing{s.last, s.doc.EncodeStateAsUpdate(stateVector)}
	})
}

func (d *Document) outgoing() []outgoing {
	d.mu.Lock()
	defer d.mu.Unlock()
	out := d.outbox
	d.outbox = nil
	return out
}

// IsEmpty reports whether the document has never been written to.
func (d *Document) IsEmpty() (bool, error) {
	return read(d, func(s *docState) bool { return len(s.doc.StateVector()) == 0 })
}

// IsByAgent reports whether an agent has written to the document through relayfs.
func (d *Document) IsByAgent() (bool, error) {
	return read(d, func(s *docState) bool { return folderdoc.IsByAgent(s.doc) })
}

func (d *Document) Contains(snapshot *ycrdt.Snapshot) (bool, error) {
	return read(d, func(s *docState) bool { return s.doc.Snapshot().Contains(snapshot) })
}
