package lib0

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
)

// An Object is a JavaScript object. It preserves the order of the keys. No key occurs twice.
type Object []Member

type Member struct {
	Key   string
	Value any
}

func (o Object) Get(key string) (value any, ok bool) {
	if i := o.index(key); i >= 0 {
		return o[i].Value, true
	}
	return nil, false
}

// With returns o with key set to value, at its old place or at the end.
func (o Object) With(key string, value any) Object {
	o = slices.Clone(o)
	if i := o.index(key); i >= 0 {
		o[i].Value = value
		return o
	}
	return append(o, Member{key, value})
}

func (o Object) Without(key string) Object {
	return slices.DeleteFunc(slices.Clone(o), func(m Member) bool { return m.Key == key })
}

func (o Object) ByKey() map[string]any {
	values := make(map[string]any, len(o))
	for _, m := range o {
		values[m.Key] = m.Value
	}
	return values
}

func (o Object) index(key string) int {
	return slices.IndexFunc(o, func(m Member) bool { return m.Key == key })
}

// An objectReader collects the members of an object. Of several members with one key the last one wins, at the place of
// the first.
type objectReader struct {
	object Object
	at     map[string]int
}

func newObjectReader() objectReader { return objectReader{Object{}, make(map[string]int)} }

func (r *objectReader) put(key string, value any) {
	if i, twice := r.at[key]; twice {
		r.object[i].Value = value
		return
	}
	r.at[key] = len(r.object)
	r.object = append(r.object, Member{key, value})
}

// MarshalJSON encodes the members in order. Infinities and NaN, which JSON lacks, become strings, as FormatNumber writes
// them.
func (o Object) MarshalJSON() ([]byte, error) {
	return AppendJSON(nil, o, func(f float64) string { return strconv.Quote(FormatNumber(f)) }), nil
}

// UnmarshalJSON keeps the order of an object's members. null yields no members.
func (o *Object) UnmarshalJSON(data []byte) error {
	v, err := ParseJSON(data, func(n json.Number) (any, error) { return ParseNumber(n.String()), nil })
	switch v := v.(type) {
	case nil:
		*o = nil
	case Object:
		*o = v
	default:
		return errors.New("value is not a JSON object")
	}
	return err
}

// FormatNumber returns a number as text. It returns .nan, .inf and -.inf, as in YAML, for the numbers that JSON lacks.
func FormatNumber(f float64) string {
	switch {
	case math.IsNaN(f):
		return ".nan"
	case math.IsInf(f, 1):
		return ".inf"
	case math.IsInf(f, -1):
		return "-.inf"
	}
	return strconv.FormatFloat(f, 'g', -1, 64)
}

// ParseNumber returns an int64 if s is an integer that fits, and otherwise a float64.
func ParseNumber(s string) any {
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		return n
	}
	f, _ := strconv.ParseFloat(s, 64)
	return f
}

// AppendJSON appends a value as JSON.stringify writes it. nonFinite returns the text for infinities and NaN.
func AppendJSON(dst []byte, v any, nonFinite func(float64) string) []byte {
	switch v := v.(type) {
	case bool:
		return strconv.AppendBool(dst, v)
	case int64:
		return strconv.AppendInt(dst, v, 10)
	case BigInt:
		return strconv.AppendInt(dst, int64(v), 10)
	case float64:
		if v == 0 {
			return append(dst, '0') // 0, and JavaScript's -0 too
		}
		number, err := json.Marshal(v) // same form as in JavaScript
		if err != nil {
			return append(dst, nonFinite(v)...)
		}
		return append(dst, number...)
	case string:
		return appendQuoted(dst, v)
	case []any:
		dst = append(dst, '[')
		for i, el := range v {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = AppendJSON(dst, el, nonFinite)
		}
		return append(dst, ']')
	case Object:
		dst = append(dst, '{')
		first := len(dst)
		for _, m := range v {
			if _, undefined := m.Value.(Undefined); undefined {
				continue
			}
			if len(dst) > first {
				dst = append(dst, ',')
			}
			dst = AppendJSON(append(appendQuoted(dst, m.Key), ':'), m.Value, nonFinite)
		}
		return append(dst, '}')
	}
	return append(dst, "null"...)
}

func appendQuoted(dst []byte, s string) []byte {
	const escaped, letters = "\"\\\b\f\n\r\t", `"\bfnrt`
	dst = append(dst, '"')
	for i := range len(s) {
		c := s[i]
		switch at := strings.IndexByte(escaped, c); {
		case at >= 0:
			dst = append(dst, '\\', letters[at])
		case c < ' ':
			dst = fmt.Appendf(dst, `\u%04x`, c)
		default:
			dst = append(dst, c)
		}
	}
	return append(dst, '"')
}

// ErrAfterJSON is the error for text after the value.
var ErrAfterJSON = errors.New("there is text after its end")

// ParseJSON parses a JSON text: nil, bool, string, []any, Object, and the results of number for numbers. Values in the
// text may nest two levels deeper than values in a document, because a document may hold the members of a list in an
// object.
func ParseJSON(data []byte, number func(json.Number) (any, error)) (any, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	v, err := parseJSON(dec, number, -2)
	if err != nil {
		return nil, err
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, ErrAfterJSON
	}
	return v, nil
}

func parseJSON(dec *json.Decoder, number func(json.Number) (any, error), depth int) (any, error) {
	if depth > MaxDepth {
		return nil, ErrDepth
	}
	token, err := dec.Token()
	if err != nil {
		return nil, err
	}
	if n, ok := token.(json.Number); ok {
		return number(n)
	}
	open, ok := token.(json.Delim)
	if !ok {
		return token, nil
	}
	list, members := []any{}, newObjectReader()
	for dec.More() {
		var key json.Token
		if open == '{' {
			if key, err = dec.Token(); err != nil {
				return nil, err
			}
		}
		v, err := parseJSON(dec, number, depth+1)
		if err != nil {
			return nil, err
		}
		if key, ok := key.(string); ok {
			members.put(key, v)
		} else {
			list = append(list, v)
		}
	}
	if _, err = dec.Token(); open == '{' {
		return members.object, err
	}
	return list, err
}
