package frame

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"time"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/store/internal/wal"
)

// Kind is the kind of an Entry, and says which of its fields are set.
type Kind byte

const (
	Change    Kind = 1 + iota // ID, Path, Seq, Records, Values: records were appended from Seq on
	Abort                     // ID, Seq: the records from Seq on were taken back
	Mark                      // ID, Seq, Sum: the source's file holds the text as of Seq
	Proposals                 // Proposals
	Sent                      // ID, Seq: a server has what was appended up to Seq
	Place                     // ID, Seq, Save: the source's file is about to hold the text as of Seq
	Forget                    // ID: the document was taken out
	Move                      // Moves, Time
)

// Entry is one frame.
type Entry struct {
	LSN  wal.LSN
	Kind Kind

	ID        model.DocID
	Path      model.Path // where the document lives
	Seq       uint64
	Sum       model.ContentSum
	Records   []model.Record
	Values    [][]byte // Records, each as EncodeRecord returns it
	Proposals model.ProposalChange
	Save      model.Save
	Moves     []Moved
	Time      time.Time // when they moved
}

// Moved says that a document lives at a path from now on.
type Moved struct {
	ID model.DocID
	To model.Path
}

// Last is the number of the last record of a Change.
func (e *Entry) Last() uint64 { return e.Seq + uint64(len(e.Values)) - 1 }

// errBadFrame says that a body is not what Encode makes.
var errBadFrame = errors.New("frame cannot be decoded")

// flagUnsent is set for a record that a server has yet to acknowledge.
const flagUnsent = 1

// Encode returns the body of the frame.
func (e *Entry) Encode() (b []byte, err error) {
	size := 64 + len(e.ID) + len(e.Path)
	for _, v := range e.Values {
		size += len(v) + 8
	}
	w := writer{append(make([]byte, 0, size), byte(e.Kind))}
	switch e.Kind {
	case Change:
		put(&w, e.ID)
		put(&w, e.Path)
		w.number(e.Seq)
		for i, v := range e.Values {
			flags := byte(0)
			if e.Records[i].Unsent {
				flags = flagUnsent
			}
			w.b = append(w.b, flags)
			put(&w, v)
		}
	case Abort, Sent:
		put(&w, e.ID)
		w.number(e.Seq)
	case Mark:
		put(&w, e.ID)
		w.number(e.Seq)
		w.b = append(w.b, e.Sum[:]...)
	case Place:
		put(&w, e.ID)
		w.number(e.Seq)
		err = w.json(e.Save)
	case Proposals:
		err = w.json(e.Proposals)
	case Move:
		w.number(uint64(e.Time.UnixMilli()))
		for _, m := range e.Moves {
			put(&w, m.ID)
			put(&w, m.To)
		}
	case Forget:
		put(&w, e.ID)
	}
	return w.b, err
}

// Decode reads a frame. The entry shares no memory with body.
func Decode(lsn wal.LSN, body []byte) (*Entry, error) {
	if len(body) == 0 {
		return nil, errBadFrame
	}
	e := &Entry{LSN: lsn, Kind: Kind(body[0])}
	r := &reader{rest: body[1:]}
	switch e.Kind {
	case Change:
		e.ID, e.Path, e.Seq = model.DocID(r.bytes()), model.Path(r.bytes()), r.number()
		for !r.bad && len(r.rest) > 0 {
			flags := r.take(1)
			v := append([]byte(nil), r.bytes()...)
			if r.bad {
				break
			}
			rec, err := DecodeRecord(e.Seq+uint64(len(e.Values)), v)
			if err != nil {
				return nil, err
			}
			rec.Unsent = flags[0]&flagUnsent != 0
			e.Values, e.Records = append(e.Values, v), append(e.Records, rec)
		}
		r.bad = r.bad || len(e.Values) == 0
	case Abort, Sent:
		e.ID, e.Seq = model.DocID(r.bytes()), r.number()
	case Mark:
		e.ID, e.Seq = model.DocID(r.bytes()), r.number()
		copy(e.Sum[:], r.take(len(e.Sum)))
	case Place:
		e.ID, e.Seq = model.DocID(r.bytes()), r.number()
		r.json(&e.Save)
	case Proposals:
		r.json(&e.Proposals)
	case Move:
		e.Time = time.UnixMilli(int64(r.number())).UTC()
		for !r.bad && len(r.rest) > 0 {
			e.Moves = append(e.Moves, Moved{model.DocID(r.bytes()), model.Path(r.bytes())})
		}
	case Forget:
		e.ID = model.DocID(r.bytes())
	default:
		return nil, errBadFrame
	}
	if r.bad {
		return nil, errBadFrame
	}
	return e, nil
}

// writer writes the fields of a frame.
type writer struct{ b []byte }

func (w *writer) number(n uint64) { w.b = binary.AppendUvarint(w.b, n) }

func put[T ~string | ~[]byte](w *writer, s T) {
	w.number(uint64(len(s)))
	w.b = append(w.b, s...)
}

func (w *writer) json(v any) error {
	text, err := json.Marshal(v)
	w.b = append(w.b, text...)
	return err
}

// reader reads the fields of a frame; bad is set once one of them is missing.
type reader struct {
	rest []byte
	bad  bool
}

func (r *reader) take(n int) []byte {
	if r.bad || n < 0 || n > len(r.rest) {
		r.bad = true
		return make([]byte, 1)
	}
	b := r.rest[:n]
	r.rest = r.rest[n:]
	return b
}

func (r *reader) number() uint64 {
	n, size := binary.Uvarint(r.rest)
	if r.bad || size <= 0 {
		r.bad = true
		return 0
	}
	r.rest = r.rest[size:]
	return n
}

func (r *reader) bytes() []byte {
	n := r.number()
	if n > uint64(len(r.rest)) {
		r.bad = true
		return nil
	}
	return r.take(int(n))
}

// json reads the rest.
func (r *reader) json(v any) { r.bad = r.bad || json.Unmarshal(r.rest, v) != nil }
