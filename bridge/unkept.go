package bridge

// This file lets a write end before the store has a record of it. What a program
// waits for is that its text is in the file, and that it is known whose it is. The
// intent tells that, should the process be killed (intent.go); the note's document,
// which takes as long to make as the file, can wait for the moment after.

// mayWait says whether the intent is as good as the record for now: not of what the
// journal lists, nor of a write that takes text away, which is in the record alone,
// nor after what only another intent tells.
func (d *draft) mayWait() bool {
	n := d.note
	return d.by.Name != "" && d.plan.frontMatter == nil && d.plan.decision == nil &&
		onlyInserts(editSpans(d.plan.edits)) && !n.owing && n.behind == nil && n.share.Load() == nil
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

// keepLate has the store keep a write that waits for it. If it cannot, the next
// change of the note finds out from the intent what there was to be kept.
func (n *note) keepLate() {
	d := n.unkept
	if d == nil {
		return
	}
	n.unkept = nil
	at := n.where() // it may have been renamed since
	if err := d.keepAt(at); err != nil {
		n.owing = true
		n.ws.log.Warn("whose a change is cannot be kept yet", LogPath, string(at.path), LogAuthor, d.by.Name, LogErr, err)
	}
}

func (d *draft) keepAt(at place) (err error) {
	n := d.note
	if d.records, err = n.prepareFor(d.plan, at, d.cur.raw, d.by); err != nil {
		return err
	}
	if err := n.keep(at, d.sum, d.finish()); err != nil {
		return err
	}
	if cur := n.cur.Load(); cur != nil {
		n.ws.cache.add(n, n.size(cur)) // it has a document now
	}
	return nil
}
