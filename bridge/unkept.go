package bridge

import (
	"time"

	"github.com/relayfs/relayfs/bridge/model"
)

// This file lets a write end before the store has a record of it. What a program
// waits for is that its text is in the file, and that it is known whose it is. The
// intent tells that, should the process be killed (intent.go); the note's document,
// which takes as long to make as the file, can wait for the moment after.

// maxIntended is the longest text that an intent gets: it is written once more.
const maxIntended = 64 << 10

// mayWait says whether the intent is as good as the record for now: not of what the
// journal lists, nor of a write that takes text away, which is in the record alone,
// nor after what only another intent tells.
func (d *draft) mayWait() bool {
	n := d.note
	return len(d.raw) <= maxIntended && d.by.Name != "" && d.plan.FrontMatter == nil && d.plan.Decision == nil &&
		d.plan.OnlyInserts() && d.cur.Separated() == nil && !n.owing && !n.isShared()
}

// lock takes the write lock, with everything kept that was written before.
func (n *note) lock() {
	n.write.Lock()
	n.keepLate()
}

// unlock gives the write lock back. If what was written under it is still to be kept,
// that is done now.
func (n *note) unlock() {
	late := n.unkept != nil
	n.write.Unlock()
	if late {
		n.ws.inflight.Go(func() {
			n.lock()
			n.write.Unlock()
		})
	}
}

// keepLate has the store keep a write that waits for it. If it cannot, the records are
// held until it can.
func (n *note) keepLate() {
	d := n.unkept
	if d == nil {
		return
	}
	n.unkept = nil
	at := n.where() // it may have been renamed since
	if err := d.keepAt(at); err != nil {
		n.owing = true
		n.ws.log.Warn("whose a change is cannot be kept yet", model.LogPath, string(at.path), model.LogAuthor, d.by.Name, model.LogErr, err)
		time.AfterFunc(keepRetry, n.keepAgain)
	}
}

// keepRetry is how long after the store has failed it is tried again.
const keepRetry = 5 * time.Second

// keepAgain tries again to keep what the store could not.
func (n *note) keepAgain() {
	if n.ws.begin() != nil {
		return // the next process finds out from the intent
	}
	defer n.ws.inflight.Done()
	n.lock()
	defer n.write.Unlock()
	if cur := n.cur.Load(); n.owing && cur != nil && n.prepare(n.where(), cur.Raw()) != nil {
		time.AfterFunc(keepRetry, n.keepAgain)
	}
}

// keepAll has the store keep what waits for it of the notes that the source has at
// or below n, or had until now, before others get their names.
func (w *Workspace) keepAll(n *node) {
	if n == nil {
		return
	}
	for _, x := range w.notesOf(n) {
		x.lock()
		x.write.Unlock()
	}
}

func (d *draft) keepAt(at place) (err error) {
	n := d.note
	if d.records, err = n.prepareFor(d.plan, at, d.cur.Raw(), d.by); err != nil {
		return err
	}
	if err := n.keepOrHold(at, d.sum, d.finish()); err != nil {
		return err
	}
	if cur := n.cur.Load(); cur != nil {
		n.ws.cache.add(n, n.size(cur)) // it has a document now
	}
	return nil
}
