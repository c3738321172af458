package mcpserver

import (
	"context"
	"reflect"
	"strings"

	"github.com/relayfs/relayfs/mcpserver/internal/answer"
	"github.com/relayfs/relayfs/mcpserver/internal/schema"
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
	t.output = schema.OfResult(reflect.TypeFor[R]())
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
