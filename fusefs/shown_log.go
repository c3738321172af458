//go:build !windows

package fusefs

import (
	"container/list"
	"slices"
	"sync"

	"github.com/relayfs/relayfs/fusefs/internal/content"
	"github.com/relayfs/relayfs/fusefs/program"
)

// shownLog remembers which state of a note each process was shown last. A program
// reads a note, closes it, thinks, and minutes later writes what it made of it:
// the difference that counts is the one to what it had read. The text does not tell which
// of several states that was: a program that deletes a line which it has just read writes
// what stood there before.
//
// What is remembered is bounded. The process that has not touched a note for
// longest is forgotten first, and then counts as one that was shown the
// current state.
type shownLog struct {
	mu    sync.Mutex                 // protects the following
	docs  map[uint64][]*list.Element // the latest last
	order list.List                  // of *shownEntry, the latest in front
	bytes int
}

// shownEntry is what one process was shown of one note, or has written there since.
type shownEntry struct {
	doc   uint64
	by    program.Program
	image content.Image
	read  bool // it has read the note itself
}

const (
	// maxShown processes times notes, and maxShownBytes of text they hold. Most of
	// that text is in the workspace's own cache too.
	maxShown      = 32768
	maxShownBytes = 128 << 20
)

// add records that by was shown im of doc.
func (l *shownLog) add(doc uint64, by program.Program, im content.Image) { l.note(doc, by, im, true) }

// wrote records that by made im of doc, and goes by that from now on. Other processes of its
// session go by what they have read, until they read again.
func (l *shownLog) wrote(doc uint64, by program.Program, im content.Image) {
	l.note(doc, by, im, false)
}

func (l *shownLog) note(doc uint64, by program.Program, im content.Image, read bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.docs == nil {
		l.docs = make(map[uint64][]*list.Element)
	}
	elems := l.docs[doc]
	i := slices.IndexFunc(elems, func(e *list.Element) bool { return e.Value.(*shownEntry).by.Identity == by.Identity })
	if i < 0 {
		i, elems = len(elems), append(elems, l.order.PushFront(&shownEntry{doc: doc, by: by}))
	}
	elem := elems[i]
	l.order.MoveToFront(elem)
	l.docs[doc] = append(slices.Delete(elems, i, i+1), elem)
	e := elem.Value.(*shownEntry)
	l.bytes += len(im.Text) - len(e.image.Text)
	e.image, e.read = im, e.read || read
	for l.order.Len() > 1 && (l.order.Len() > maxShown || l.bytes > maxShownBytes) {
		oldest := l.order.Back()
		old := l.order.Remove(oldest).(*shownEntry)
		l.bytes -= len(old.image.Text)
		l.docs[old.doc] = slices.DeleteFunc(l.docs[old.doc], func(x *list.Element) bool { return x == oldest })
		if len(l.docs[old.doc]) == 0 {
			delete(l.docs, old.doc)
		}
	}
}

// images returns what by was shown of doc, and whether it read that itself. If it has read
// nothing itself, that is what it wrote, and the last thing that its session was shown
// since; and if its session was shown nothing, the last that anyone was.
func (l *shownLog) images(doc uint64, by program.Program) (images []content.Image, own bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var session, anyone *shownEntry
	for _, elem := range l.docs[doc] {
		e := elem.Value.(*shownEntry)
		switch {
		case e.by.Identity == by.Identity && e.read:
			return []content.Image{e.image}, true
		case e.by.Identity == by.Identity:
			images, session = []content.Image{e.image}, nil
		case e.by.Run == by.Run:
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
