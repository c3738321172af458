package tool

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/relayfs/relayfs/bridge/frontmatter"
)

// schema is a JSON Schema. Clients show its members in this order. It omits $schema, which would cost tokens for every
// tool; the protocol's default is 2020-12.
type schema struct {
	Type        string          `json:"type"`
	Items       *schema         `json:"items,omitempty"`
	Properties  properties      `json:"properties,omitzero"`
	Required    []string        `json:"required,omitzero"`
	Additional  *bool           `json:"additionalProperties,omitempty"`
	Description string          `json:"description,omitempty"`
	Enum        []string        `json:"enum,omitempty"`
	Minimum     *int            `json:"minimum,omitempty"`
	Default     json.RawMessage `json:"default,omitempty"`
}

// properties is a JSON object that keeps the order of the struct's fields.
type properties []property

type property struct {
	name   string
	schema schema
}

func (list properties) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	for i, p := range list {
		if i > 0 {
			b.WriteByte(',')
		}
		raw, err := json.Marshal(p.schema)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&b, "%q:%s", p.name, raw)
	}
	return []byte("{" + b.String() + "}"), nil
}

// encode returns the schema as JSON. It panics on a programming error, such as a default that is not JSON.
func (s schema) encode() json.RawMessage {
	raw, err := json.Marshal(s)
	if err != nil {
		panic("schema: " + err.Error())
	}
	return raw
}

func ArgumentSchema(params []Param) json.RawMessage {
	return ofParams(params).encode()
}

var types = map[reflect.Kind]string{
	reflect.String: "string", reflect.Bool: "boolean", reflect.Int: "integer", reflect.Int64: "integer", reflect.Float64: "number",
	reflect.Map: "object", reflect.Struct: "object", reflect.Slice: "array",
}

func ofParams(params []Param) schema {
	s := schema{Type: "object", Properties: properties{}, Additional: new(false)}
	var instead []string
	for _, p := range params {
		instead = append(instead, p.alternatives...)
	}
	for _, p := range params {
		arg := schema{Type: types[p.kind], Description: p.Doc, Enum: p.enum, Minimum: p.min, Default: p.def}
		if p.kind == reflect.Slice {
			arg.Items = new(itemOf(p))
		}
		s.Properties = append(s.Properties, property{p.Name, arg})
		if p.required && !slices.Contains(instead, p.Name) {
			s.Required = append(s.Required, p.Name)
		}
	}
	return s
}

// itemOf returns the schema of list items. For structs it includes only the types, because the arguments of the call
// document the fields.
func itemOf(p Param) schema {
	if p.items == nil {
		return schema{Type: "string"}
	}
	s := ofParams(p.items)
	s.Required = nil
	for i := range s.Properties {
		s.Properties[i].schema = schema{Type: s.Properties[i].schema.Type, Items: s.Properties[i].schema.Items}
	}
	return s
}

func ofType(t reflect.Type) schema {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t == reflect.TypeFor[frontmatter.Properties]() {
		return schema{Type: "object"}
	}
	s := schema{Type: types[t.Kind()]}
	switch t.Kind() {
	case reflect.Slice:
		s.Items = new(ofType(t.Elem()))
	case reflect.Struct:
		s.Properties, s.Required, s.Additional = properties{}, []string{}, new(false)
		s.addFields(t)
	}
	if s.Type == "" {
		panic(fmt.Sprintf("schema: a result cannot hold %s", t))
	}
	return s
}

func (s *schema) addFields(t reflect.Type) {
	for f := range t.Fields() {
		if f.Anonymous {
			s.addFields(f.Type)
			continue
		}
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		field := ofType(f.Type)
		field.Description = f.Tag.Get("doc")
		s.Properties = append(s.Properties, property{name, field})
		if options != "omitempty" {
			s.Required = append(s.Required, name)
		}
	}
}
