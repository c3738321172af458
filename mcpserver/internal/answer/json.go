package answer

import (
	"encoding/json"
	"fmt"
	"strings"
)

// failed is a structured result that may tell of a failure.
type failed interface{ Failed() bool }

// continued is a structured result that may go on at a cursor.
type continued interface{ Next() string }

// JSON is the result that says r.
func JSON(r any) Result {
	text := PlainJSON(r)
	if text == "" {
		return Result{Err: fmt.Errorf("result %T is not JSON", r)}
	}
	f, ok := r.(failed)
	res := Result{Text: []string{text}, Structured: json.RawMessage(text), IsError: ok && f.Failed()}
	if l, ok := r.(continued); ok {
		res.Next = l.Next()
	}
	return res
}

// PlainJSON is v as JSON, without escapes for HTML's sake.
func PlainJSON(v any) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return ""
	}
	return strings.TrimSuffix(b.String(), "\n")
}
