package frame

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/relayfs/relayfs/bridge/model"
)

// errBadRecord says that a value is not what EncodeRecord makes.
var errBadRecord = errors.New("record cannot be decoded")

// EncodeRecord returns a record without its number. It ends with rec.Update.
func EncodeRecord(rec model.Record) ([]byte, error) {
	text, err := json.Marshal(rec)
	if err != nil {
		return nil, err
	}
	b := binary.AppendUvarint(nil, uint64(len(text)))
	return append(append(b, text...), rec.Update...), nil
}

// DecodeRecord returns the record of number seq, which shares no memory with v.
func DecodeRecord(seq uint64, v []byte) (rec model.Record, err error) {
	n, size := binary.Uvarint(v)
	if size <= 0 || n > uint64(len(v)-size) {
		return rec, errBadRecord
	}
	text := v[size : size+int(n)]
	if err := json.Unmarshal(text, &rec); err != nil {
		return rec, fmt.Errorf("%w: %v", errBadRecord, err)
	}
	rec.Seq = seq
	rec.Update = append([]byte(nil), v[size+int(n):]...)
	return rec, nil
}
