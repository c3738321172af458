package lib0

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"
)

const (
	tagBytes     = 116
	tagArray     = 117
	tagObject    = 118
	tagString    = 119
	tagTrue      = 120
	tagFalse     = 121
	tagBigInt    = 122
	tagFloat64   = 123
	tagFloat32   = 124
	tagInt       = 125
	tagNull      = 126
	tagUndefined = 127
)

// nan is the bit pattern of NaN in JavaScript engines.
const nan = 0x7ff8000000000000

type Undefined struct{}

type BigInt int64

// Text reads a string with a prefix for its length in bytes, and checks its encoding. The result shares memory with the
// slice of the Reader.
func (r *Reader) Text() []byte {
	b := r.Bytes()
	if !ASCII(b) && !utf8.Valid(b) {
		r.Fail(ErrUTF8)
		return nil
	}
	return b
}

func ASCII(b []byte) bool {
	for ; len(b) >= 32; b = b[32:] {
		if (binary.LittleEndian.Uint64(b)|binary.LittleEndian.Uint64(b[8:])|binary.LittleEndian.Uint64(b[16:])|binary.LittleEndian.Uint64(b[24:]))&highBits != 0 {
			return false
		}
	}
	var all uint64
	for ; len(b) >= 8; b = b[8:] {
		all |= binary.LittleEndian.Uint64(b)
	}
	for _, c := range b {
		all |= uint64(c)
	}
	return all&highBits == 0
}

func (r *Reader) JSONText() []byte {
	b := r.Text()
	if r.err == nil && !json.Valid(b) {
		r.Fail(ErrJSON)
		return nil
	}
	return b
}

// SkipAny skips one any value. It verifies the encoding of strings.
func (r *Reader) SkipAny() { r.skipAny(0) }

func (r *Reader) skipAny(depth int) {
	if depth > MaxDepth {
		r.Fail(ErrDepth)
		return
	}
	r.Values++
	switch r.Byte() {
	case tagUndefined, tagNull, tagFalse, tagTrue:
	case tagInt:
		r.Int()
	case tagFloat32:
		r.Skip(4)
	case tagFloat64, tagBigInt:
		r.Skip(8)
	case tagString:
		r.Text()
	case tagBytes:
		r.Bytes()
	case tagObject:
		for n := r.Uint(); n > 0 && r.err == nil; n-- {
			r.Text()
			r.skipAny(depth + 1)
		}
	case tagArray:
		for n := r.Uint(); n > 0 && r.err == nil; n-- {
			r.skipAny(depth + 1)
		}
	default:
		r.Fail(ErrTag)
	}
}

// Any reads one value of lib0's type any. The result is nil, [Undefined], bool, int64, float64, [BigInt], string,
// []byte, []any or [Object].
func (r *Reader) Any() any { return r.any(0) }

func (r *Reader) any(depth int) any {
	if depth > MaxDepth {
		r.Fail(ErrDepth)
		return nil
	}
	switch r.Byte() {
	case tagUndefined:
		return Undefined{}
	case tagNull:
		return nil
	case tagFalse:
		return false
	case tagTrue:
		return true
	case tagInt:
		v, negative := r.Int()
		if v == 0 && negative {
			return math.Copysign(0, -1)
		}
		return v
	case tagFloat32, tagFloat64, tagBigInt:
		r.off--
		return r.fixed()
	case tagString:
		return string(r.Text())
	case tagBytes:
		return slices.Clone(r.Bytes())
	case tagObject:
		return r.object(depth)
	case tagArray:
		return r.array(depth)
	}
	r.Fail(ErrTag)
	return nil
}

func (r *Reader) fixed() any {
	tag := r.Byte()
	size := 8
	if tag == tagFloat32 {
		size = 4
	}
	if r.Len() < size {
		r.Fail(ErrTruncated)
		return nil
	}
	b := r.buf[r.off : r.off+size]
	r.off += size
	switch tag {
	case tagFloat32:
		return float64(math.Float32frombits(binary.BigEndian.Uint32(b)))
	case tagFloat64:
		return math.Float64frombits(binary.BigEndian.Uint64(b))
	default:
		return BigInt(binary.BigEndian.Uint64(b))
	}
}

func (r *Reader) object(depth int) any {
	members := newObjectReader()
	for n := r.Uint(); n > 0 && r.err == nil; n-- {
		key := string(r.Text())
		members.put(key, r.any(depth+1))
	}
	return members.object
}

func (r *Reader) array(depth int) any {
	arr := []any{}
	for n := r.Uint(); n > 0 && r.err == nil; n-- {
		arr = append(arr, r.any(depth+1))
	}
	return arr
}

// AppendAny appends v as lib0's writeAny does for the same JavaScript value: integers of up to 31 bits as integers,
// other numbers as float32 if that is exact, and otherwise as float64. It writes a map[string]any in the order of the
// sorted keys. It returns an error for a Go type that has no any form.
func AppendAny(dst []byte, v any) ([]byte, error) { return appendAny(dst, v, 0) }

func appendAny(dst []byte, v any, depth int) ([]byte, error) {
	if depth > MaxDepth {
		return nil, ErrDepth
	}
	switch v := v.(type) {
	case nil:
		return append(dst, tagNull), nil
	case Undefined:
		return append(dst, tagUndefined), nil
	case bool:
		if v {
			return append(dst, tagTrue), nil
		}
		return append(dst, tagFalse), nil
	case string:
		return AppendString(append(dst, tagString), ValidUTF8(v)), nil
	case []byte:
		return AppendBytes(append(dst, tagBytes), v), nil
	case BigInt:
		return binary.BigEndian.AppendUint64(append(dst, tagBigInt), uint64(v)), nil
	case []any:
		return appendArray(dst, v, depth)
	case map[string]any:
		return appendObject(dst, v, depth)
	case Object:
		return appendOrdered(dst, v, depth)
	}
	if f, ok := toFloat(v); ok {
		return appendNumber(dst, f), nil
	}
	return nil, fmt.Errorf("no lib0 form for a value of type %T", v)
}

func appendArray(dst []byte, arr []any, depth int) ([]byte, error) {
	dst = AppendUint(append(dst, tagArray), uint64(len(arr)))
	var err error
	for _, el := range arr {
		if dst, err = appendAny(dst, el, depth+1); err != nil {
			return nil, err
		}
	}
	return dst, nil
}

func appendObject(dst []byte, obj map[string]any, depth int) ([]byte, error) {
	sorted := make(Object, 0, len(obj))
	for k, v := range obj {
		sorted = append(sorted, Member{k, v})
	}
	slices.SortFunc(sorted, func(a, b Member) int { return strings.Compare(a.Key, b.Key) })
	return appendOrdered(dst, sorted, depth)
}

func appendOrdered(dst []byte, obj Object, depth int) ([]byte, error) {
	dst = AppendUint(append(dst, tagObject), uint64(len(obj)))
	var err error
	for _, el := range obj {
		dst = AppendString(dst, ValidUTF8(el.Key))
		if dst, err = appendAny(dst, el.Value, depth+1); err != nil {
			return nil, err
		}
	}
	return dst, nil
}

func toFloat(v any) (float64, bool) {
	switch n := reflect.ValueOf(v); {
	case n.CanInt():
		return float64(n.Int()), true
	case n.CanUint():
		return float64(n.Uint()), true
	case n.CanFloat():
		return n.Float(), true
	}
	return 0, false
}

func appendNumber(dst []byte, f float64) []byte {
	if f == math.Trunc(f) && math.Abs(f) <= math.MaxInt32 {
		sign := byte(0)
		if math.Signbit(f) {
			sign = 0x40
		}
		return appendSigned(append(dst, tagInt), uint64(math.Abs(f)), sign)
	}
	if f32 := float32(f); float64(f32) == f {
		return binary.BigEndian.AppendUint32(append(dst, tagFloat32), math.Float32bits(f32))
	}
	bits := math.Float64bits(f)
	if f != f {
		bits = nan
	}
	return binary.BigEndian.AppendUint64(append(dst, tagFloat64), bits)
}
