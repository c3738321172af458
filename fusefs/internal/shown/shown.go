//go:build !windows

// Package shown remembers what each process was shown of each note. It has a private lock.
package shown

import (
	"container/list"
	"slices"
	"sync"

	"github.com/relayfs/relayfs/fusefs/internal/content"
	"github.com/relayfs/relayfs/fusefs/internal/process"
)

// Log remembers which state of a note each process was shown last. A program
// reads a note, closes it, thinks, and minutes later writes what it made of it:
// the difference that counts is the one to what it had read. Which of several states
// that was cannot be told from the text: a program that deletes a line which it has just
// read writes what stood there before.
//
// What is remembered is bounded; the process that has not touched a note for
// longest is forgotten first, and then counts as somebody who was shown the
// current state.
type Log struct {
	mu    sync.Mutex // protects the following
	docs  map[uint64][]*list.Element
	order list.List // of *shownEntry, the latest in front
	bytes int
}

// shownEntry is what one process was shown of one note, or has written there since.
type shownEntry struct {
	doc   uint64
	by    process.Process
	image content.Image
	read  bool // it has read the note itself
}

const (
	// maxShown processes times notes, and maxShownBytes of text they hold. Most of
	// that text is in the workspace's own cache too.
	maxShown      = 32768
	maxShownBytes = 128 << 20
)

// Add records that by was shown im of doc.
func (l *Log) Add(doc uint64, by process.Process, im content.Image) { l.note(doc, by, im, true) }

// Wrote records that by made im of doc: from now on it goes by that. Other processes of its
// session go by what they have read, until they read again.
func (l *Log) Wrote(doc uint64, by process.Process, im content.Image) {
	l.note(doc, by, im, false)
}

func (l *Log) note(doc uint64, by process.Process, im content.Image, read bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e := l.entry(doc, by)
	l.bytes += len(im.Text) - len(e.image.Text)
	e.image, e.read = im, e.read || read
	l.trim()
}

// Images returns what by was shown of doc, and whether it read that itself. If it has read
// nothing itself, that is what it wrote, and the last thing that its session was shown
// since; and if its session was shown nothing, the last that anyone was.
func (l *Log) Images(doc uint64, by process.Process) (images []content.Image, own bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var session, anyone *shownEntry
	for _, elem := range l.docs[doc] { // the latest last
		e := elem.Value.(*shownEntry)
		switch {
		case e.by.Id == by.Id && e.read:
			return []content.Image{e.image}, true
		case e.by.Id == by.Id:
			images, session = []content.Image{e.image}, nil
		case e.by.Session == by.Session:
			session = e
		default:
			anyone = e
		}
	}
	if session == nil && images == nil {
		session = anyone
	}
	if session != nil {
		images = append(images, session.image)
	}
	return images, false
}

// entry finds or makes the entry and marks it as the latest. mu is held.
func (l *Log) entry(doc uint64, by process.Process) *shownEntry {
	elems := l.docs[doc]
	i := slices.IndexFunc(elems, func(e *list.Element) bool { return e.Value.(*shownEntry).by.Id == by.Id })
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
func (l *Log) trim() {
	for l.order.Len() > 1 && (l.order.Len() > maxShown || l.bytes > maxShownBytes) {
		l.drop(l.order.Back())
	}
}

func (l *Log) drop(elem *list.Element) {
	e := l.order.Remove(elem).(*shownEntry)
	l.bytes -= len(e.image.Text)
	rest := slices.DeleteFunc(l.docs[e.doc], func(x *list.Element) bool { return x == elem })
	if len(rest) == 0 {
		delete(l.docs, e.doc)
		return
	}
	l.docs[e.doc] = rest
}
