package canvasdoc

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/relayfs/relayfs/bridge/frontmatter"
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
	parsed, err := frontmatter.ParseJSON(data)
	if err != nil {
		return c, fmt.Errorf("%w: it is not JSON: %w", ErrFormat, err)
	}
	root, err := sharedValue(parsed, -2)
	if err != nil {
		return c, fmt.Errorf("%w: %w", ErrFormat, err)
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

// sharedValue converts a value of frontmatter.ParseJSON to a value of a document: nil, bool, float64, string, []any or
// ycrdt.Object.
func sharedValue(v any, depth int) (_ any, err error) {
	if depth > maxDepth {
		return nil, errDepth
	}
	switch v := v.(type) {
	case int64:
		return float64(v), nil
	case float64:
		if math.IsInf(v, 0) {
			return nil, errors.New("a number is too large")
		}
	case []any:
		for i, item := range v {
			if v[i], err = sharedValue(item, depth+1); err != nil {
				return nil, err
			}
		}
	case frontmatter.Properties:
		o := make(ycrdt.Object, len(v))
		for i, m := range v {
			o[i].Key = m.Key
			if o[i].Value, err = sharedValue(m.Value, depth+1); err != nil {
				return nil, err
			}
		}
		return o, nil
	}
	return v, nil
}
