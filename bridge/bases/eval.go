package bases

import (
	"math"
	"strings"
	"time"

	"github.com/relayfs/relayfs/bridge/frontmatter"
)

// File is a file that expressions are about. Paths are those in the vault.
type File struct {
	Path       string
	Size       int64
	Modified   time.Time
	Tags       []string // without '#', of the text and of the properties
	Properties frontmatter.Properties
	Links      func() []string // paths of what the file links to; called when an expression asks
	Backlinks  func() []string // paths of what links to it
	Now        time.Time

	formulas map[string]*Expr
	results  map[string]any // of formulas
}

// True reports whether the expression holds of f.
func (e *Expr) True(f *File) bool { return truthy(e.root.value(f)) }

type node interface{ value(f *File) any }

type (
	constant  struct{ v any }
	list      struct{ items []node }
	property  struct{ key string }
	formula   struct{ key string }
	fileNode  struct{}
	fileField func(*File) any
	fileCall  struct {
		f    fileMethod
		args []node
	}
	prefix struct {
		op string
		of node
	}
	operation struct {
		op          string
		left, right node
	}
	index  struct{ of, at node }
	member struct {
		of   node
		name string
	}
	methodCall struct {
		m    method
		of   node
		args []node
	}
	global struct {
		name string
		f    function
		args []node
	}
)

func (c constant) value(*File) any { return c.v }

func (l list) value(f *File) any {
	if v := values(l.items, f); size(v, maxMade) <= maxMade {
		return v
	}
	return nil
}

func values(nodes []node, f *File) []any {
	out := make([]any, len(nodes))
	for i, n := range nodes {
		out[i] = n.value(f)
	}
	return out
}

// value returns the property of the file, whose name may be written in another case.
func (p property) value(f *File) any {
	v, ok := f.Properties.Get(p.key)
	if ok {
		return of(v)
	}
	for _, e := range f.Properties {
		if strings.EqualFold(e.Key, p.key) {
			return of(e.Value)
		}
	}
	return nil
}

// of returns a value of front matter as expressions have it.
func of(v any) any {
	switch v := v.(type) {
	case int64:
		return float64(v)
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = of(item)
		}
		return out
	}
	return v
}

func (n formula) value(f *File) any {
	v, known := f.results[n.key]
	if !known {
		v = f.formulas[n.key].root.value(f)
		f.results[n.key] = v
	}
	return v
}

func (fileNode) value(f *File) any { return link{f.Path} }

func (field fileField) value(f *File) any { return field(f) }

func (c *fileCall) value(f *File) any { return c.f.run(f, values(c.args, f)) }

func (n *prefix) value(f *File) any {
	v := n.of.value(f)
	if n.op == "!" {
		return !truthy(v)
	}
	if x, ok := v.(float64); ok {
		return -x
	}
	return nil
}

func (n *operation) value(f *File) any {
	left := n.left.value(f)
	switch n.op {
	case "||":
		return truthy(left) || truthy(n.right.value(f))
	case "&&":
		return truthy(left) && truthy(n.right.value(f))
	}
	right := n.right.value(f)
	switch n.op {
	case "==":
		return equal(left, right)
	case "!=":
		return !equal(left, right)
	case "+":
		return plus(left, right)
	case "-":
		return minus(left, right)
	case "*", "/", "%":
		return arithmetic(n.op, left, right)
	}
	c, ok := compare(left, right)
	switch n.op {
	case "<":
		return ok && c < 0
	case "<=":
		return ok && c <= 0
	case ">":
		return ok && c > 0
	}
	return ok && c >= 0
}

func (n *index) value(f *File) any {
	of, at := n.of.value(f), n.at.value(f)
	switch of := asList(of).(type) {
	case []any:
		if i, ok := at.(float64); ok && i >= 0 && i < float64(len(of)) && i == math.Trunc(i) {
			return of[int(i)]
		}
	case frontmatter.Properties:
		if key, ok := at.(string); ok {
			return property{key}.value(&File{Properties: of})
		}
	}
	return nil
}

func (n *member) value(f *File) any {
	v := n.of.value(f)
	if p, ok := v.(frontmatter.Properties); ok {
		return property{n.name}.value(&File{Properties: p})
	}
	if n.name == "length" {
		switch v := asList(v).(type) {
		case string:
			return float64(len([]rune(v)))
		case []any:
			return float64(len(v))
		}
		return nil
	}
	t, ok := asTime(v)
	if get := dateFields[n.name]; ok && get != nil {
		return float64(get(t))
	}
	return nil
}

func (n *methodCall) value(f *File) any { return n.m.run(n.of.value(f), values(n.args, f)) }

func (n *global) value(f *File) any {
	if n.name == "if" { // which takes the value of one of its arguments only
		switch {
		case truthy(n.args[0].value(f)):
			return n.args[1].value(f)
		case len(n.args) > 2:
			return n.args[2].value(f)
		}
		return nil
	}
	return n.f.run(f, values(n.args, f))
}
