package ycrdt

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/relayfs/relayfs/bridge/ycrdt/internal/lib0"
)

// A wireStruct is one struct of an update as it stands in the bytes.
type wireStruct struct {
	id      ID
	length  uint64
	info    byte
	origin  ID    // with infoOrigin
	right   ID    // with infoRight
	parent  ID    // without origins and root: the item whose type is the parent
	inRoot  bool  // without origins: the parent is a root
	root    span  // with inRoot: its name
	sub     span  // the key, with infoParentSub and without origins
	typeRef uint8 // of kindType
	from    int   // offset of the struct
	content span  // payload as the arena keeps it; node name for kindType
	half    bool  // the text starts with half a pair: U+FFFD, then content
}

// A span is a stretch of the bytes of an update. (Slices would cost a write
// barrier each.)
type span struct {
	from, to int
}

func (s span) of(data []byte) []byte { return data[s.from:s.to:s.to] }
func (s span) len() int              { return s.to - s.from }

func (w *wireStruct) kind() uint8 { return w.info & infoKind }
func (w *wireStruct) end() uint64 { return w.id.Clock + w.length }

// inheritsParent reports whether the parent is that of the left or right origin.
func (w *wireStruct) inheritsParent() bool { return w.info&(infoOrigin|infoRight) != 0 }

// A structReader reads the structs of one section of an update: the structs
// of one client.
type structReader struct {
	lib0.Reader
	check  bool // verify text, JSON and references
	client ClientID
	clock  uint64 // of the next struct
	left   uint64 // structs not yet read
}

var (
	errReference = errors.New("struct refers to itself or to a later one")
	errKind      = errors.New("unknown kind of struct")
	errSections  = errors.New("client occurs twice")
)

// section reads the head of the next section.
func (r *structReader) section() {
	r.left = r.Uint()
	r.client = ClientID(r.Uint())
	r.clock = r.Uint()
	if r.left > uint64(r.Len()/2) {
		r.Fail(lib0.ErrTruncated)
	}
}

// next reads the next struct into w.
func (r *structReader) next(w *wireStruct) {
	w.id = ID{r.client, r.clock}
	w.from = r.Offset()
	w.info = r.Byte()
	w.inRoot, w.half, w.content = false, false, span{}
	switch w.info {
	case kindGC, kindSkip:
		w.length = r.Uint()
	default:
		r.readOrigins(w)
		r.readContent(w)
	}
	r.clock += w.length
	r.left--
	if w.length > maxInt || r.clock > maxInt {
		r.Fail(lib0.ErrRange)
	}
}

func readID(buf []byte, off int) (ID, int) {
	client, off := lib0.ReadUint(buf, off)
	clock, off := lib0.ReadUint(buf, off)
	return ID{ClientID(client), clock}, off
}

// readOrigins reads what lies between the info byte and the content.
func (r *structReader) readOrigins(w *wireStruct) {
	buf, off := r.Window()
	if w.info&infoOrigin != 0 {
		w.origin, off = readID(buf, off)
		r.checkReference(w.origin, w.id)
	}
	if w.info&infoRight != 0 {
		w.right, off = readID(buf, off)
		r.checkReference(w.right, w.id)
	}
	r.Seek(off)
	if w.inheritsParent() {
		w.info &^= infoParentSub // the key is inherited, too
		return
	}
	r.readParent(w)
}

func (r *structReader) readParent(w *wireStruct) {
	if w.inRoot = r.Uint() == 1; w.inRoot {
		w.root = r.text()
	} else {
		buf, off := r.Window()
		w.parent, off = readID(buf, off)
		r.Seek(off)
		r.checkReference(w.parent, w.id)
	}
	if w.info&infoParentSub != 0 {
		w.sub = r.text()
	}
}

// checkReference refuses a struct that would have to exist before itself.
func (r *structReader) checkReference(to, from ID) {
	if to.Client == from.Client && to.Clock >= from.Clock {
		r.Fail(errReference)
	}
}

func (r *structReader) text() span {
	if r.check {
		return r.behind(r.Text())
	}
	return r.behind(r.Bytes())
}

// behind returns the span of b, which was just read.
func (r *structReader) behind(b []byte) span {
	return span{r.Offset() - len(b), r.Offset()}
}

func (r *structReader) readContent(w *wireStruct) {
	w.length = 1
	from := r.Offset()
	switch w.kind() {
	case kindDeleted:
		w.length = r.Uint()
		return
	case kindString:
		r.readString(w)
		return
	case kindBinary:
		w.content = r.behind(r.Bytes())
		return
	case kindEmbed:
		w.content = r.json()
		return
	case kindType:
		r.readType(w)
		return
	case kindJSON:
		w.length = r.Uint()
		from = r.Offset()
		r.skipMany(w.length, r.jsonValue)
	case kindAny:
		w.length = r.Uint()
		from = r.Offset()
		r.skipMany(w.length, func() { r.SkipAny(r.check) })
	case kindFormat:
		r.text()
		r.json()
	case kindDoc:
		r.text()
		r.SkipAny(r.check)
	default:
		r.Fail(errKind)
	}
	w.content = span{from, r.Offset()}
}

func (r *structReader) readString(w *wireStruct) {
	b := r.Bytes()
	w.content = r.behind(b)
	w.length = uint64(len(b))
	if lib0.ASCII(b) {
		return
	}
	if r.check && !utf8.Valid(b) {
		r.Fail(lib0.ErrUTF8)
		return
	}
	w.length = uint64(utf16Len(b))
}

func (r *structReader) skipMany(n uint64, skip func()) {
	if n > uint64(r.Len()) {
		r.Fail(lib0.ErrTruncated)
	}
	for ; n > 0 && r.Err() == nil; n-- {
		skip()
	}
}

func (r *structReader) json() span {
	if r.check {
		return r.behind(r.JSONText())
	}
	return r.behind(r.Bytes())
}

// jsonValue reads a value of JSON content, where "undefined" is one.
func (r *structReader) jsonValue() {
	from := r.Offset()
	if string(r.Bytes()) != "undefined" && r.Err() == nil {
		r.Seek(from)
		r.json()
	}
}

func (r *structReader) readType(w *wireStruct) {
	ref := r.Uint()
	if ref > typeXMLText {
		r.Fail(errKind)
		return
	}
	w.typeRef = uint8(ref)
	if ref == typeXMLElement || ref == typeXMLHook {
		w.content = r.text()
	}
}

// A section is the part of an update that holds the structs of one client.
type section struct {
	client ClientID
	clock  uint64
	count  uint64
	off    int // of the first struct
	end    int // offset behind the last struct
}

// A scannedUpdate is an update that has been checked as a whole. Nothing in it
// can fail any more.
type scannedUpdate struct {
	data     []byte
	sections []section
	deletes  deleteSet // normal
	structs  int
	content  int // bytes of content
}

// scanUpdate reads a whole update without changing anything. Bytes behind the
// delete set are ignored, as Yjs does.
func scanUpdate(update []byte) (*scannedUpdate, error) {
	u := &scannedUpdate{data: update}
	r := structReader{Reader: lib0.NewReader(update), check: true}
	n := r.Uint()
	if n > uint64(r.Len()/3) {
		r.Fail(lib0.ErrTruncated)
	}
	for ; n > 0 && r.Err() == nil; n-- {
		u.scanSection(&r)
	}
	u.sortSections(&r.Reader)
	if r.Err() == nil {
		u.deletes = readDeleteSet(&r.Reader)
		u.deletes.normalize()
	}
	if err := r.Err(); err != nil || r.Len() > 0 {
		if isUpdateV2(update) {
			return nil, ErrUpdateV2
		}
		if err != nil {
			return nil, fmt.Errorf("update: %w: %w", ErrMalformed, err)
		}
	}
	return u, nil
}

func (u *scannedUpdate) scanSection(r *structReader) {
	r.section()
	sec := section{client: r.client, clock: r.clock, count: r.left, off: r.Offset()}
	u.structs += int(r.left)
	var w wireStruct
	for r.left > 0 && r.Err() == nil {
		r.next(&w)
		u.content += w.content.len()
	}
	sec.end = r.Offset()
	u.sections = append(u.sections, sec)
}

// sortSections puts the sections in the order in which they are integrated,
// highest client first, and refuses a client that has two.
func (u *scannedUpdate) sortSections(r *lib0.Reader) {
	slices.SortFunc(u.sections, func(a, b section) int { return cmp.Compare(b.client, a.client) })
	for i := 1; i < len(u.sections); i++ {
		if u.sections[i].client == u.sections[i-1].client {
			r.Fail(errSections)
		}
	}
}

// sorted returns the update with its sections highest client first, which is
// how Yjs writes them, though it reads any order.
func (u *scannedUpdate) sorted() []byte {
	if slices.IsSortedFunc(u.sections, func(a, b section) int { return cmp.Compare(a.off, b.off) }) {
		return u.data
	}
	out := lib0.AppendUint(make([]byte, 0, len(u.data)), uint64(len(u.sections)))
	behind := 0
	for _, sec := range u.sections {
		out = lib0.AppendUint(out, sec.count)
		out = lib0.AppendUint(out, uint64(sec.client))
		out = lib0.AppendUint(out, sec.clock)
		out = append(out, u.data[sec.off:sec.end]...)
		behind = max(behind, sec.end)
	}
	return append(out, u.data[behind:]...)
}

// isUpdateV2 reports whether data has the frame of a V2 update: a zero byte,
// nine columns with their lengths in front, and a rest.
func isUpdateV2(data []byte) bool {
	r := lib0.NewReader(data)
	if r.Byte() != 0 {
		return false
	}
	for range 9 {
		r.Bytes()
	}
	r.Uint()
	return r.Err() == nil
}
