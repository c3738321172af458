package canvasdoc

import (
	"bytes"
	"errors"
	"fmt"

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
		dst = ycrdt.AppendJSON(append(dst, "\n\t\t"...), el.Value)
	}
	if len(items) > 0 {
		dst = append(dst, "\n\t"...)
	}
	return dst
}

// parse parses a file. An empty file is an empty canvas.
func parse(data []byte) (c canvas, err error) {
	if len(bytes.TrimSpace(data)) == 0 {
		return c, nil
	}
	root, err := ycrdt.ParseJSON(data)
	switch {
	case errors.Is(err, ycrdt.ErrAfterJSON):
		return c, fmt.Errorf("%w: %w", ErrFormat, err)
	case err != nil:
		return c, fmt.Errorf("%w: it is not JSON: %w", ErrFormat, err)
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
		v, _ := item.Get(idKey)
		id, ok := v.(string)
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
