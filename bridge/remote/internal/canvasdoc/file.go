package canvasdoc

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/relayfs/relayfs/bridge/ycrdt"
)

// ErrFormat is the error for a file that is not a canvas, or has content that a shared canvas cannot store.
var ErrFormat = errors.New("is not a canvas that can be shared")

func (c canvas) file() []byte {
	dst := appendItems([]byte("{\n\t\"nodes\":["), c.nodes)
	dst = appendItems(append(dst, "],\n\t\"edges\":["...), c.edges)
	return append(dst, "]\n}"...)
}

func appendItems(dst []byte, items ycrdt.Object) []byte {
	for i, el := range items {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendValue(append(dst, "\n\t\t"...), el.Value)
	}
	if len(items) > 0 {
		dst = append(dst, "\n\t"...)
	}
	return dst
}

// appendValue appends a value as JSON.stringify writes it.
func appendValue(dst []byte, v any) []byte {
	switch v := v.(type) {
	case bool:
		return strconv.AppendBool(dst, v)
	case int64:
		return strconv.AppendInt(dst, v, 10)
	case ycrdt.BigInt:
		return strconv.AppendInt(dst, int64(v), 10)
	case float64:
		return appendNumber(dst, v)
	case string:
		return appendString(dst, v)
	case []any:
		dst = append(dst, '[')
		for i, el := range v {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendValue(dst, el)
		}
		return append(dst, ']')
	case ycrdt.Object:
		return appendObject(dst, v)
	}
	return append(dst, "null"...)
}

func appendObject(dst []byte, o ycrdt.Object) []byte {
	dst = append(dst, '{')
	first := len(dst)
	for _, m := range o {
		if _, undefined := m.Value.(ycrdt.Undefined); undefined {
			continue
		}
		if len(dst) > first {
			dst = append(dst, ',')
		}
		dst = appendValue(append(appendString(dst, m.Key), ':'), m.Value)
	}
	return append(dst, '}')
}

func appendNumber(dst []byte, f float64) []byte {
	if f == 0 {
		return append(dst, '0') // 0, and JavaScript's -0 too
	}
	number, err := json.Marshal(f) // same form as in JavaScript
	if err != nil {
		return append(dst, "null"...) // f is infinite or NaN
	}
	return append(dst, number...)
}

func appendString(dst []byte, s string) []byte {
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

// parse parses a file. An empty file is an empty canvas.
func parse(data []byte) (c canvas, err error) {
	if len(bytes.TrimSpace(data)) == 0 {
		return c, nil
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	root, err := parseValue(dec, -2)
	if err != nil {
		return c, fmt.Errorf("%w: it is not JSON: %w", ErrFormat, err)
	}
	if _, err := dec.Token(); err != io.EOF {
		return c, fmt.Errorf("%w: there is text after its end", ErrFormat)
	}
	top, ok := root.(ycrdt.Object)
	if !ok {
		return c, fmt.Errorf("%w: it is not a JSON object", ErrFormat)
	}
	for _, m := range top {
		switch m.Key {
		case nodesName:
			c.nodes, err = parseItems(m)
		case edgesName:
			c.edges, err = parseItems(m)
		default:
			err = fmt.Errorf("%w: it has the member %q, but only %q and %q are supported; remove it", ErrFormat, m.Key, nodesName, edgesName)
		}
		if err != nil {
			return c, err
		}
	}
	return c, nil
}

func parseItems(list ycrdt.Member) (items ycrdt.Object, err error) {
	values, ok := list.Value.([]any)
	if !ok {
		return nil, fmt.Errorf("%w: %q is not a list", ErrFormat, list.Key)
	}
	ids := make(map[string]bool)
	for _, v := range values {
		item, ok := v.(ycrdt.Object)
		if !ok {
			return nil, fmt.Errorf("%w: an item of %q is not an object", ErrFormat, list.Key)
		}
		id, ok := byKey(item)[idKey].(string)
		if !ok {
			return nil, fmt.Errorf("%w: an item of %q has no id", ErrFormat, list.Key)
		}
		if ids[id] {
			return nil, fmt.Errorf("%w: two of %q have the id %q", ErrFormat, list.Key, id)
		}
		ids[id] = true
		items = append(items, ycrdt.Member{Key: id, Value: item})
	}
	return items, nil
}

const maxDepth = 100

var errDepth = fmt.Errorf("it is nested more than %d deep", maxDepth)

// parseValue parses the next value: nil, bool, float64, string, []any or ycrdt.Object.
func parseValue(dec *json.Decoder, depth int) (any, error) {
	if depth > maxDepth {
		return nil, errDepth
	}
	token, err := dec.Token()
	if err != nil {
		return nil, err
	}
	switch token := token.(type) {
	case json.Number:
		f, err := token.Float64()
		if math.IsInf(f, 0) {
			return nil, fmt.Errorf("the number %.20s is too large", token)
		}
		return f, err
	case json.Delim:
		if token == '[' {
			return parseList(dec, depth)
		}
		return parseObject(dec, depth)
	}
	return token, nil
}

func parseList(dec *json.Decoder, depth int) (list []any, err error) {
	list = []any{}
	for dec.More() {
		v, err := parseValue(dec, depth+1)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	_, err = dec.Token()
	return list, err
}

func parseObject(dec *json.Decoder, depth int) (o ycrdt.Object, err error) {
	o = ycrdt.Object{}
	at := make(map[string]int)
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return nil, err
		}
		v, err := parseValue(dec, depth+1)
		if err != nil {
			return nil, err
		}
		name := key.(string) // keys are always strings
		if i, twice := at[name]; twice {
			o[i].Value = v
			continue
		}
		at[name] = len(o)
		o = append(o, ycrdt.Member{Key: name, Value: v})
	}
	_, err = dec.Token()
	return o, err
}
