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

// shownEntry is what one process was shown of one note, oldest first: what it read,
// and what it wrote since.
type shownEntry struct {
	doc    uint64
	by     process
	images []image
	read   bool // it has read the note itself
	// past is how many of images its session has written over. They count until the
	// process reads what was written.
	past int
}

const (
	// maxImages per process and note: more than a program can have in mind, also if it
	// looks at each key that a person types.
	maxImages = 64
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
	e.read = true
	if n := len(e.images); n > 0 && e.images[n-1] == im {
		return
	}
	l.forget(e, e.past)
	l.append(e, im)
}

// wrote records that by made im of doc. What it was shown before is no longer what
// it goes by: otherwise a program that writes an earlier text again would seem to
// change nothing. For other processes of its session that is so once they have read im.
func (l *shownLog) wrote(doc uint64, by process, im image) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, elem := range l.docs[doc] {
		if e := elem.Value.(*shownEntry); e.by.id != by.id && e.by.session == by.session {
			e.past = len(e.images)
		}
	}
	e := l.entry(doc, by)
	l.forget(e, len(e.images))
	l.append(e, im)
}

// append adds im to what e holds. mu is held.
func (l *shownLog) append(e *shownEntry, im image) {
	e.images = append(e.images, im)
	l.bytes += len(im.text)
	if len(e.images) > maxImages {
		l.forget(e, 1)
	}
	l.trim()
}

// forget takes the n oldest images out of e. mu is held.
func (l *shownLog) forget(e *shownEntry, n int) {
	for _, im := range e.images[:n] {
		l.bytes -= len(im.text)
	}
	e.images = slices.Delete(e.images, 0, n)
	e.past = max(0, e.past-n)
}

// images returns what by was shown of doc, oldest first. If it has read nothing itself,
// that is what it wrote, and the last thing that its session was shown since; and if
// its session was shown nothing, the last that anyone was.
func (l *shownLog) images(doc uint64, by process) []image {
	l.mu.Lock()
	defer l.mu.Unlock()
	var images []image
	var session, anyone *shownEntry
	for _, elem := range l.docs[doc] { // the latest last
		e := elem.Value.(*shownEntry)
		switch {
		case e.by.id == by.id && e.read:
			return slices.Clone(e.images)
		case e.by.id == by.id:
			images, session = slices.Clone(e.images), nil
		case e.by.session == by.session:
			session = e
		default:
			anyone = e
		}
	}
	if session == nil && images == nil {
		session = anyone
	}
	if session != nil {
		images = append(images, session.images[len(session.images)-1])
	}
	return images
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
	l.forget(e, len(e.images))
	rest := slices.DeleteFunc(l.docs[e.doc], func(x *list.Element) bool { return x == elem })
	if len(rest) == 0 {
		delete(l.docs, e.doc)
		return
	}
	l.docs[e.doc] = rest
}
