package lib0

import (
	"bytes"
	"encoding/hex"
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"
)

func unhex(t *testing.T, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestUint(t *testing.T) {
	for v, want := range map[uint64]string{
		0: "00", 127: "7f", 128: "8001", 300: "ac02", 16383: "ff7f", 16384: "808001",
		1<<32 - 1: "ffffffff0f", MaxInt: "ffffffffffffff0f",
	} {
		got := AppendUint(nil, v)
		if hex.EncodeToString(got) != want {
			t.Errorf("AppendUint(%d) = %x, want %s", v, got, want)
		}
		r := NewReader(got)
		if back := r.Uint(); back != v || r.Err() != nil || r.Len() != 0 {
			t.Errorf("Uint(%x) = %d, %v", got, back, r.Err())
		}
	}
}

func TestUintLongForm(t *testing.T) {
	r := NewReader(unhex(t, "8080808000"))
	if v := r.Uint(); v != 0 || r.Err() != nil {
		t.Errorf("Uint = %d, %v", v, r.Err())
	}
}

func TestUintErrors(t *testing.T) {
	for data, want := range map[string]error{
		"": ErrTruncated, "80": ErrTruncated, "8080": ErrTruncated, "ffffffffffffff": ErrTruncated,
		"ffffffffffffff1f": ErrRange, "80808080808080808080": ErrRange, "ffffffffffffffffffff01": ErrRange,
	} {
		r := NewReader(unhex(t, data))
		if v := r.Uint(); v != 0 || !errors.Is(r.Err(), want) {
			t.Errorf("Uint(%s) = %d, %v, want %v", data, v, r.Err(), want)
		}
	}
}

func TestInt(t *testing.T) {
	for v, want := range map[int64]string{
		0: "00", 63: "3f", 64: "8001", -1: "41", -64: "c001", MaxInt: "bfffffffffffff1f", -MaxInt: "ffffffffffffff1f",
	} {
		r := NewReader(unhex(t, want))
		if back, negative := r.Int(); back != v || negative != (v < 0) || r.Err() != nil {
			t.Errorf("Int(%s) = %d, %v, %v, want %d", want, back, negative, r.Err(), v)
		}
	}
	r := NewReader(unhex(t, "40"))
	if v, negative := r.Int(); v != 0 || !negative {
		t.Errorf("Int(40) = %d, %v, want -0", v, negative)
	}
	for _, data := range []string{"", "80", "ffffffffffffffffffffff01"} {
		r := NewReader(unhex(t, data))
		if r.Int(); r.Err() == nil {
			t.Errorf("Int(%s) succeeded", data)
		}
	}
}

func TestAny(t *testing.T) {
	for _, c := range []struct {
		v    any
		want string
	}{
		{Undefined{}, "7f"},
		{nil, "7e"},
		{true, "78"},
		{false, "79"},
		{int64(0), "7d00"},
		{math.Copysign(0, -1), "7d40"},
		{int64(math.MaxInt32), "7dbfffffff0f"},
		{float64(1 << 31), "7c4f000000"},
		{float64(-1 << 31), "7ccf000000"},
		{float64(1 << 32), "7c4f800000"},
		{float64(MaxInt), "7b433fffffffffffff"},
		{0.5, "7c3f000000"},
		{0.1, "7b3fb999999999999a"},
		{BigInt(-1), "7affffffffffffffff"},
		{"é", "7702c3a9"},
		{[]byte{7}, "740107"},
		{[]any{int64(1), nil}, "75027d017e"},
		{Object{{"a", []any{}}, {"b", true}}, "760201617500016278"},
	} {
		got, err := AppendAny(nil, c.v)
		if err != nil || hex.EncodeToString(got) != c.want {
			t.Errorf("AppendAny(%v) = %x, %v, want %s", c.v, got, err, c.want)
		}
		r := NewReader(got)
		if back := r.Any(); !reflect.DeepEqual(back, c.v) || r.Err() != nil {
			t.Errorf("Any(%x) = %v, %v, want %v", got, back, r.Err(), c.v)
		}
		r = NewReader(got)
		if r.SkipAny(); r.Len() != 0 || r.Err() != nil {
			t.Errorf("SkipAny(%x) leaves %d, %v", got, r.Len(), r.Err())
		}
	}
}

// Any keeps the order of keys, also in objects inside of others; of a key that a peer wrote
// twice the last value counts, instead of the first, as in JavaScript.
func TestAnyOfObjects(t *testing.T) {
	want := Object{{"b", true}, {"a", []any{Object{{"z", nil}, {"y", int64(1)}}}}}
	data, err := AppendAny(nil, want)
	if err != nil || hex.EncodeToString(data) != "760201627801617501760201"+"7a7e01797d01" {
		t.Errorf("AppendAny = %x, %v", data, err)
	}
	r := NewReader(data)
	if got := r.Any(); !reflect.DeepEqual(got, want) || r.Err() != nil {
		t.Errorf("Any = %v, %v", got, r.Err())
	}
	r = NewReader(unhex(t, "7603"+"01617d01"+"01627d02"+"01617d03"))
	if got := r.Any(); !reflect.DeepEqual(got, Object{{"a", int64(3)}, {"b", int64(2)}}) {
		t.Errorf("with a key twice: %v", got)
	}
}

func TestAppendAnyConverts(t *testing.T) {
	for _, v := range []any{int8(5), uint(5), uint64(5), float32(5), 5} {
		if got, err := AppendAny(nil, v); err != nil || !bytes.Equal(got, []byte{125, 5}) {
			t.Errorf("AppendAny(%T) = %x, %v", v, got, err)
		}
	}
	if got, err := AppendAny(nil, "\xff"); err != nil || hex.EncodeToString(got) != "7703efbfbd" {
		t.Errorf("AppendAny of invalid UTF-8 = %x, %v", got, err)
	}
	if got, err := AppendAny(nil, math.NaN()); err != nil || hex.EncodeToString(got) != "7b7ff8000000000000" {
		t.Errorf("AppendAny(NaN) = %x, %v", got, err)
	}
}

func TestAppendAnyErrors(t *testing.T) {
	deep := any(nil)
	for range MaxDepth + 2 {
		deep = []any{deep}
	}
	for _, v := range []any{make(chan int), struct{}{}, []any{func() {}}, map[string]any{"k": 1i}, deep} {
		if _, err := AppendAny(nil, v); err == nil {
			t.Errorf("AppendAny(%T) succeeded", v)
		}
	}
}

func TestAnyErrors(t *testing.T) {
	for data, want := range map[string]error{
		"":             ErrTruncated,
		"7d":           ErrTruncated,
		"7c000000":     ErrTruncated,
		"7b0000000000": ErrTruncated,
		"770561":       ErrTruncated,
		"7505":         ErrTruncated,
		"76010161":     ErrTruncated,
		"7701ff":       ErrUTF8,
		"760101ff7e":   ErrUTF8,
		"73":           ErrTag,
		"80":           ErrTag,
		strings.Repeat("7501", MaxDepth+2) + "7e": ErrDepth,
	} {
		r := NewReader(unhex(t, data))
		if v := r.Any(); !errors.Is(r.Err(), want) {
			t.Errorf("Any(%s) = %v, %v, want %v", data, v, r.Err(), want)
		}
		r = NewReader(unhex(t, data))
		if r.SkipAny(); !errors.Is(r.Err(), want) {
			t.Errorf("SkipAny(%s): %v, want %v", data, r.Err(), want)
		}
	}
}

func TestASCII(t *testing.T) {
	for n := range 80 {
		b := bytes.Repeat([]byte{'a'}, n)
		if !ASCII(b) {
			t.Errorf("ASCII(%q) = false", b)
		}
		for i := range b {
			b[i] = 0x80
			if ASCII(b) {
				t.Errorf("ASCII(%q) = true", b)
			}
			b[i] = 'a'
		}
	}
}
