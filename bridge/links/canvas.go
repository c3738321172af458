package links

import (
	"bytes"
	"encoding/json"
	"strings"
)

// RetargetCanvas returns the canvas data (JSON Canvas 1.0) with the path old, and paths
// below it, replaced by new in the members "file" and "background" of nodes; every other
// byte stays. It reports false if there is no such node, or data is not a canvas.
func RetargetCanvas(data []byte, old, new string) ([]byte, bool) {
	if !json.Valid(data) {
		return data, false
	}
	var out bytes.Buffer
	done := 0
	c := canvasReader{data: data, dec: json.NewDecoder(bytes.NewReader(data))}
	c.found = func(start, end int, path string) {
		rest, below := strings.CutPrefix(path, old)
		if !below || rest != "" && rest[0] != '/' {
			return
		}
		out.Write(data[done:start])
		out.Write(quoted(new + rest))
		done = end
	}
	c.value(0, "")
	if done == 0 {
		return data, false
	}
	out.Write(data[done:])
	return out.Bytes(), true
}

type canvasReader struct {
	data  []byte
	dec   *json.Decoder
	found func(start, end int, path string)
}

// nodeDepth is the depth of nodes: they are in a list that is a member of the outermost
// object.
const nodeDepth = 3

// value reads one value at depth. in is the member of the outermost object that holds
// it.
func (c *canvasReader) value(depth int, in string) {
	switch token, _ := c.dec.Token(); token {
	case json.Delim('['):
		for c.dec.More() {
			c.value(depth+1, in)
		}
		_, _ = c.dec.Token()
	case json.Delim('{'):
		for c.dec.More() {
			c.member(depth+1, in)
		}
		_, _ = c.dec.Token()
	}
}

func (c *canvasReader) member(depth int, in string) {
	key, _ := c.dec.Token()
	name, _ := key.(string)
	if depth == 1 {
		in = name
	}
	if depth != nodeDepth || in != "nodes" || name != "file" && name != "background" {
		c.value(depth, in)
		return
	}
	start := int(c.dec.InputOffset())
	start += bytes.IndexFunc(c.data[start:], func(r rune) bool { return !strings.ContainsRune(" \t\r\n:", r) })
	if c.data[start] != '"' {
		c.value(depth, in)
		return
	}
	token, _ := c.dec.Token()
	path, _ := token.(string)
	c.found(start, int(c.dec.InputOffset()), path)
}

func quoted(s string) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(s) // a string always encodes
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
