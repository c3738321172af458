package schema

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"github.com/relayfs/relayfs/bridge/frontmatter"
)

// OfResult returns the JSON Schema of a result struct. It panics if a field has a type that a
// result cannot hold.
func OfResult(t reflect.Type) json.RawMessage {
	raw, err := json.Marshal(append(object{{"$schema", "https://json-schema.org/draft/2020-12/schema"}}, ofType(t)...))
	if err != nil {
		panic("schema: output schema: " + err.Error())
	}
	return raw
}

func ofType(t reflect.Type) object {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t == reflect.TypeFor[frontmatter.Properties]() {
		return object{{"type", "object"}}
	}
	switch t.Kind() {
	case reflect.String:
		return object{{"type", "string"}}
	case reflect.Bool:
		return object{{"type", "boolean"}}
	case reflect.Int, reflect.Int64:
		return object{{"type", "integer"}}
	case reflect.Float64:
		return object{{"type", "number"}}
	case reflect.Slice:
		return object{{"type", "array"}, {"items", ofType(t.Elem())}}
	case reflect.Struct:
		return ofStruct(t)
	}
	panic(fmt.Sprintf("schema: a result cannot hold %s", t))
}

func ofStruct(t reflect.Type) object {
	properties, required := object{}, []string{}
	var add func(t reflect.Type)
	add = func(t reflect.Type) {
		for i := range t.NumField() {
			f := t.Field(i)
			if f.Anonymous {
				add(f.Type)
				continue
			}
			name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
			s := ofType(f.Type)
			if doc := f.Tag.Get("doc"); doc != "" {
				s = append(s, member{"description", doc})
			}
			properties = append(properties, member{name, s})
			if options != "omitempty" {
				required = append(required, name)
			}
		}
	}
	add(t)
	return object{{"type", "object"}, {"properties", properties}, {"required", required}, {"additionalProperties", false}}
}
