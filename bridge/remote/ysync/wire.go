package ysync

import (
	"encoding/binary"
	"errors"
	"fmt"
	"unicode/utf8"
)

var (
	// ErrMalformed is the error for malformed bytes. The errors of decoders wrap it.
	ErrMalformed = errors.New("malformed frame")
	// ErrUnknownType is the error for frames of unknown types. The errors of [Decode] and [DecodeHocuspocus] wrap it.
	// Peers ignore such frames, because servers and applications add types.
	ErrUnknownType = errors.New("unknown type of frame")
)

// maxInt is JavaScript's greatest safe integer.
const maxInt = 1<<53 - 1

// A reader consumes lib0 primitives from buf. After the first error it returns zero values.
type reader struct {
	buf []byte
	err error
}

func (r *reader) fail(what string) {
	if r.err == nil {
		r.err = fmt.Errorf("%w: %s", ErrMalformed, what)
	}
	r.buf = nil
}

func (r *reader) failUnknown(wire uint64) {
	if r.err == nil {
		r.err = fmt.Errorf("%w: %d", ErrUnknownType, wire)
	}
}

func (r *reader) uint(what string) uint64 {
	v, n := binary.Uvarint(r.buf) // lib0 and Go have the same variable-length integers
	if n <= 0 || v > maxInt {
		r.fail(what)
		return 0
	}
	r.buf = r.buf[n:]
	return v
}

// bytes reads a length, and then that number of bytes. The result shares memory with buf.
func (r *reader) bytes(what string) []byte {
	n := r.uint(what)
	if n > uint64(len(r.buf)) {
		r.fail(what)
		return nil
	}
	b := r.buf[:n:n]
	r.buf = r.buf[n:]
	return b
}

func (r *reader) text(what string) string {
	b := r.bytes(what)
	if !utf8.Valid(b) {
		r.fail(what)
		return ""
	}
	return string(b)
}

func appendBytes[T string | []byte](dst []byte, b T) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(b))), b...)
}
