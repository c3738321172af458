package frontmatter

import (
	"math"
	"slices"
	"strconv"

	"github.com/relayfs/relayfs/bridge/ycrdt"
)

// Property is one entry of a mapping. Value is nil, bool, int64, float64, string, []any or Properties.
type Property = ycrdt.Member

// Properties lists the entries of a mapping in order. Keys are distinct.
type Properties = ycrdt.Object

func missingFrom(p Properties, there map[string]bool) Properties {
	return slices.DeleteFunc(slices.Clone(p), func(e Property) bool { return there[e.Key] })
}

// Equal reports whether two values are equal. It compares numbers across types, and mappings in any order. All other
// types must match.
func Equal(a, b any) bool {
	switch a := a.(type) {
	case []any:
		b, ok := b.([]any)
		return ok && slices.EqualFunc(a, b, Equal)
	case Properties:
		b, ok := b.(Properties)
		if !ok || len(a) != len(b) {
			return false
		}
		values := b.ByKey()
		return !slices.ContainsFunc(a, func(e Property) bool {
			v, ok := values[e.Key]
			return !ok || !Equal(e.Value, v)
		})
	case int64:
		if b, ok := b.(float64); ok {
			return float64(a) == b
		}
	case float64:
		if n, ok := b.(int64); ok {
			return a == float64(n)
		}
		if f, ok := b.(float64); ok && math.IsNaN(a) {
			return math.IsNaN(f)
		}
	}
	return isScalar(a) && a == b
}

// isScalar reports whether v is a scalar, for which == does not panic.
func isScalar(v any) bool {
	switch v.(type) {
	case []any, Properties:
		return false
	}
	return true
}

// Text returns a value as one string: a string as it is, null as "", any other scalar in YAML notation, a list or a
// mapping as JSON.
func Text(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case bool:
		return strconv.FormatBool(v)
	case int64:
		return strconv.FormatInt(v, 10)
	case float64:
		return ycrdt.FormatNumber(v)
	}
	text, _ := Properties{{Value: v}}.MarshalJSON() // cannot fail
	return string(text[len(`{"":`) : len(text)-1])
}
