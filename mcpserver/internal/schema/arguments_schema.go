package schema

import (
	"bytes"
	"encoding/json"
	"reflect"
)

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
