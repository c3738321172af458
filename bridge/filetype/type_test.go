package filetype_test

import (
	"testing"

	"github.com/relayfs/relayfs/bridge/filetype"
)

const goodCanvas = `{
	"nodes": [
		{"id": "a", "type": "text", "x": -10, "y": 0, "width": 250, "height": 60.0, "text": "Hi", "color": "#ff0000", "later": [1]},
		{"id": "b", "type": "file", "x": 1e2, "y": 0, "width": 1, "height": 1, "file": "A.md", "subpath": "#H"},
		{"id": "c", "type": "link", "x": 0, "y": 0, "width": 1, "height": 1, "url": "https://example.com", "color": "4"},
		{"id": "d", "type": "group", "x": 0, "y": 0, "width": 1, "height": 1, "backgroundStyle": "ratio"}
	],
	"edges": [{"id": "e", "fromNode": "a", "fromSide": "right", "toNode": "b", "toEnd": "arrow", "label": "l"}]
}
`

func TestCheckAccepts(t *testing.T) {
	for text, kind := range map[string]filetype.Type{
		goodCanvas: filetype.Canvas, "{}": filetype.Canvas, "{\"nodes\":[],\"edges\":[]}\n": filetype.Canvas,
		"views:\n  - type: table\n": filetype.Base, "": filetype.Base, "# none\n": filetype.Base, "{++ anything": filetype.Note,
	} {
		if err := kind.Check(text); err != nil {
			t.Errorf("%s %q: %v", kind, text, err)
		}
	}
}

func TestCheckRefuses(t *testing.T) {
	node := func(members string) string { return "{\"nodes\": [\n  {" + members + "}\n]}" }
	const card = `{"id": "a", "type": "group", "x": 0, "y": 0, "width": 1, "height": 1}`
	const twice = `{"nodes": [` + card + `, ` + card + `]}`
	tests := []struct {
		kind       filetype.Type
		text, want string
	}{
		{filetype.Canvas, "", "line 1, column 1: the canvas is not JSON: unexpected end of JSON input"},
		{filetype.Canvas, "[]", "a canvas is a JSON object, not array"},
		{filetype.Canvas, "{\"é\": 1,\n \"nodes\": {}}", "\"nodes\" must be an array, not object"},
		{filetype.Canvas, "{\"nodes\": [1]}", "nodes[0] must be an object, not integer"},
		{filetype.Canvas, "{\"nodes\": [\n}", "line 2, column 1: the canvas is not JSON: invalid character '}' looking for beginning of value"},
		{filetype.Canvas, "{} x", "line 1, column 4: the canvas is not JSON: invalid character 'x' after top-level value"},
		{filetype.Canvas, "{\"nodes\": [", "line 1, column 11: the canvas is not JSON: unexpected end of JSON input"},
		{filetype.Canvas, node(`"type": "text"`), "nodes[0]: a node needs \"id\""},
		{filetype.Canvas, node(`"id": "a", "type": "card"`), "nodes[0]: \"type\" of a node must be one of text, file, link, group, not \"card\""},
		{filetype.Canvas, node(`"id": "a", "type": "text", "x": 1.5`), "nodes[0]: \"x\" of a node must be an integer, not number"},
		{filetype.Canvas, node(`"id": "a", "type": "text", "x": 1, "y": 1, "width": 1, "height": 1`), "nodes[0]: a text node needs \"text\""},
		{filetype.Canvas, node(`"id": "a", "type": "text", "x": 1, "y": 1, "width": 1, "height": 1, "text": "", "color": "red"`), "nodes[0]: \"color\" of a node cannot be \"red\""},
		{filetype.Canvas, node(`"id": "a", "type": "text", "x": 1e999999`), "line 3, column 3: the canvas is not JSON: cannot unmarshal number 1e999999 into Go value of type float64"},
		{filetype.Canvas, twice, "nodes[1]: the id \"a\" is already used by another node"},
		{filetype.Canvas, `{"nodes": [` + card + `], "edges": [{"id": "e", "fromNode": "a", "toNode": "b"}]}`, "edges[0]: the edge ends at the node \"b\", which does not exist"},
		{filetype.Canvas, node(`"id": "a", "type": "file", "x": 1, "y": 1, "width": 1, "height": 1, "file": "../../etc/passwd"`), "nodes[0]: the file \"../../etc/passwd\" is outside of the vault"},
		{filetype.Canvas, node(`"id": "a", "type": "file", "x": 1, "y": 1, "width": 1, "height": 1, "file": "/etc/passwd"`), "nodes[0]: the file \"/etc/passwd\" is outside of the vault"},
		{filetype.Canvas, `{"edges": [{"id": "e", "fromNode": "a"}]}`, "edges[0]: an edge needs \"toNode\""},
		{filetype.Base, "- a\n", "line 1, column 1: the base is not valid: is not a mapping of names to values"},
		{filetype.Base, "a: 1\n\n  a: [\n", "line 3, column 4: the base is not valid: mapping values are not allowed in this context"},
		{filetype.Base, "a: 1\nb: 2\na: 3\n", "line 3, column 1: the base is not valid: has the property \"a\" twice"},
	}
	for _, tt := range tests {
		err := tt.kind.Check(tt.text)
		if err == nil || err.Error() != tt.want {
			t.Errorf("%q: got %v, want %s", tt.text, err, tt.want)
		}
	}
}

func TestOf(t *testing.T) {
	for p, want := range map[string]filetype.Type{"A/b.md": filetype.Note, "A/b.CANVAS": filetype.Canvas, "b.base": filetype.Base, "b.txt": "", "b": ""} {
		if got := filetype.TypeOf(p); got != want {
			t.Errorf("TypeOf(%q) = %q", p, got)
		}
	}
}

func FuzzCanvas(f *testing.F) {
	f.Add(goodCanvas)
	f.Add("{\"nodes\": [{}]")
	f.Fuzz(func(t *testing.T, text string) { _ = filetype.Canvas.Check(text) })
}
