package entity_test

import (
	"errors"
	"testing"

	"github.com/relayfs/relayfs/mcpserver/internal/entity"
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
	for text, kind := range map[string]entity.Type{
		goodCanvas: entity.Canvas, "{}": entity.Canvas, "{\"nodes\":[],\"edges\":[]}\n": entity.Canvas,
		"views:\n  - type: table\n": entity.Base, "": entity.Base, "# none\n": entity.Base, "{++ anything": entity.Note,
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
		kind       entity.Type
		text, want string
	}{
		{entity.Canvas, "", "line 1, column 1: the canvas is not JSON: it ends too early"},
		{entity.Canvas, "[]", "line 1, column 1: a canvas is a JSON object, not array"},
		{entity.Canvas, "{\"é\": 1,\n \"nodes\": {}}", "line 2, column 11: \"nodes\" must be an array, not object"},
		{entity.Canvas, "{\"nodes\": [1]}", "line 1, column 12: an item of \"nodes\" must be an object, not integer"},
		{entity.Canvas, "{\"nodes\": [\n}", "line 2, column 1: the canvas is not JSON: invalid character '}' looking for beginning of value"},
		{entity.Canvas, "{} x", "line 1, column 4: there is text after the end of the canvas"},
		{entity.Canvas, "{\"nodes\": [", "line 1, column 12: the canvas is not JSON: it ends too early"},
		{entity.Canvas, node(`"type": "text"`), "line 2, column 3: a node needs \"id\""},
		{entity.Canvas, node(`"id": "a", "type": "card"`), "line 2, column 23: \"type\" of a node must be one of text, file, link, group, not \"card\""},
		{entity.Canvas, node(`"id": "a", "type": "text", "x": 1.5`), "line 2, column 36: \"x\" of a node must be an integer, not number"},
		{entity.Canvas, node(`"id": "a", "type": "text", "x": 1, "y": 1, "width": 1, "height": 1`), "line 2, column 3: a text node needs \"text\""},
		{entity.Canvas, node(`"id": "a", "type": "text", "x": 1, "y": 1, "width": 1, "height": 1, "text": "", "color": "red"`), "line 2, column 93: \"color\" of a node cannot be \"red\""},
		{entity.Canvas, node(`"id": "a", "type": "text", "x": 1e999999`), "line 2, column 36: \"x\" of a node must be an integer, not number"},
		{entity.Canvas, twice, "line 1, column 90: the id \"a\" is another node's, too"},
		{entity.Canvas, `{"edges": [{"id": "e", "fromNode": "a"}]}`, "line 1, column 12: an edge needs \"toNode\""},
		{entity.Base, "- a\n", "line 1, column 1: the base is not valid: is not a mapping of names to values"},
		{entity.Base, "a: 1\n\n  a: [\n", "line 1, column 4: the base is not valid: mapping value is not allowed in this context"},
		{entity.Base, "a: 1\nb: 2\na: 3\n", "line 3, column 1: the base is not valid: has the property \"a\" twice"},
	}
	for _, tt := range tests {
		err := tt.kind.Check(tt.text)
		var where *entity.Error
		if !errors.As(err, &where) || err.Error() != tt.want {
			t.Errorf("%q: got %v, want %s", tt.text, err, tt.want)
		}
	}
}

func TestOf(t *testing.T) {
	for p, want := range map[string]entity.Type{"A/b.md": entity.Note, "A/b.CANVAS": entity.Canvas, "b.base": entity.Base, "b.txt": "", "b": ""} {
		if got := entity.Of(p); got != want {
			t.Errorf("Of(%q) = %q", p, got)
		}
	}
}

func FuzzCanvas(f *testing.F) {
	f.Add(goodCanvas)
	f.Add("{\"nodes\": [{}]")
	f.Fuzz(func(t *testing.T, text string) {
		var where *entity.Error
		if err := entity.Canvas.Check(text); err != nil && (!errors.As(err, &where) || where.Line < 1 || where.Column < 1) {
			t.Errorf("%q: %v", text, err)
		}
	})
}
