package remote

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/remote/transport"
)

// workers is how many documents are fetched or compared at a time.
const workers = 16

// syncer decides which documents are connected when. The folder's document
// always is, if the server can be reached. Notes take turns: each is fetched or
// compared by a worker, and then stays connected if it is in use and there is
// room.
type syncer struct {
	src  *Source
	jobs jobs

	mu        sync.Mutex // protects the following
	online    bool
	onlineSet chan struct{} // closed when the folder's document is in step for the first time
	cause     error         // why there is no connection
	problem   error         // what the server refused since, about one document
	synced    time.Time
	pending   map[bridge.DocID]uint64 // what the server has not acknowledged
	kept      map[bridge.DocID]bool   // documents that have been fetched, or made here
	notes     []bridge.DocID
	live      map[*document]context.CancelFunc
	waiters   map[bridge.DocID][]chan struct{} // readers of documents that were never fetched
	tried     chan struct{}                    // closed after it
	sent      map[bridge.DocID]uint64          // acknowledged, to be crossed out in the store
	sentWake  chan struct{}
	follows   *extras       // tells what has changed, on the connection that there is; nil if nobody does
	acked     chan struct{} // closed when pending shrinks or the connection ends, and made anew
}

func newSyncer(s *Source) *syncer {
	return &syncer{
		src: s, jobs: newJobs(), onlineSet: make(chan struct{}), tried: make(chan struct{}),
		pending: make(map[bridge.DocID]uint64), kept: make(map[bridge.DocID]bool),
		live: make(map[*document]context.CancelFunc), waiters: make(map[bridge.DocID][]chan struct{}),
		sent: make(map[bridge.DocID]uint64), sentWake: make(chan struct{}, 1), acked: make(chan struct{}),
	}
}

// restore reads what the store knows.
func (y *syncer) restore() error {
	kept, err := y.src.o.Store.Kept()
	if err != nil {
		return err
	}
	pending, err := y.src.o.Store.Unsent()
	if err != nil {
		return err
	}
	for id, seq := range pending {
		y.src.document(id).last = seq // nobody else has it yet
	}
	y.mu.Lock()
	defer y.mu.Unlock()
	for _, id := range kept {
		y.kept[id] = true
	}
	y.pending = pending
	return nil
}

// run connects until the source is closed.
func (y *syncer) run() {
	var wg sync.WaitGroup
	ctx := y.src.ctx
	for range workers {
		wg.Go(func() { y.work(ctx) })
	}
	wg.Go(func() { y.crossOut(ctx) })
	wg.Go(func() { y.poll(ctx) })
	var b backoff
	for ctx.Err() == nil {
		start := time.Now()
		err := y.followFolder(ctx)
		lasted := time.Since(start)
		wait := b.next(lasted)
		was := y.disconnected(err)
		if errors.Is(err, transport.ErrExpired) && lasted > backoffBase && was {
			continue // a new token is asked for at once, unless the last one was not taken either
		}
		select {
		case <-ctx.Done():
		case <-time.After(wait):
		}
	}
	y.jobs.close()
	wg.Wait()
	y.stopLive()
}

// followFolder keeps the folder's document in step until the connection ends.
func (y *syncer) followFolder(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	p := newPeer(y.src.folder)
	extras := newExtras(y, p)
	p.onExtras = extras.take
	var wg sync.WaitGroup
	defer wg.Wait()
	wg.Go(func() {
		select {
		case <-p.in:
			y.connected()
			extras.start()
		case <-ctx.Done():
		}
	})
	err := p.run(ctx)
	cancel()
	switch {
	case err == nil:
		return fmt.Errorf("%w: the connection has ended", transport.ErrUnreachable)
	case errors.Is(err, transport.ErrNoDocument):
		return fmt.Errorf("%w as %q", transport.ErrNoFolder, y.src.o.Folder)
	}
	return err
}

// connected says that the folder's document is in step.
func (y *syncer) connected() {
	y.mu.Lock()
	y.kept[folderID] = true
	y.online, y.cause, y.problem, y.synced = true, nil, nil, time.Now()
	closeOnce(y.onlineSet)
	closeOnce(y.tried)
	notes := y.notes
	y.mu.Unlock()
	y.src.log.Info("connected", bridge.LogFolder, y.src.o.Folder)
	signal(y.src.relist)
	if y.mayFollow(len(notes)) {
		y.enqueue(y.unkept(notes))
		time.AfterFunc(y.src.o.Resync, y.compareAll) // in case that nobody tells of changes
	} else {
		y.enqueue(notes)
	}
	y.jobs.resume()
	y.src.promoteUploaded()
	y.src.retryAttachments()
}

// mayFollow says whether the server may tell what has changed of a folder with
// that many notes, more than are connected one by one.
func (y *syncer) mayFollow(notes int) bool {
	return y.src.transport.Reports() && notes > y.src.transport.Links()-workers
}

// follow takes note that the server tells what has changed.
func (y *syncer) follow(x *extras) {
	y.mu.Lock()
	defer y.mu.Unlock()
	y.follows = x
}

// unkept are the notes that were never fetched.
func (y *syncer) unkept(notes []bridge.DocID) (list []bridge.DocID) {
	y.mu.Lock()
	defer y.mu.Unlock()
	for _, id := range notes {
		if !y.kept[id] {
			list = append(list, id)
		}
	}
	return list
}

// compareAll gives every note a turn, or asks the server which of them have
// changed if it tells that.
func (y *syncer) compareAll() {
	y.mu.Lock()
	notes, online, follows := y.notes, y.online, y.follows
	y.mu.Unlock()
	switch {
	case !online:
	case follows != nil && y.mayFollow(len(notes)):
		y.enqueue(y.unkept(notes))
		follows.compare()
	default:
		y.enqueue(notes)
	}
}

func (y *syncer) isOnline() bool {
	y.mu.Lock()
	defer y.mu.Unlock()
	return y.online
}

// disconnected says why there is no connection, and whether there was one.
func (y *syncer) disconnected(err error) (was bool) {
	if y.src.ctx.Err() != nil {
		return false
	}
	y.jobs.pause()
	y.mu.Lock()
	was = y.online
	y.online, y.cause, y.follows = false, err, nil
	y.tellAcked()
	if !errors.Is(err, transport.ErrExpired) { // there is a next attempt, with another token
		closeOnce(y.tried)
	}
	waiters := y.waiters
	y.waiters = make(map[bridge.DocID][]chan struct{})
	y.mu.Unlock()
	for _, list := range waiters {
		for _, c := range list {
			close(c) // they find that there is no connection
		}
	}
	if was || errors.Is(err, transport.ErrDenied) || errors.Is(err, transport.ErrNoFolder) || errors.Is(err, transport.ErrProtocol) {
		y.src.log.Warn("not connected", bridge.LogFolder, y.src.o.Folder, bridge.LogErr, y.src.o.Address.Explain(err))
	}
	return was
}

// setNotes says which notes the folder holds. The source's mu is held.
func (y *syncer) setNotes(notes []bridge.DocID) {
	y.mu.Lock()
	known := make(map[bridge.DocID]bool, len(y.notes))
	for _, id := range y.notes {
		known[id] = true
	}
	y.notes = notes
	online := y.online
	y.mu.Unlock()
	if !online {
		return
	}
	var added []bridge.DocID
	for _, id := range notes {
		if !known[id] {
			added = append(added, id)
		}
	}
	if len(added) > 0 {
		go y.enqueue(added)
	}
}

// enqueue gives every one of the notes its turn.
func (y *syncer) enqueue(notes []bridge.DocID) {
	for _, id := range notes {
		y.want(y.src.document(id), y.priority(id))
	}
	y.mu.Lock()
	pending := make([]bridge.DocID, 0, len(y.pending))
	for id := range y.pending {
		pending = append(pending, id)
	}
	y.mu.Unlock()
	for _, id := range pending {
		if id != folderID {
			y.want(y.src.document(id), prioUnsent)
		}
	}
}

func (y *syncer) priority(id bridge.DocID) priority {
	y.mu.Lock()
	defer y.mu.Unlock()
	switch {
	case y.pending[id] > 0:
		return prioUnsent
	case !y.kept[id]:
		return prioNew
	}
	return prioKnown
}

// want gives a note its turn, unless it is connected.
func (y *syncer) want(d *document, p priority) {
	if d == y.src.folder || d == y.src.drafts {
		return
	}
	y.mu.Lock()
	_, live := y.live[d]
	y.mu.Unlock()
	if !live {
		y.jobs.add(d, p)
	}
}

// use says that somebody reads or changes a document. Its mu is held.
func (y *syncer) use(d *document, changed bool) {
	d.used = time.Now()
	if d == y.src.folder || d == y.src.drafts || d.peer != nil {
		return
	}
	if changed {
		y.want(d, prioUnsent)
	}
}

// unsent says that the server lacks the record seq of a document.
func (y *syncer) unsent(id bridge.DocID, seq uint64) {
	y.mu.Lock()
	defer y.mu.Unlock()
	y.pending[id] = max(y.pending[id], seq)
}

// acknowledged says that the server has everything of the document up to seq.
func (y *syncer) acknowledged(d *document, seq uint64) {
	y.mu.Lock()
	last, was := y.pending[d.id]
	done := !was || last <= seq
	if done {
		delete(y.pending, d.id)
		y.tellAcked()
	}
	if was {
		y.sent[d.id] = max(y.sent[d.id], seq)
	}
	if len(y.pending) == 0 && y.online {
		y.synced = time.Now()
	}
	y.mu.Unlock()
	if was {
		signal(y.sentWake)
	}
	if done && d != y.src.folder {
		y.src.uploaded(d)
	}
}

// closePatience is how long Close waits for the server to acknowledge.
const closePatience = 5 * time.Second

// drain waits until the server has acknowledged everything, if it is there.
func (y *syncer) drain(patience time.Duration) {
	deadline := time.After(patience)
	select {
	case <-y.tried:
	case <-deadline:
		return
	}
	for {
		y.mu.Lock()
		left, acked := y.online && len(y.pending) > 0, y.acked
		y.mu.Unlock()
		if !left || y.src.ReadOnly() {
			return
		}
		select {
		case <-acked:
		case <-deadline:
			return
		}
	}
}

// isPending says that the server lacks something of a document.
func (y *syncer) isPending(id bridge.DocID) bool {
	y.mu.Lock()
	defer y.mu.Unlock()
	return y.pending[id] > 0
}

// tellAcked wakes who waits for acknowledgements. mu is held.
func (y *syncer) tellAcked() {
	close(y.acked)
	y.acked = make(chan struct{})
}

// crossOut writes down what was acknowledged. What a crash loses of it is sent
// again, which changes nothing.
func (y *syncer) crossOut(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-y.sentWake:
		}
		y.mu.Lock()
		sent := y.sent
		y.sent = make(map[bridge.DocID]uint64)
		y.mu.Unlock()
		for id, seq := range sent {
			y.src.logged("note what was sent", y.src.o.Store.Sent(id, seq))
		}
	}
}

// keep says that a document is in the store.
func (y *syncer) keep(id bridge.DocID) {
	y.mu.Lock()
	y.kept[id] = true
	waiters := y.waiters[id]
	delete(y.waiters, id)
	y.mu.Unlock()
	for _, c := range waiters {
		close(c)
	}
}

// pollBase is how often notes that are not connected are compared, where the
// server does not tell of changes; pollNote is added for each note.
const (
	pollBase = time.Minute
	pollNote = 20 * time.Millisecond
)

// poll gives all notes a turn now and then.
func (y *syncer) poll(ctx context.Context) {
	for {
		y.mu.Lock()
		n := len(y.notes)
		y.mu.Unlock()
		select {
		case <-ctx.Done():
			return
		case <-time.After(pollBase + time.Duration(n)*pollNote):
		}
		y.compareAll()
		if y.isOnline() {
			y.src.retryAttachments()
		}
	}
}
