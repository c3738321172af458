package links

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// RetargetCanvas replaces the path old with new, and does the same at the beginning of each path below old. It changes
// only the members "file" and "background" of the nodes of a canvas (JSON Canvas 1.0), and no other byte. It changes no
// node whose ID is in except. It returns false if no node has such a path, or if data is not a canvas.
func RetargetCanvas(data []byte, old, new string, except []string) ([]byte, bool) {
	var out bytes.Buffer
	done := 0
	eachBelow(data, old, func(id, rest string, at, size int) {
		if !slices.Contains(except, id) {
			out.Write(data[done:at])
			out.Write(quoted(new + rest))
			done = at + size
		}
	})
	if done == 0 {
		return data, false
	}
	out.Write(data[done:])
	return out.Bytes(), true
}

// CanvasNodes returns the IDs of the nodes that have the path p or a path below it, as JSON.
func CanvasNodes(data []byte, p string) (ids []string) {
	eachBelow(data, p, func(id, _ string, _, _ int) { ids = append(ids, id) })
	return ids
}

// eachBelow calls fn for each path of a node that is dir or below it: with the ID of the node as JSON, the rest of the
// path, and the place of the path in data.
func eachBelow(data []byte, dir string, fn func(id, rest string, at, size int)) {
	if !json.Valid(data) {
		return
	}
	members(data, 0, func(name string, nodes []byte, at int) {
		if name != "nodes" {
			return
		}
		members(nodes, at, func(_ string, node []byte, at int) {
			id := ""
			members(node, at, func(name string, value []byte, _ int) {
				if name == "id" {
					id = string(value)
				}
			})
			members(node, at, func(name string, value []byte, at int) {
				var p string
				if name != "file" && name != "background" || value[0] != '"' || json.Unmarshal(value, &p) != nil {
					return
				}
				if rest, below := strings.CutPrefix(p, dir); below && (rest == "" || rest[0] == '/') {
					fn(id, rest, at, len(value))
				}
			})
		})
	})
}

// members calls fn with each member of an object or a list, and the member's offset in the file. data must be valid
// JSON, and at is the offset of data in the file.
func members(data []byte, at int, fn func(name string, value []byte, at int)) {
	dec := json.NewDecoder(bytes.NewReader(data))
	open, _ := dec.Token()
	for dec.More() {
		var key json.Token
		if open == json.Delim('{') {
			key, _ = dec.Token()
		}
		name, _ := key.(string)
		var value json.RawMessage
		_ = dec.Decode(&value)
		fn(name, value, at+int(dec.InputOffset())-len(value))
	}
}

func quoted(s string) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(s) // Encode cannot fail for a string
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
