package store

import (
	"encoding/binary"
	"encoding/json"
	"errors"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/store/wal"
)

// What a store is told is a frame of its log, but for changes of names, which it makes in
// the checkpoint. A frame is the kind of the change, one
// byte, and its fields in the order of entry: strings and lists of bytes behind their
// length, numbers as uvarints.

type kind byte

const (
	kindChange    kind = 1 + iota // id, path, seq, records: appended from seq on
	kindAbort                     // id, seq: the records from seq on are taken back
	kindMark                      // id, seq, sum: the source's file holds the text as of seq
	kindProposals                 // a model.ProposalChange as JSON
	kindSent                      // id, seq: a server has what was appended up to seq
	kindPlace                     // id, seq, a model.Save as JSON: the file is about to hold the text as of seq
)

// entry is one frame.
type entry struct {
	lsn  wal.LSN
	kind kind

	id        model.DocID
	path      model.Path
	seq       uint64
	sum       model.ContentSum
	records   []model.Record // as Load returns them
	values    [][]byte       // records as the checkpoint keeps them
	proposals model.ProposalChange
	save      model.Save
}

// last is the number of the last record of a change.
func (e *entry) last() uint64 { return e.seq + uint64(len(e.values)) - 1 }

var errBadFrame = errors.New("frame cannot be decoded")

// flagUnsent is set for a record that a server has yet to acknowledge.
const flagUnsent = 1

func (e *entry) encode() ([]byte, error) {
	size := 64 + len(e.id) + len(e.path)
	for _, v := range e.values {
		size += len(v) + 8
	}
	b := append(make([]byte, 0, size), byte(e.kind))
	str := func(s string) { b = append(binary.AppendUvarint(b, uint64(len(s))), s...) }
	switch e.kind {
	case kindChange:
		str(string(e.id))
		str(string(e.path))
		b = binary.AppendUvarint(b, e.seq)
		for i, v := range e.values {
			flags := byte(0)
			if e.records[i].Unsent {
				flags = flagUnsent
			}
			b = append(b, flags)
			b = append(binary.AppendUvarint(b, uint64(len(v))), v...)
		}
	case kindAbort, kindSent, kindMark, kindPlace:
		str(string(e.id))
		b = binary.AppendUvarint(b, e.seq)
		switch e.kind {
		case kindMark:
			b = append(b, e.sum[:]...)
		case kindPlace:
			text, err := json.Marshal(e.save)
			if err != nil {
				return nil, err
			}
			b = append(b, text...)
		}
	case kindProposals:
		text, err := json.Marshal(e.proposals)
		if err != nil {
			return nil, err
		}
		b = append(b, text...)
	}
	return b, nil
}

// decodeEntry reads a frame. The entry shares no memory with body.
func decodeEntry(lsn wal.LSN, body []byte) (*entry, error) {
	if len(body) == 0 {
		return nil, errBadFrame
	}
	e := &entry{lsn: lsn, kind: kind(body[0])}
	r := &reader{rest: body[1:]}
	switch e.kind {
	case kindChange:
		e.id, e.path, e.seq = model.DocID(r.bytes()), model.Path(r.bytes()), r.number()
		for !r.bad && len(r.rest) > 0 {
			flags := r.take(1)
			v := append([]byte(nil), r.bytes()...)
			if r.bad {
				break
			}
			rec, err := decodeRecord(seqKey(e.seq+uint64(len(e.values))), v)
			if err != nil {
				return nil, err
			}
			rec.Unsent = flags[0]&flagUnsent != 0
			e.values, e.records = append(e.values, v), append(e.records, rec)
		}
		r.bad = r.bad || len(e.values) == 0
	case kindAbort, kindSent, kindMark, kindPlace:
		e.id, e.seq = model.DocID(r.bytes()), r.number()
		switch e.kind {
		case kindMark:
			copy(e.sum[:], r.take(len(e.sum)))
		case kindPlace:
			if r.bad || json.Unmarshal(r.rest, &e.save) != nil {
				return nil, errBadFrame
			}
		}
	case kindProposals:
		return e, json.Unmarshal(r.rest, &e.proposals)
	default:
		return nil, errBadFrame
	}
	if r.bad {
		return nil, errBadFrame
	}
	return e, nil
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
