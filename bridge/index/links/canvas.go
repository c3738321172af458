package links

import (
	"bytes"
	"encoding/json"
	"strings"
)

// RetargetCanvas replaces the path old with new, and does the same at the beginning of each path below old. It changes
// only the members "file" and "background" of the nodes of a canvas (JSON Canvas 1.0), and no other byte. It returns
// false if no node has such a path, or if data is not a canvas.
func RetargetCanvas(data []byte, old, new string) ([]byte, bool) {
	if !json.Valid(data) {
		return data, false
	}
	var out bytes.Buffer
	done := 0
	members(data, 0, func(name string, nodes []byte, at int) {
		if name != "nodes" {
			return
		}
		members(nodes, at, func(_ string, node []byte, at int) {
			members(node, at, func(name string, value []byte, at int) {
				var p string
				if name != "file" && name != "background" || json.Unmarshal(value, &p) != nil {
					return
				}
				rest, below := strings.CutPrefix(p, old)
				if value[0] != '"' || !below || rest != "" && rest[0] != '/' {
					return
				}
				out.Write(data[done:at])
				out.Write(quoted(new + rest))
				done = at + len(value)
			})
		})
	})
	if done == 0 {
		return data, false
	}
	out.Write(data[done:])
	return out.Bytes(), true
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
