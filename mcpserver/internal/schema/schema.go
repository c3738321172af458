package schema

import (
	"bytes"
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

// object is a JSON object that keeps the order of its members, because clients show the
// arguments of a tool in the order of its schema.
type object []member

type member struct {
	name  string
	value any
}

// MarshalJSON implements json.Marshaler.
func (o object) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	b.WriteByte('{')
	for i, m := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		if err := enc.Encode(m.name); err != nil {
			return nil, err
		}
		b.WriteByte(':')
		if err := enc.Encode(m.value); err != nil {
			return nil, err
		}
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// OfArguments returns the JSON Schema (draft 2020-12) of an argument struct. It panics if a
// default is not JSON.
func OfArguments(params []Param) json.RawMessage {
	properties, required := object{}, []string{}
	for _, p := range params {
		properties = append(properties, member{p.Name, p.schema()})
		if p.need {
			required = append(required, p.Name)
		}
	}
	schema := object{
		{"$schema", "https://json-schema.org/draft/2020-12/schema"},
		{"type", "object"},
		{"properties", properties},
	}
	if len(required) > 0 {
		schema = append(schema, member{"required", required})
	}
	raw, err := json.Marshal(append(schema, member{"additionalProperties", false}))
	if err != nil {
		panic("schema: " + err.Error())
	}
	return raw
}

func (p Param) schema() object {
	names := map[reflect.Kind]string{reflect.String: "string", reflect.Bool: "boolean", reflect.Int: "integer", reflect.Slice: "object"}
	s := object{{"type", names[p.kind]}, {"description", p.Doc}}
	if p.enum != nil {
		s = append(s, member{"enum", p.enum})
	}
	if p.min != nil {
		s = append(s, member{"minimum", *p.min})
	}
	if p.def != nil {
		s = append(s, member{"default", p.def})
	}
	return s
}
