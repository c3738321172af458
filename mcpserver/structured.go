package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"github.com/relayfs/relayfs/bridge/frontmatter"
	"github.com/relayfs/relayfs/mcpserver/internal/answer"
)

// The result of a structured tool is a struct, encoded as JSON: the structured
// content of the call, and its text. Each field has the tags
//
//	json  the name, and omitempty if it may be missing
//	doc   the description in the output schema

// structured makes a tool of a function from typed arguments to a typed result.
func structured[A, R any](toolset, name, title string, h hints, run func(context.Context, *Session, A) (R, error), description string) tool {
	t := define(name, title, h, func(ctx context.Context, s *Session, a A) answer.Result {
		r, err := run(ctx, s, a)
		if err != nil {
			return s.failure(err)
		}
		return answer.JSON(r)
	}, description)
	t.toolset = toolset
	t.output = outputSchema(reflect.TypeFor[R]())
	return t
}

// failure is the Result for an error, which names the tools that the session has.
func (s *Session) failure(err error) answer.Result {
	res := failure(err)
	if s.server.has("glob") {
		return res
	}
	find, change := "list_notes", "update_note"
	if !s.server.has(find) {
		find, change = "search_content", "replace_content"
	}
	names := strings.NewReplacer("Call glob with it as the path", "Call "+find+" with it as the folder", "Call glob", "Call "+find, "use edit", "use "+change)
	for i, text := range res.Text {
		res.Text[i] = names.Replace(text)
	}
	return res
}

// outputSchema is the JSON Schema of a result struct.
func outputSchema(t reflect.Type) json.RawMessage {
	schema := append(object{{"$schema", "https://json-schema.org/draft/2020-12/schema"}}, schemaOfType(t)...)
	raw, err := json.Marshal(schema)
	if err != nil {
		panic("mcpserver: output schema: " + err.Error())
	}
	return raw
}

func schemaOfType(t reflect.Type) object {
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
		return object{{"type", "array"}, {"items", schemaOfType(t.Elem())}}
	case reflect.Struct:
		return schemaOfStruct(t)
	}
	panic(fmt.Sprintf("mcpserver: a result cannot hold %s", t)) // a mistake in the program
}

func schemaOfStruct(t reflect.Type) object {
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
			s := schemaOfType(f.Type)
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
