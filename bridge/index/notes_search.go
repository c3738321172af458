package index

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/relayfs/relayfs/bridge/frontmatter"
	"github.com/relayfs/relayfs/bridge/index/outline"
)

const operators = "=, !=, <, <=, >, >=, exists"

type condition struct {
	key, op string
	want    any      // a bool for exists; a float64 or time.Time for a comparison
	texts   []string // for = and !=: the texts of the alternatives
	terms   []string // of texts
}

type ConditionError struct{ Key, Msg string }

func (e *ConditionError) Error() string {
	return fmt.Sprintf("the condition on the property %q is wrong: %s", e.Key, e.Msg)
}

// conditionsOf parses wanted properties. Each is a value that must be equal, a list of such values, or a mapping with
// operators.
func conditionsOf(want frontmatter.Properties) (list []condition, err error) {
	for _, e := range want {
		ops, ok := e.Value.(frontmatter.Properties)
		if !ok {
			ops = frontmatter.Properties{{Key: "=", Value: e.Value}}
		}
		if len(ops) == 0 {
			return nil, &ConditionError{e.Key, "it has no operator; give one of " + operators}
		}
		for _, op := range ops {
			c := condition{key: e.Key, op: op.Key, want: op.Value}
			var msg string
			switch op.Key {
			case "=", "!=":
				alternatives, ok := op.Value.([]any)
				if !ok {
					alternatives = []any{op.Value}
				}
				for _, v := range alternatives {
					c.texts = append(c.texts, frontmatter.Text(v))
					c.terms = append(c.terms, term(c.key, frontmatter.Text(v)))
				}
			case "exists":
				if _, ok := op.Value.(bool); !ok {
					msg = "exists must be true or false"
				}
			case "<", "<=", ">", ">=":
				if c.want = ordered(op.Value); c.want == nil {
					msg = fmt.Sprintf("%s needs a number, or a date like 2026-01-31 or 2026-01-31T08:00", op.Key)
				}
			default:
				msg = fmt.Sprintf("%q is not an operator; use one of %s", op.Key, operators)
			}
			if msg != "" {
				return nil, &ConditionError{e.Key, msg}
			}
			list = append(list, c)
		}
	}
	return list, nil
}

func (n *NoteInfo) meets(c condition) bool {
	switch c.op {
	case "=":
		return n.equalsAny(c)
	case "!=":
		return !n.equalsAny(c)
	case "exists":
		if outline.IsTagKey(c.key) {
			return (len(n.Tags) > 0) == c.want
		}
		return n.has(c.key, func(any) bool { return true }) == c.want
	}
	return n.has(c.key, func(v any) bool { return holds(ordered(v), c.op, c.want) })
}

func (n *NoteInfo) has(key string, matches func(value any) bool) bool {
	for i := range n.Properties {
		if e := &n.Properties[i]; strings.EqualFold(e.Key, key) && slices.ContainsFunc(valuesOf(e.Value), matches) {
			return true
		}
	}
	return false
}

func (n *NoteInfo) equalsAny(c condition) bool {
	if outline.IsTagKey(c.key) {
		return slices.ContainsFunc(c.texts, n.HasTag)
	}
	return n.has(c.key, func(v any) bool {
		text := frontmatter.Text(v)
		return slices.ContainsFunc(c.texts, func(want string) bool { return strings.EqualFold(text, want) })
	})
}

// terms returns the [term] of each property that equalsAny finds, and of each tag and the tags that it is nested in.
func (n *NoteInfo) terms() []string {
	list := []string{""}
	for _, e := range n.Properties {
		for _, v := range valuesOf(e.Value) {
			list = append(list, term(e.Key, frontmatter.Text(v)))
		}
	}
	for _, tag := range n.Tags {
		tag = outermost(tag)
		for end := len(tag); end >= 0; end = strings.LastIndexByte(tag[:end], '/') {
			list = append(list, term("tags", tag[:end]))
		}
	}
	return list
}

// term identifies a value of a property, or the outermost parts of a tag.
func term(key, text string) string {
	if outline.IsTagKey(key) {
		key = "tags"
		text = strings.TrimRight(outermost(strings.TrimLeft(strings.TrimPrefix(text, "#"), "/")), "/")
	}
	return outline.Fold(key + "\x00" + text)
}

// maxNesting is the number of parts of a tag that its terms tell apart. A note may have a tag of 100,000 parts.
const maxNesting = 8

func outermost(tag string) string {
	parts := strings.SplitN(tag, "/", maxNesting+1)
	return strings.Join(parts[:min(len(parts), maxNesting)], "/")
}

var dateLayouts = []string{time.DateOnly, "2006-01-02T15:04:05", time.DateTime, "2006-01-02T15:04", "2006-01-02 15:04", time.RFC3339Nano}

// ordered converts a number to a float64, a date to a time.Time, and any other value to nil. It also converts texts,
// because YAML's core schema reads dates as texts, and models quote numbers.
func ordered(v any) any {
	switch v := v.(type) {
	case int64:
		return float64(v)
	case float64:
		return v
	case string:
		if f, err := strconv.ParseFloat(v, 64); err == nil {
			return f
		}
		for _, layout := range dateLayouts {
			if t, err := time.ParseInLocation(layout, v, time.Local); err == nil {
				return t
			}
		}
	}
	return nil
}

// holds compares two numbers or two dates. It returns false for NaN.
func holds(have any, op string, want any) bool {
	var c int
	switch have := have.(type) {
	case float64:
		w, ok := want.(float64)
		if !ok || have != have || w != w {
			return false
		}
		c = cmp.Compare(have, w)
	case time.Time:
		w, ok := want.(time.Time)
		if !ok {
			return false
		}
		c = have.Compare(w)
	default:
		return false
	}
	switch op {
	case "<":
		return c < 0
	case "<=":
		return c <= 0
	case ">":
		return c > 0
	}
	return c >= 0
}

// valuesOf returns the values under which a property is found: the items of a list, or the value itself. An empty list
// counts as no value.
func valuesOf(v any) []any {
	if list, ok := v.([]any); ok && len(list) > 0 {
		return list
	} else if ok {
		return []any{nil}
	}
	return []any{v}
}
