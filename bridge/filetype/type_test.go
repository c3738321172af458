package filetype_test

import (
	"errors"
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
		{filetype.Canvas, "", "line 1, column 1: the canvas is not JSON: it ends too early"},
		{filetype.Canvas, "[]", "line 1, column 1: a canvas is a JSON object, not array"},
		{filetype.Canvas, "{\"é\": 1,\n \"nodes\": {}}", "line 2, column 11: \"nodes\" must be an array, not object"},
		{filetype.Canvas, "{\"nodes\": [1]}", "line 1, column 12: an item of \"nodes\" must be an object, not integer"},
		{filetype.Canvas, "{\"nodes\": [\n}", "line 2, column 1: the canvas is not JSON: invalid character '}' looking for beginning of value"},
		{filetype.Canvas, "{} x", "line 1, column 4: there is text after the end of the canvas"},
		{filetype.Canvas, "{\"nodes\": [", "line 1, column 12: the canvas is not JSON: it ends too early"},
		{filetype.Canvas, node(`"type": "text"`), "line 2, column 3: a node needs \"id\""},
		{filetype.Canvas, node(`"id": "a", "type": "card"`), "line 2, column 23: \"type\" of a node must be one of text, file, link, group, not \"card\""},
		{filetype.Canvas, node(`"id": "a", "type": "text", "x": 1.5`), "line 2, column 36: \"x\" of a node must be an integer, not number"},
		{filetype.Canvas, node(`"id": "a", "type": "text", "x": 1, "y": 1, "width": 1, "height": 1`), "line 2, column 3: a text node needs \"text\""},
		{filetype.Canvas, node(`"id": "a", "type": "text", "x": 1, "y": 1, "width": 1, "height": 1, "text": "", "color": "red"`), "line 2, column 93: \"color\" of a node cannot be \"red\""},
		{filetype.Canvas, node(`"id": "a", "type": "text", "x": 1e999999`), "line 2, column 36: \"x\" of a node must be an integer, not number"},
		{filetype.Canvas, twice, "line 1, column 90: the id \"a\" is another node's, too"},
		{filetype.Canvas, `{"nodes": [` + card + `], "edges": [{"id": "e", "fromNode": "a", "toNode": "b"}]}`, "line 1, column 133: the edge leads to the node \"b\", which is not there"},
		{filetype.Canvas, node(`"id": "a", "type": "file", "x": 1, "y": 1, "width": 1, "height": 1, "file": "../../etc/passwd"`), "line 2, column 80: the file \"../../etc/passwd\" is outside of the vault"},
		{filetype.Canvas, node(`"id": "a", "type": "file", "x": 1, "y": 1, "width": 1, "height": 1, "file": "/etc/passwd"`), "line 2, column 80: the file \"/etc/passwd\" is outside of the vault"},
		{filetype.Canvas, `{"edges": [{"id": "e", "fromNode": "a"}]}`, "line 1, column 12: an edge needs \"toNode\""},
		{filetype.Base, "- a\n", "line 1, column 1: the base is not valid: is not a mapping of names to values"},
		{filetype.Base, "a: 1\n\n  a: [\n", "line 1, column 4: the base is not valid: mapping value is not allowed in this context"},
		{filetype.Base, "a: 1\nb: 2\na: 3\n", "line 3, column 1: the base is not valid: has the property \"a\" twice"},
	}
	for _, tt := range tests {
		err := tt.kind.Check(tt.text)
		var where *filetype.Error
		if !errors.As(err, &where) || err.Error() != tt.want {
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
	f.Fuzz(func(t *testing.T, text string) {
		var where *filetype.Error
		if err := filetype.Canvas.Check(text); err != nil && (!errors.As(err, &where) || where.Line < 1 || where.Column < 1) {
			t.Errorf("%q: %v", text, err)
		}
	})
}
