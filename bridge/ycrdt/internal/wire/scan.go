package wire

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/relayfs/relayfs/bridge/ycrdt/internal/lib0"
)

// A Struct is one struct of an update. Spans refer to the bytes of the update.
type Struct struct {
	ID      ID
	Length  uint64
	Info    byte
	Origin  ID    // only with InfoOrigin
	Right   ID    // only with InfoRight
	Parent  ID    // only without origins and root: the item whose type is the parent
	InRoot  bool  // only without origins: whether the parent is a root
	Root    Span  // only with InRoot: name of the root
	Sub     Span  // only with InfoParentSub and without origins: the key
	TypeRef uint8 // only for KindType
	From    int   // offset of the struct in the update
	Content Span  // payload in the arena's form; for KindType, the node name
}

// A Span is a range of the bytes of an update. (Slices would cost a write barrier each.)
type Span struct {
	from, to int
}

func (s Span) Of(data []byte) []byte { return data[s.from:s.to:s.to] }
func (s Span) len() int              { return s.to - s.from }

func (w *Struct) Kind() uint8 { return w.Info & infoKind }

func (w *Struct) End() uint64 { return w.ID.Clock + w.Length }

func (w *Struct) InheritsParent() bool { return w.Info&(InfoOrigin|InfoRight) != 0 }

// A StructReader reads the structs of one section of an update: the structs of one client.
type StructReader struct {
	lib0.Reader
	Client ClientID
	Clock  uint64 // clock of the next struct
	Left   uint64 // number of structs that are not read yet
}

var (
	errReference = errors.New("struct refers to itself or to a later one")
	errKind      = errors.New("unknown kind of struct")
	errSections  = errors.New("client occurs twice")
)

func (r *StructReader) Section() {
	r.Left = r.Uint()
	r.Client = ClientID(r.Uint())
	r.Clock = r.Uint()
	if r.Left > uint64(r.Len()/2) {
		r.Fail(lib0.ErrTruncated)
	}
}

func (r *StructReader) Next(w *Struct) {
	w.ID = ID{r.Client, r.Clock}
	w.From = r.Offset()
	w.Info = r.Byte()
	w.InRoot, w.Content = false, Span{}
	switch w.Info {
	case KindGC, KindSkip:
		w.Length = r.Uint()
	default:
		r.readOrigins(w)
		r.readContent(w)
	}
	r.Clock += w.Length
	r.Left--
	if w.Length > MaxClock || r.Clock > MaxClock {
		r.Fail(lib0.ErrRange)
	}
}

func readID(buf []byte, off int) (ID, int) {
	client, off := lib0.ReadUint(buf, off)
	clock, off := lib0.ReadUint(buf, off)
	return ID{ClientID(client), clock}, off
}

func (r *StructReader) readOrigins(w *Struct) {
	buf, off := r.Window()
	if w.Info&InfoOrigin != 0 {
		w.Origin, off = readID(buf, off)
		r.checkReference(w.Origin, w.ID)
	}
	if w.Info&InfoRight != 0 {
		w.Right, off = readID(buf, off)
		r.checkReference(w.Right, w.ID)
	}
	r.Seek(off)
	if w.InheritsParent() {
		w.Info &^= InfoParentSub // the key is inherited from the origin too
		return
	}
	r.readParent(w)
}

func (r *StructReader) readParent(w *Struct) {
	if w.InRoot = r.Uint() == 1; w.InRoot {
		w.Root = r.text()
	} else {
		buf, off := r.Window()
		w.Parent, off = readID(buf, off)
		r.Seek(off)
		r.checkReference(w.Parent, w.ID)
	}
	if w.Info&InfoParentSub != 0 {
		w.Sub = r.text()
	}
}

// checkReference records an error if a struct refers to itself or to a later struct of the same client.
func (r *StructReader) checkReference(to, from ID) {
	if to.Client == from.Client && to.Clock >= from.Clock {
		r.Fail(errReference)
	}
}

func (r *StructReader) text() Span { return r.behind(r.Text()) }

// behind returns the Span of b, which must be the bytes that were read last.
func (r *StructReader) behind(b []byte) Span {
	return Span{r.Offset() - len(b), r.Offset()}
}

func (r *StructReader) readContent(w *Struct) {
	w.Length = 1
	from := r.Offset()
	switch w.Kind() {
	case KindDeleted:
		w.Length = r.Uint()
		return
	case KindString:
		r.readString(w)
		return
	case KindBinary:
		w.Content = r.behind(r.Bytes())
		return
	case KindEmbed:
		w.Content = r.json()
		return
	case KindType:
		r.readType(w)
		return
	case KindJSON:
		w.Length = r.Uint()
		from = r.Offset()
		r.skipMany(w.Length, r.jsonValue)
	case KindAny:
		w.Length = r.Uint()
		from = r.Offset()
		r.skipMany(w.Length, r.SkipAny)
	case KindFormat:
		r.text()
		r.json()
	case KindDoc:
		r.text()
		r.SkipAny()
	default:
		r.Fail(errKind)
	}
	w.Content = Span{from, r.Offset()}
}

func (r *StructReader) readString(w *Struct) {
	b := r.Bytes()
	w.Content = r.behind(b)
	w.Length = uint64(len(b))
	if lib0.ASCII(b) {
		return
	}
	if !utf8.Valid(b) {
		r.Fail(lib0.ErrUTF8)
		return
	}
	w.Length = uint64(lib0.UTF16Len(b))
}

func (r *StructReader) skipMany(n uint64, skip func()) {
	if n > uint64(r.Len()) {
		r.Fail(lib0.ErrTruncated)
	}
	for ; n > 0 && r.Err() == nil; n-- {
		skip()
	}
}

func (r *StructReader) json() Span { return r.behind(r.JSONText()) }

// jsonValue reads one value of JSON content. The value may be "undefined".
func (r *StructReader) jsonValue() {
	from := r.Offset()
	if string(r.Bytes()) != "undefined" && r.Err() == nil {
		r.Seek(from)
		r.json()
	}
}

func (r *StructReader) readType(w *Struct) {
	ref := r.Uint()
	if ref > TypeXMLText {
		r.Fail(errKind)
		return
	}
	w.TypeRef = uint8(ref)
	if ref == TypeXMLElement || ref == TypeXMLHook {
		w.Content = r.text()
	}
}

type Section struct {
	Client ClientID
	Clock  uint64
	Count  uint64
	Off    int // offset of the first struct
	end    int // offset after the last struct
}

// An Update is a completely checked update. Reading its contents cannot fail.
type Update struct {
	Data     []byte
	Sections []Section
	Deletes  DeleteSet // in normal form
	Structs  int
	Content  int // size of the content in bytes
	Memory   int // estimated memory of the structs in bytes, without their content
}

// The memory in bytes that a document takes for each of its parts. It is about what TestUpdatesTakeTheEstimatedMemory
// measures.
const (
	StructMemory = 64
	TypeMemory   = 256 // of a nested type
	NameMemory   = 448 // of a root or of a key
	ClientMemory = 1024
	valueMemory  = 64 // of an any value that is read
)

// The longest lists in an update or a state vector. They take less than 1 GiB. The data that waits for missing updates has
// fewer clients.
const (
	maxClients = 1 << 21
	maxRanges  = 1 << 24
)

// Scan checks and reads a whole update. Like Yjs it ignores bytes after the delete set.
func Scan(update []byte) (*Update, error) {
	u := &Update{Data: update}
	r := StructReader{Reader: lib0.NewReader(update)}
	n := r.Count(3, maxClients)
	u.Memory = int(n) * ClientMemory
	u.Sections = make([]Section, 0, n)
	for ; n > 0 && r.Err() == nil; n-- {
		u.scanSection(&r)
	}
	u.Memory += r.Values * valueMemory
	u.sortSections(&r.Reader)
	if r.Err() == nil {
		u.Deletes = ReadDeleteSet(&r.Reader)
		u.Deletes.Normalize()
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

func (u *Update) scanSection(r *StructReader) {
	r.Section()
	sec := Section{Client: r.Client, Clock: r.Clock, Count: r.Left, Off: r.Offset()}
	u.Structs += int(r.Left)
	u.Memory += int(r.Left) * StructMemory
	var w Struct
	for r.Left > 0 && r.Err() == nil {
		r.Next(&w)
		u.Content += w.Content.len()
		if w.Kind() == KindType {
			u.Memory += TypeMemory
		}
		if w.InRoot || w.Info&InfoParentSub != 0 {
			u.Memory += NameMemory
		}
	}
	sec.end = r.Offset()
	u.Sections = append(u.Sections, sec)
}

// sortSections sorts the sections in the order of integration, which begins with the highest client. It refuses an
// update with two sections of one client.
func (u *Update) sortSections(r *lib0.Reader) {
	slices.SortFunc(u.Sections, func(a, b Section) int { return cmp.Compare(b.Client, a.Client) })
	for i := 1; i < len(u.Sections); i++ {
		if u.Sections[i].Client == u.Sections[i-1].Client {
			r.Fail(errSections)
		}
	}
}

// sorted returns the update with its sections in the order that Yjs writes, which begins with the highest client. (Yjs
// reads any order.)
func (u *Update) sorted() []byte {
	if slices.IsSortedFunc(u.Sections, func(a, b Section) int { return cmp.Compare(a.Off, b.Off) }) {
		return u.Data
	}
	out := lib0.AppendUint(make([]byte, 0, len(u.Data)), uint64(len(u.Sections)))
	after := 0
	for _, sec := range u.Sections {
		out = lib0.AppendUint(out, sec.Count)
		out = lib0.AppendUint(out, uint64(sec.Client))
		out = lib0.AppendUint(out, sec.Clock)
		out = append(out, u.Data[sec.Off:sec.end]...)
		after = max(after, sec.end)
	}
	return append(out, u.Data[after:]...)
}

// isUpdateV2 reports whether data has the structure of a V2 update: a zero byte, nine columns with length prefixes, and
// a rest.
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
