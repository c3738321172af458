package frontmatter

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Property is one entry of a mapping. Value is nil, bool, int64, float64, string, []any or Properties.
type Property struct {
	Key   string
	Value any
}

// Properties lists the entries of a mapping in order. Keys are distinct.
type Properties []Property

func (p Properties) Get(key string) (value any, ok bool) {
	if i := p.index(key); i >= 0 {
		return p[i].Value, true
	}
	return nil, false
}

// With returns p with key set to value, at its old place or at the end.
func (p Properties) With(key string, value any) Properties {
	p = slices.Clone(p)
	if i := p.index(key); i >= 0 {
		p[i].Value = value
		return p
	}
	return append(p, Property{key, value})
}

func (p Properties) Without(key string) Properties {
	return slices.DeleteFunc(slices.Clone(p), func(e Property) bool { return e.Key == key })
}

func (p Properties) missingFrom(there map[string]bool) Properties {
	return slices.DeleteFunc(slices.Clone(p), func(e Property) bool { return there[e.Key] })
}

func (p Properties) byKey() map[string]any {
	values := make(map[string]any, len(p))
	for _, e := range p {
		values[e.Key] = e.Value
	}
	return values
}

func (p Properties) index(key string) int {
	return slices.IndexFunc(p, func(e Property) bool { return e.Key == key })
}

// MarshalJSON encodes an object with the entries in order. Infinities and NaN, which JSON lacks, become strings in YAML
// notation.
func (p Properties) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, e := range p {
		if i > 0 {
			b.WriteByte(',')
		}
		if err := encode(&b, e.Key); err != nil {
			return nil, err
		}
		b.WriteByte(':')
		if err := encode(&b, jsonValue(e.Value)); err != nil {
			return nil, err
		}
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

func encode(b *bytes.Buffer, v any) error {
	enc := json.NewEncoder(b)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// jsonValue returns v with strings in place of the numbers that JSON lacks, such as NaN.
func jsonValue(v any) any { return replaceNonFinite(v, func(f float64) any { return formatFloat(f) }) }

func replaceNonFinite(v any, by func(float64) any) any {
	switch v := v.(type) {
	case float64:
		if math.IsInf(v, 0) || math.IsNaN(v) {
			return by(v)
		}
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = replaceNonFinite(item, by)
		}
		return out
	case Properties:
		out := make(Properties, len(v))
		for i, e := range v {
			out[i] = Property{e.Key, replaceNonFinite(e.Value, by)}
		}
		return out
	}
	return v
}

// UnmarshalJSON keeps the order of an object's members. null yields no properties.
func (p *Properties) UnmarshalJSON(data []byte) error {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	v, err := decodeJSON(dec)
	if err != nil {
		return err
	}
	switch v := v.(type) {
	case nil:
		*p = nil
	case Properties:
		*p = v
	default:
		return errors.New("properties are not a JSON object")
	}
	return nil
}

func decodeJSON(dec *json.Decoder) (any, error) {
	t, err := dec.Token()
	if err != nil {
		return nil, err
	}
	switch t := t.(type) {
	case json.Number:
		return numberOf(t.String()), nil
	case json.Delim:
		return decodeCollection(dec, t == '{')
	}
	return t, nil
}

// decodeCollection decodes the rest of an object or an array. If an object has several members of one name, the last
// one wins.
func decodeCollection(dec *json.Decoder, object bool) (any, error) {
	list, p, where := []any{}, Properties{}, make(map[string]int)
	for dec.More() {
		var name string
		if object {
			key, err := dec.Token()
			if err != nil {
				return nil, err
			}
			name = key.(string)
		}
		v, err := decodeJSON(dec)
		if err != nil {
			return nil, err
		}
		if i, twice := where[name]; object && twice {
			p[i].Value = v
		} else if object {
			where[name] = len(p)
			p = append(p, Property{name, v})
		} else {
			list = append(list, v)
		}
	}
	_, err := dec.Token()
	if object {
		return p, err
	}
	return list, err
}

func numberOf(s string) any {
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		return n
	}
	f, _ := strconv.ParseFloat(s, 64)
	return f
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
		values := b.byKey()
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
		return formatFloat(v)
	}
	var b bytes.Buffer
	if err := encode(&b, jsonValue(v)); err != nil {
		return fmt.Sprint(v)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func formatFloat(f float64) string {
	switch {
	case math.IsNaN(f):
		return ".nan"
	case math.IsInf(f, 1):
		return ".inf"
	case math.IsInf(f, -1):
		return "-.inf"
	}
	return strconv.FormatFloat(f, 'g', -1, 64)
}
