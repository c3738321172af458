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
func (e *Expr) True(f *File) bool { return truthy(e.value(f)) }

// node returns the value of an expression, or a part of one, for a file.
type node func(*File) any

func constant(v any) node { return func(*File) any { return v } }

func list(items []node) node {
	return func(f *File) any {
		if v := values(items, f); size(v, maxMade) <= maxMade {
			return v
		}
		return nil
	}
}

func values(nodes []node, f *File) []any {
	out := make([]any, len(nodes))
	for i, n := range nodes {
		out[i] = n(f)
	}
	return out
}

func property(key string) node { return func(f *File) any { return valueIn(f.Properties, key) } }

// valueIn returns a property, whose name may be written in another case.
func valueIn(p frontmatter.Properties, key string) any {
	v, ok := p.Get(key)
	if ok {
		return of(v)
	}
	for _, e := range p {
		if strings.EqualFold(e.Key, key) {
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
		return each(v, of)
	}
	return v
}

func formula(key string) node {
	return func(f *File) any {
		v, known := f.results[key]
		if !known {
			v = f.formulas[key].value(f)
			f.results[key] = v
		}
		return v
	}
}

func theFile(f *File) any { return link{f.Path} }

func prefix(op string, of node) node {
	return func(f *File) any {
		v := of(f)
		if op == "!" {
			return !truthy(v)
		}
		if x, ok := v.(float64); ok {
			return -x
		}
		return nil
	}
}

func operation(op string, left, right node) node {
	switch op {
	case "||":
		return func(f *File) any { return truthy(left(f)) || truthy(right(f)) }
	case "&&":
		return func(f *File) any { return truthy(left(f)) && truthy(right(f)) }
	}
	return func(f *File) any { return operate(op, left(f), right(f)) }
}

func operate(op string, left, right any) any {
	switch op {
	case "==":
		return equal(left, right)
	case "!=":
		return !equal(left, right)
	case "+":
		return plus(left, right)
	case "-":
		return minus(left, right)
	case "*", "/", "%":
		return arithmetic(op, left, right)
	}
	c, ok := compare(left, right)
	switch op {
	case "<":
		return ok && c < 0
	case "<=":
		return ok && c <= 0
	case ">":
		return ok && c > 0
	}
	return ok && c >= 0
}

func index(of, at node) node {
	return func(f *File) any {
		of, at := asList(of(f)), at(f)
		switch of := of.(type) {
		case []any:
			if i, ok := at.(float64); ok && i >= 0 && i < float64(len(of)) && i == math.Trunc(i) {
				return of[int(i)]
			}
		case frontmatter.Properties:
			if key, ok := at.(string); ok {
				return valueIn(of, key)
			}
		}
		return nil
	}
}

func member(of node, name string) node {
	return func(f *File) any {
		v := of(f)
		if p, ok := v.(frontmatter.Properties); ok {
			return valueIn(p, name)
		}
		if name == "length" {
			switch v := asList(v).(type) {
			case string:
				return float64(len([]rune(v)))
			case []any:
				return float64(len(v))
			}
			return nil
		}
		t, ok := asTime(v)
		if get := dateFields[name]; ok && get != nil {
			return float64(get(t))
		}
		return nil
	}
}

// choice is the function if, which takes the value of one of its arguments only.
func choice(args []node) node {
	return func(f *File) any {
		switch {
		case truthy(args[0](f)):
			return args[1](f)
		case len(args) > 2:
			return args[2](f)
		}
		return nil
	}
}
