// Package result holds the Result of a tool call, refusals in sentences for a model, and
// how much of a list or a text fits into one answer, and where it goes on (cursor.go). It writes suggestions, comments,
// proposals and decisions as lines of text (suggestions.go). It knows no tool and no protocol. It has no locks.
package result

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Question is one to the person at the client. Its ID is that of the change that the answer allows.
type Question struct{ ID, Text string }

// Result is the answer to a tool call.
type Result struct {
	Text []string // text blocks
	// OneBlock joins the blocks with empty lines when they are sent.
	OneBlock bool
	Images   []Image
	// Structured is the JSON object of a tool with an output schema. Text holds the same.
	Structured json.RawMessage
	IsError    bool // the model is to read Text and try something else
	// Next is the cursor at which a list or a search without structured content continues, "" at its end.
	Next string
	// Ask is set when the person has to be asked first. The client makes the call again with the answer.
	Ask *Question
	// Err is set when the call failed through no fault of the model.
	Err error
}

// Image is a picture in an answer.
type Image struct {
	MIMEType string
	Data     []byte
}

// Text returns a Result of the text blocks that are not empty.
func Text(blocks ...string) Result {
	return Result{Text: slices.DeleteFunc(blocks, func(b string) bool { return b == "" })}
}

// JSON returns the Result with r as structured content. A method Failed of r makes the Result an error.
func JSON(r any) Result {
	text := PlainJSON(r)
	if text == "" {
		return Result{Err: fmt.Errorf("result %T is not JSON", r)}
	}
	res := Result{Text: []string{text}, Structured: json.RawMessage(text)}
	if f, ok := r.(interface{ Failed() bool }); ok {
		res.IsError = f.Failed()
	}
	return res
}

// PlainJSON returns v as JSON without escapes for HTML, "" if it cannot be JSON.
func PlainJSON(v any) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return ""
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// Blocks returns the text blocks as they are sent.
func (r Result) Blocks() []string {
	if r.OneBlock {
		return []string{strings.Join(r.Text, "\n\n")}
	}
	return r.Text
}

// Bounded returns r, or a refusal with the beginning of its text if it quotes a text that is too long.
func (r Result) Bounded() Result {
	if r.Cost() <= Max {
		return r
	}
	short, _ := Truncate(strings.Join(r.Text, "\n"), Max/4)
	return ErrorResult("%s ... [cut here]", short)
}

// ErrorResult returns a Result that tells the model what to do instead.
func ErrorResult(format string, args ...any) Result {
	return Result{Text: []string{fmt.Sprintf(format, args...)}, IsError: true}
}

// ArgumentError says which argument is wrong, in a sentence for the model.
type ArgumentError struct{ sentence string }

func (e *ArgumentError) Error() string { return e.sentence }

// InvalidArgument returns an ArgumentError.
func InvalidArgument(format string, args ...any) error {
	return &ArgumentError{fmt.Sprintf(format, args...)}
}
