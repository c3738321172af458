package frame

import (
	"errors"
	"math"
	"time"

	"github.com/fxamacker/cbor/v2"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/store/internal/wal"
)

// Kind is the kind of an Entry, and says which of its fields are set.
type Kind byte

const (
	Change    Kind = 1 + iota // ID, Path, Seq, Records: records were appended from Seq on
	Abort                     // ID, Seq: the records from Seq on were taken back; from 1 on, the document was taken out
	Mark                      // ID, Seq, Sum: the source's file holds the text as of Seq
	Proposals                 // Proposals
	Sent                      // ID, Seq: a server has what was appended up to Seq
	Place                     // ID, Seq, Save: the source's file is about to hold the text as of Seq
	Move                      // Moves, Time
	Padding                   // Pad: nothing; whether the log takes so much is tried
	kinds
)

type Entry struct {
	LSN  wal.LSN `cbor:"-"`
	Size int     `cbor:"-"` // bytes of its body

	Kind      Kind                 `cbor:"kind"`
	ID        model.DocID          `cbor:"id,omitempty"`
	Path      model.Path           `cbor:"path,omitempty"` // where the document lives
	Seq       uint64               `cbor:"seq,omitempty"`
	Sum       model.ContentSum     `cbor:"sum,omitzero"`
	Records   []model.Record       `cbor:"records,omitempty"`
	Proposals model.ProposalChange `cbor:"proposals,omitzero"`
	Save      model.Save           `cbor:"save,omitzero"`
	Moves     []Moved              `cbor:"moves,omitempty"`
	Time      time.Time            `cbor:"time,omitzero"` // when they moved
	Pad       []byte               `cbor:"pad,omitempty"`
}

// Moved says that a document lives at a path from now on.
type Moved struct {
	ID model.DocID `cbor:"id"`
	To model.Path  `cbor:"to"`
}

var (
	encoder = must(cbor.EncOptions{Time: cbor.TimeRFC3339Nano}.EncMode())
	decoder = must(cbor.DecOptions{UTF8: cbor.UTF8DecodeInvalid, MaxArrayElements: math.MaxInt32, MaxMapPairs: math.MaxInt32}.DecMode())
)

func must[T any](mode T, err error) T {
	if err != nil {
		panic(err) // the options are constants
	}
	return mode
}

func Marshal(v any) ([]byte, error) { return encoder.Marshal(v) }

// Unmarshal reads into v what Marshal made. They share no memory.
func Unmarshal(data []byte, v any) error { return decoder.Unmarshal(data, v) }

func (e *Entry) Encode() (body []byte, err error) {
	body, err = Marshal(e)
	e.Size = len(body)
	return body, err
}

// Decode reads a frame, and numbers its records.
func Decode(lsn wal.LSN, body []byte) (*Entry, error) {
	e := &Entry{LSN: lsn, Size: len(body)}
	if err := Unmarshal(body, e); err != nil {
		return nil, err
	}
	if e.Kind == 0 || e.Kind >= kinds || e.Kind == Change && len(e.Records) == 0 {
		return nil, errors.New("frame cannot be decoded")
	}
	e.Number()
	return e, nil
}

// Number gives the records of a Change their numbers, from Seq on.
func (e *Entry) Number() {
	for i := range e.Records {
		e.Records[i].Seq = e.Seq + uint64(i)
	}
}

func (e *Entry) Last() uint64 { return e.Seq + uint64(len(e.Records)) - 1 }
