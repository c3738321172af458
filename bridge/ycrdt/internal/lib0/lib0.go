// Package lib0 reads and writes the byte primitives of the JavaScript library lib0, on which the Yjs formats are built:
// variable-length integers, strings, byte arrays and self-describing "any" values.
//
// A [Reader] reads from a byte slice. It never reads beyond the slice, and never allocates more than the slice can
// contain. It keeps its first error, so callers decode a whole message and check [Reader.Err] once. Append functions
// write, as in package strconv.
//
// Format: https://github.com/dmonad/lib0 (encoding.js and decoding.js).
package lib0

import (
	"errors"
	"fmt"
)

// MaxInt is the largest variable-length integer of lib0: JavaScript's Number.MAX_SAFE_INTEGER.
const MaxInt = 1<<53 - 1

// MaxDepth is the maximum nesting depth of arrays and objects in an any value.
const MaxDepth = 100

// The errors of a Reader wrap one of the following errors and contain the offset of the failure.
var (
	ErrTruncated = errors.New("unexpected end of data")
	ErrRange     = errors.New("integer out of range")
	ErrUTF8      = errors.New("invalid UTF-8")
	ErrTag       = errors.New("unknown type tag")
	ErrDepth     = errors.New("value nested too deep")
	ErrJSON      = errors.New("invalid JSON")
	ErrMany      = errors.New("too many elements")
)

// A Reader decodes lib0 primitives from a byte slice. After the first error every read returns a zero value.
type Reader struct {
	buf []byte
	off int
	err error

	Values int // number of the values that SkipAny has skipped
}

func NewReader(buf []byte) Reader { return Reader{buf: buf} }

func (r *Reader) Err() error { return r.err }

func (r *Reader) Offset() int { return r.off }

// Seek moves the Reader to the offset off. An offset beyond the end is an error. After an error it does nothing.
func (r *Reader) Seek(off int) {
	if r.err != nil {
		return
	}
	if off > len(r.buf) {
		r.Fail(ErrTruncated)
		return
	}
	r.off = off
}

func (r *Reader) Len() int {
	if r.err != nil {
		return 0
	}
	return len(r.buf) - r.off
}

func (r *Reader) Slice(from, to int) []byte { return r.buf[from:to:to] }

// Fail records err with the current offset, unless the Reader already has an error.
func (r *Reader) Fail(err error) {
	if r.err == nil {
		r.err = fmt.Errorf("at byte %d: %w", r.off, err)
	}
	r.off = len(r.buf)
}

func (r *Reader) Byte() byte {
	if i := r.off; i < len(r.buf) {
		r.off = i + 1
		return r.buf[i]
	}
	return r.truncated()
}

func (r *Reader) truncated() byte {
	r.Fail(ErrTruncated)
	return 0
}

// Uint reads an unsigned variable-length integer of at most [MaxInt].
func (r *Reader) Uint() uint64 {
	if i := r.off; i < len(r.buf) {
		if b := r.buf[i]; b < 0x80 {
			r.off = i + 1
			return uint64(b)
		}
	}
	return r.longUint()
}

// Count reads the number of the following elements, each of which has at least size bytes. It is an error if there are
// more than most elements, or fewer bytes.
func (r *Reader) Count(size int, most uint64) uint64 {
	n := r.Uint()
	switch {
	case n > uint64(r.Len()/size):
		r.Fail(ErrTruncated)
	case n > most:
		r.Fail(ErrMany)
	default:
		return n
	}
	return 0
}

// longUint reads an integer of more than one byte. Like lib0 it accepts overlong forms, of up to the nine bytes that
// fit into 63 bits.
func (r *Reader) longUint() uint64 {
	b := r.buf[r.off:]
	if len(b) > 2 && b[1] < 0x80 {
		r.off += 2
		return uint64(b[0]&0x7f) | uint64(b[1])<<7
	}
	if len(b) > 2 && b[2] < 0x80 {
		r.off += 3
		return uint64(b[0]&0x7f) | uint64(b[1]&0x7f)<<7 | uint64(b[2])<<14
	}
	if len(b) > 9 {
		b = b[:9]
	}
	var v uint64
	for i, c := range b {
		v |= uint64(c&0x7f) << (7 * i)
		if c < 0x80 {
			if v > MaxInt {
				break
			}
			r.off += i + 1
			return v
		}
	}
	if len(b) < 9 && v <= MaxInt {
		r.Fail(ErrTruncated)
	} else {
		r.Fail(ErrRange)
	}
	return 0
}

// Int reads a signed variable-length integer. negative is set for -0 too.
func (r *Reader) Int() (v int64, negative bool) {
	b := r.Byte()
	negative = b&0x40 != 0
	mag := uint64(b & 0x3f)
	for shift := 6; b >= 0x80; shift += 7 {
		if b = r.Byte(); r.err != nil {
			return 0, false
		}
		mag |= uint64(b&0x7f) << shift
		if mag > MaxInt || shift > 55 {
			r.Fail(ErrRange)
			return 0, false
		}
	}
	if negative {
		return -int64(mag), true
	}
	return int64(mag), false
}

// Bytes reads a byte array with its length prefix. The result shares memory with the slice of the Reader.
func (r *Reader) Bytes() []byte {
	n := r.Uint()
	if n > uint64(len(r.buf)-r.off) {
		r.Fail(ErrTruncated)
		return nil
	}
	r.off += int(n)
	return r.buf[r.off-int(n) : r.off : r.off]
}

func (r *Reader) Skip(n int) {
	if n > len(r.buf)-r.off {
		r.Fail(ErrTruncated)
		return
	}
	r.off += n
}

// Window returns the slice of the Reader and the offset of the next byte. Callers read integers with [ReadUint] and
// then continue with [Reader.Seek]. After an error the slice is nil.
func (r *Reader) Window() (buf []byte, off int) {
	if r.err != nil {
		return nil, 0
	}
	return r.buf, r.off
}

// ReadUint is [Reader.Uint] for inner loops. It reads an unsigned variable-length integer at buf[off:] and returns the
// offset after it. If there is no integer, it returns an offset beyond the end of buf, from which further reads fail
// too.
func ReadUint(buf []byte, off int) (uint64, int) {
	var v uint64
	for shift := 0; off < len(buf) && shift < 63; shift += 7 {
		b := buf[off]
		off++
		v |= uint64(b&0x7f) << shift
		if b < 0x80 {
			if v > MaxInt {
				break
			}
			return v, off
		}
	}
	return 0, len(buf) + 1
}

func AppendUint(dst []byte, v uint64) []byte {
	for v >= 0x80 {
		dst = append(dst, byte(v)|0x80)
		v >>= 7
	}
	return append(dst, byte(v))
}

func appendSigned(dst []byte, mag uint64, sign byte) []byte {
	b := byte(mag&0x3f) | sign
	for mag >>= 6; mag > 0; mag >>= 7 {
		dst = append(dst, b|0x80)
		b = byte(mag & 0x7f)
	}
	return append(dst, b)
}

func AppendString(dst []byte, s string) []byte {
	return append(AppendUint(dst, uint64(len(s))), s...)
}

func AppendBytes(dst, b []byte) []byte {
	return append(AppendUint(dst, uint64(len(b))), b...)
}
