package wal

import (
	"errors"
	"math"
	"time"

	"github.com/fxamacker/cbor/v2"

	"github.com/relayfs/relayfs/bridge/model"
)

type Kind byte

const (
	Change Kind = 1 + iota // ID, Path, Seq, Records: records were appended, with numbers from Seq on
	// ID, Seq: the records from Seq on were aborted; Seq 1 means that the document was deleted.
	Abort
	FileMark    // ID, Seq, Sum, File: the source's file has the text as of Seq
	Proposals   // Proposals: the pending proposals changed
	Sent        // ID, Seq: a server has the records up to Seq
	PendingSave // ID, Seq, Save: the source's file is about to get the text as of Seq
	Move        // Moves, Time: documents got other paths
	Padding     // Pad: no content; tests whether the log has space
	kinds
)

// Entry is a frame of a store's log. It is encoded in CBOR like the values of the checkpoint. A struct is encoded as a
// map, so that additional data only needs a new field. The keys are the fields' cbor tags, or else their json tags, or
// else their names. Text is encoded as bytes, valid UTF-8 or not, and times as text (RFC 3339).
type Entry struct {
	LSN  LSN `cbor:"-"`
	Size int `cbor:"-"` // size of the body in bytes

	Kind      Kind                 `cbor:"kind"`
	ID        model.DocID          `cbor:"id,omitempty"`
	Path      model.Path           `cbor:"path,omitempty"` // path of the document
	Seq       uint64               `cbor:"seq,omitempty"`
	Sum       model.ContentSum     `cbor:"sum,omitzero"`
	File      model.Stamp          `cbor:"file,omitzero"`
	Records   []model.Record       `cbor:"records,omitempty"`
	Proposals model.ProposalChange `cbor:"proposals,omitzero"`
	Save      model.Save           `cbor:"save,omitzero"`
	Moves     []DocMove            `cbor:"moves,omitempty"`
	Time      time.Time            `cbor:"time,omitzero"` // time of the moves
	Pad       []byte               `cbor:"pad,omitempty"`
}

type DocMove struct {
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

// Unmarshal decodes the output of Marshal into v. v and data share no memory.
func Unmarshal(data []byte, v any) error { return decoder.Unmarshal(data, v) }

func (e *Entry) Encode() (body []byte, err error) {
	body, err = Marshal(e)
	e.Size = len(body)
	return body, err
}

func Decode(lsn LSN, body []byte) (*Entry, error) {
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

func (e *Entry) Number() {
	for i := range e.Records {
		e.Records[i].Seq = e.Seq + uint64(i)
	}
}

func (e *Entry) Last() uint64 { return e.Seq + uint64(len(e.Records)) - 1 }
