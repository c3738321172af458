//go:build !windows

package fusefs

import (
	"container/list"
	"slices"
	"sync"
)

// shownLog remembers which states of a note each process was shown. A program
// reads a note, closes it, thinks, and minutes later writes what it made of it:
// the difference that counts is the one to what it had read.
//
// What is remembered is bounded; the process that has not touched a note for
// longest is forgotten first, and then counts as somebody who was shown the
// current state.
type shownLog struct {
	mu    sync.Mutex // protects the following
	docs  map[uint64][]*list.Element
	order list.List // of *shownEntry, the latest in front
	bytes int
}

// shownEntry is what one process was shown of one note, oldest first.
type shownEntry struct {
	doc    uint64
	by     process
	images []image
}

const (
	// maxImages per process and note: more than a program can have in mind.
	maxImages = 4
	// maxShown processes times notes, and maxShownBytes of text they hold. Most of
	// that text is in the workspace's own cache too.
	maxShown      = 32768
	maxShownBytes = 128 << 20
)

// add records that by was shown im of doc.
func (l *shownLog) add(doc uint64, by process, im image) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e := l.entry(doc, by)
	if n := len(e.images); n > 0 && e.images[n-1] == im {
		return
	}
	e.images = append(e.images, im)
	l.bytes += len(im.text)
	if len(e.images) > maxImages {
		l.bytes -= len(e.images[0].text)
		e.images = slices.Delete(e.images, 0, 1)
	}
	l.trim()
}

// wrote records that by made im of doc. What it, and other processes of its
// session, were shown before is no longer what they go by: otherwise a program
// that writes an earlier text again would seem to change nothing.
func (l *shownLog) wrote(doc uint64, by process, im image) {
	l.mu.Lock()
	for _, elem := range slices.Clone(l.docs[doc]) {
		if e := elem.Value.(*shownEntry); e.by.id == by.id || e.by.session == by.session {
			l.drop(elem)
		}
	}
	l.mu.Unlock()
	l.add(doc, by, im)
}

// images returns what by was shown of doc, oldest first; if nothing, the last
// thing that its session was shown; if nothing, the last that anyone was.
func (l *shownLog) images(doc uint64, by process) []image {
	l.mu.Lock()
	defer l.mu.Unlock()
	var session, anyone *shownEntry
	for _, elem := range l.docs[doc] { // the latest last
		e := elem.Value.(*shownEntry)
		if e.by.id == by.id {
			return slices.Clone(e.images)
		}
		if e.by.session == by.session {
			session = e
		}
		anyone = e
	}
	if session == nil {
		session = anyone
	}
	if session == nil {
		return nil
	}
	return slices.Clone(session.images[len(session.images)-1:])
}

// entry finds or makes the entry and marks it as the latest. mu is held.
func (l *shownLog) entry(doc uint64, by process) *shownEntry {
	elems := l.docs[doc]
	i := slices.IndexFunc(elems, func(e *list.Element) bool { return e.Value.(*shownEntry).by.id == by.id })
	if i < 0 {
		if l.docs == nil {
			l.docs = make(map[uint64][]*list.Element)
		}
		e := &shownEntry{doc: doc, by: by}
		l.docs[doc] = append(elems, l.order.PushFront(e))
		return e
	}
	elem := elems[i]
	l.order.MoveToFront(elem)
	l.docs[doc] = append(slices.Delete(elems, i, i+1), elem)
	return elem.Value.(*shownEntry)
}

// trim forgets what exceeds the bounds. mu is held.
func (l *shownLog) trim() {
	for l.order.Len() > 1 && (l.order.Len() > maxShown || l.bytes > maxShownBytes) {
		l.drop(l.order.Back())
	}
}

func (l *shownLog) drop(elem *list.Element) {
	e := l.order.Remove(elem).(*shownEntry)
	for _, im := range e.images {
		l.bytes -= len(im.text)
	}
	rest := slices.DeleteFunc(l.docs[e.doc], func(x *list.Element) bool { return x == elem })
	if len(rest) == 0 {
		delete(l.docs, e.doc)
		return
	}
	l.docs[e.doc] = rest
}
