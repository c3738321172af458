package filetype

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
)

// checkCanvas checks the members of nodes and edges against JSON Canvas 1.0, and the references between them. Unknown
// members are allowed.
func checkCanvas(text string) error {
	var root any
	if err := json.Unmarshal([]byte(text), &root); err != nil {
		off := len(text)
		if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
			off = int(syntax.Offset) - 1
		}
		return at(text, off, "the canvas is not JSON: %s", strings.TrimPrefix(err.Error(), "json: "))
	}
	members, ok := root.(map[string]any)
	if !ok {
		return fmt.Errorf("a canvas is a JSON object, not %s", kindOf(root))
	}
	ids := make(map[string]bool)
	if err := each(members, "nodes", func(n map[string]any) error { return checkNode(n, ids) }); err != nil {
		return err
	}
	return each(members, "edges", func(e map[string]any) error { return checkEdge(e, ids) })
}

func each(root map[string]any, name string, check func(map[string]any) error) error {
	v, ok := root[name]
	if !ok {
		return nil
	}
	list, ok := v.([]any)
	if !ok {
		return fmt.Errorf("%q must be an array, not %s", name, kindOf(v))
	}
	for i, item := range list {
		members, ok := item.(map[string]any)
		if !ok {
			return fmt.Errorf("%s[%d] must be an object, not %s", name, i, kindOf(item))
		}
		if err := check(members); err != nil {
			return fmt.Errorf("%s[%d]: %w", name, i, err)
		}
	}
	return nil
}

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

// checkNode checks a node, and adds its id to ids, which has the ids of the nodes before it.
func checkNode(n map[string]any, ids map[string]bool) error {
	if err := checkFields("a node", n, everyNode); err != nil {
		return err
	}
	id, kind := n["id"].(string), n["type"].(string)
	if ids[id] {
		return fmt.Errorf("the id %q is already used by another node", id)
	}
	ids[id] = true
	if err := checkFields("a "+kind+" node", n, nodes[kind]); err != nil {
		return err
	}
	if file, _ := n["file"].(string); kind == "file" && !inVault(file) {
		return fmt.Errorf("the file %q is outside of the vault", file)
	}
	return nil
}

// inVault reports whether a node's path, which begins at the top of the vault, stays in it.
func inVault(file string) bool {
	return !strings.HasPrefix(file, "/") && !slices.Contains(strings.FieldsFunc(file, func(r rune) bool { return r == '/' || r == '\\' }), "..")
}

func checkEdge(e map[string]any, ids map[string]bool) error {
	if err := checkFields("an edge", e, everyEdge); err != nil {
		return err
	}
	for _, end := range []string{e["fromNode"].(string), e["toNode"].(string)} {
		if !ids[end] {
			return fmt.Errorf("the edge ends at the node %q, which does not exist", end)
		}
	}
	return nil
}

func checkFields(what string, members map[string]any, fields []field) error {
	for _, f := range fields {
		m, ok := members[f.name]
		text, _ := m.(string)
		switch kind := kindOf(m); {
		case !ok && f.required:
			return fmt.Errorf("%s needs %q", what, f.name)
		case !ok:
			continue
		case kind != f.kind:
			return fmt.Errorf("%q of %s must be %s, not %s", f.name, what, map[string]string{"integer": "an integer", "string": "a string"}[f.kind], kind)
		case f.one != nil && !slices.Contains(f.one, text):
			return fmt.Errorf("%q of %s must be one of %s, not %q", f.name, what, strings.Join(f.one, ", "), text)
		case f.pattern != nil && !f.pattern.MatchString(text):
			return fmt.Errorf("%q of %s cannot be %q", f.name, what, text)
		}
	}
	return nil
}

func kindOf(v any) string {
	switch v := v.(type) {
	case map[string]any:
		return "object"
	case []any:
		return "array"
	case string:
		return "string"
	case bool:
		return "boolean"
	case float64:
		if v == math.Trunc(v) {
			return "integer"
		}
		return "number"
	}
	return "null"
}
