//go:build !windows

package fusefs

import (
	"container/list"
	"slices"
	"sync"

	"github.com/relayfs/relayfs/fusefs/internal/content"
	"github.com/relayfs/relayfs/fusefs/internal/program"
)

// shownLog records the state of a note that each process was shown last. A program reads a note, closes it, and writes
// its result minutes later: its change is the difference from the text that it had read. The written text alone does
// not show which state the program had read, because a program that deletes a line that it has just read writes an
// earlier text.
//
// The log is bounded. It first forgets the process that has not used a note for the longest time. That process then
// counts as if it had never used the note.
type shownLog struct {
	mu    sync.Mutex                 // guards the fields below
	docs  map[uint64][]*list.Element // by document, the latest entry last
	order list.List                  // *shownEntry values, the latest in front
	bytes int
}

// shownEntry is the text of a note that one process was shown or has written.
type shownEntry struct {
	doc   uint64
	by    program.Program
	image content.Image
	read  bool // the process has read the note itself
	wrote bool
}

const (
	// maxShown is the maximum number of pairs of process and note, and maxShownBytes the maximum total size of their
	// texts. Most of these texts are in the workspace's own cache, too.
	maxShown      = 32768
	maxShownBytes = 128 << 20
)

// add records that prog has read or written the image im of doc. im is then the base of prog's next write. After a
// write, other processes of prog's session keep their bases until they read again.
func (l *shownLog) add(doc uint64, prog program.Program, im content.Image, read bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.docs == nil {
		l.docs = make(map[uint64][]*list.Element)
	}
	elems := l.docs[doc]
	i := slices.IndexFunc(elems, func(e *list.Element) bool { return e.Value.(*shownEntry).by.Identity == prog.Identity })
	if i < 0 {
		i, elems = len(elems), append(elems, l.order.PushFront(&shownEntry{doc: doc, by: prog}))
	}
	elem := elems[i]
	l.order.MoveToFront(elem)
	l.docs[doc] = append(slices.Delete(elems, i, i+1), elem)
	e := elem.Value.(*shownEntry)
	l.bytes += len(im.Text) - len(e.image.Text)
	e.image, e.read, e.wrote = im, e.read || read, e.wrote || !read
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

// images returns the images of doc that prog was shown. If prog has read doc itself, own is set, and images returns
// only the image that prog read or wrote last. Otherwise the first image is the text that prog wrote, unless its
// session has written doc later. The next image is the last image of another process of its session, unless prog has
// written doc later. If there is neither image, images returns the last image of any other process.
func (l *shownLog) images(doc uint64, prog program.Program) (images []content.Image, own bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var session, anyone *shownEntry
	for _, elem := range l.docs[doc] {
		e := elem.Value.(*shownEntry)
		switch {
		case e.by.Identity == prog.Identity && e.read:
			return []content.Image{e.image}, true
		case e.by.Identity == prog.Identity:
			images, session = []content.Image{e.image}, nil
		case e.by.Run == prog.Run:
			if session = e; e.wrote {
				images = nil // the session no longer has the text that prog wrote
			}
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
