package filetype

import (
	"encoding/json"
	"math"
	"regexp"
	"slices"
	"strings"
)

// checkCanvas checks that the required members of JSON Canvas 1.0 exist and have the right types. Unknown members are
// allowed.
func checkCanvas(text string) error {
	root, err := parse(text)
	if err != nil {
		return err
	}
	if root.kind != "object" {
		return at(text, root.off, "a canvas is a JSON object, not %s", root.kind)
	}
	c := canvas{text, make(map[string]bool)}
	if err := c.each(root, "nodes", c.node); err != nil {
		return err
	}
	return c.each(root, "edges", c.edge)
}

type canvas struct {
	text  string
	nodes map[string]bool // ids of nodes so far
}

func (c canvas) each(root *value, name string, check func(*value) error) error {
	list := root.members[name]
	if list == nil {
		return nil
	}
	if list.kind != "array" {
		return at(c.text, list.off, "%q must be an array, not %s", name, list.kind)
	}
	for _, item := range list.items {
		if item.kind != "object" {
			return at(c.text, item.off, "an item of %q must be an object, not %s", name, item.kind)
		}
		if err := check(item); err != nil {
			return err
		}
	}
	return nil
}

// field is a member of a node or an edge.
type field struct {
	name     string
	required bool
	kind     string   // "string" or "integer"
	one      []string // allowed strings
	pattern  *regexp.Regexp
}

var (
	colors   = regexp.MustCompile(`^([1-6]|#[0-9a-fA-F]{6}|#[0-9a-fA-F]{3})$`)
	subpaths = regexp.MustCompile(`^#`)
	sides    = []string{"top", "right", "bottom", "left"}
	ends     = []string{"none", "arrow"}

	everyNode = []field{
		{name: "id", required: true, kind: "string"},
		{name: "type", required: true, kind: "string", one: []string{"text", "file", "link", "group"}},
		{name: "x", required: true, kind: "integer"}, {name: "y", required: true, kind: "integer"},
		{name: "width", required: true, kind: "integer"}, {name: "height", required: true, kind: "integer"},
		{name: "color", kind: "string", pattern: colors},
	}
	nodes = map[string][]field{
		"text": {{name: "text", required: true, kind: "string"}},
		"file": {{name: "file", required: true, kind: "string"}, {name: "subpath", kind: "string", pattern: subpaths}},
		"link": {{name: "url", required: true, kind: "string"}},
		"group": {
			{name: "label", kind: "string"}, {name: "background", kind: "string"},
			{name: "backgroundStyle", kind: "string", one: []string{"cover", "ratio", "repeat"}},
		},
	}
	everyEdge = []field{
		{name: "id", required: true, kind: "string"},
		{name: "fromNode", required: true, kind: "string"}, {name: "fromSide", kind: "string", one: sides}, {name: "fromEnd", kind: "string", one: ends},
		{name: "toNode", required: true, kind: "string"}, {name: "toSide", kind: "string", one: sides}, {name: "toEnd", kind: "string", one: ends},
		{name: "color", kind: "string", pattern: colors}, {name: "label", kind: "string"},
	}
)

func (c canvas) node(n *value) error {
	if err := c.fields("a node", n, everyNode); err != nil {
		return err
	}
	id := n.members["id"]
	if c.nodes[id.text] {
		return at(c.text, id.off, "the id %q is another node's, too", id.text)
	}
	c.nodes[id.text] = true
	kind := n.members["type"].text
	if err := c.fields("a "+kind+" node", n, nodes[kind]); err != nil {
		return err
	}
	if file := n.members["file"]; kind == "file" && !inVault(file.text) {
		return at(c.text, file.off, "the file %q is outside of the vault", file.text)
	}
	return nil
}

// inVault reports whether a node's path, which begins at the top of the vault, stays in it.
func inVault(file string) bool {
	return !strings.HasPrefix(file, "/") && !slices.Contains(strings.FieldsFunc(file, func(r rune) bool { return r == '/' || r == '\\' }), "..")
}

func (c canvas) edge(e *value) error {
	if err := c.fields("an edge", e, everyEdge); err != nil {
		return err
	}
	for _, end := range []*value{e.members["fromNode"], e.members["toNode"]} {
		if !c.nodes[end.text] {
			return at(c.text, end.off, "the edge leads to the node %q, which is not there", end.text)
		}
	}
	return nil
}

func (c canvas) fields(what string, v *value, fields []field) error {
	for _, f := range fields {
		m := v.members[f.name]
		switch {
		case m == nil && f.required:
			return at(c.text, v.off, "%s needs %q", what, f.name)
		case m == nil:
			continue
		case m.kind != f.kind:
			return at(c.text, m.off, "%q of %s must be %s, not %s", f.name, what, map[string]string{"integer": "an integer", "string": "a string"}[f.kind], m.kind)
		case f.one != nil && !slices.Contains(f.one, m.text):
			return at(c.text, m.off, "%q of %s must be one of %s, not %q", f.name, what, strings.Join(f.one, ", "), m.text)
		case f.pattern != nil && !f.pattern.MatchString(m.text):
			return at(c.text, m.off, "%q of %s cannot be %q", f.name, what, m.text)
		}
	}
	return nil
}

type value struct {
	off     int
	kind    string // object, array, string, integer, number, boolean, null
	text    string
	items   []*value
	members map[string]*value
}

func parse(text string) (*value, error) {
	p := parser{text: text, dec: json.NewDecoder(strings.NewReader(text))}
	p.dec.UseNumber()
	v, err := p.value(0)
	if err != nil {
		return nil, p.explain(err)
	}
	end := int(p.dec.InputOffset())
	if rest := strings.TrimLeft(text[end:], " \t\r\n"); rest != "" {
		return nil, at(text, len(text)-len(rest), "there is text after the end of the canvas")
	}
	return v, nil
}

type parser struct {
	text string
	dec  *json.Decoder
}

const maxDepth = 500

func (p parser) value(depth int) (*value, error) {
	v := &value{off: p.next()}
	if depth > maxDepth {
		return nil, at(p.text, v.off, "it is nested too deeply")
	}
	t, err := p.dec.Token()
	if err != nil {
		return nil, err
	}
	switch t := t.(type) {
	case string:
		v.kind, v.text = "string", t
	case bool:
		v.kind = "boolean"
	case nil:
		v.kind = "null"
	case json.Number:
		v.kind = "number"
		if f, err := t.Float64(); err == nil && f == math.Trunc(f) {
			v.kind = "integer"
		}
	case json.Delim:
		return v, p.children(v, t, depth)
	}
	return v, nil
}

func (p parser) children(v *value, open json.Delim, depth int) error {
	v.kind = "array"
	if open == '{' {
		v.kind, v.members = "object", make(map[string]*value)
	}
	for p.dec.More() {
		var name string
		if open == '{' {
			key, err := p.dec.Token()
			if err != nil {
				return err
			}
			name = key.(string) // the decoder returns strings for keys
		}
		item, err := p.value(depth + 1)
		if err != nil {
			return err
		}
		if open == '{' {
			v.members[name] = item
		} else {
			v.items = append(v.items, item)
		}
	}
	_, err := p.dec.Token()
	return err
}

func (p parser) next() int {
	off := int(p.dec.InputOffset())
	rest := strings.TrimLeft(p.text[off:], " \t\r\n,:")
	return len(p.text) - len(rest)
}

// explain returns an Error at the position where the text is not JSON.
func (p parser) explain(err error) error {
	if known, ok := err.(*Error); ok {
		return known
	}
	off := p.next()
	if syntax, ok := err.(*json.SyntaxError); ok {
		off = max(off, int(syntax.Offset)-1)
	}
	msg := strings.TrimPrefix(err.Error(), "json: ")
	if off >= len(p.text) {
		msg = "it ends too early"
	}
	return at(p.text, off, "the canvas is not JSON: %s", msg)
}
