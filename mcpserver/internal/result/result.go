// Package result defines the result of a tool call: text, structured content, images, a question for the user or an
// error. It limits the size of results (cost.go), continues long lists at a cursor (cursor.go), and formats
// suggestions, comments, proposals and decisions as lines of text (suggestions.go).
package result

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Question is a question to the user at the client. ID identifies the change that a positive reply allows.
type Question struct{ ID, Text string }

type Result struct {
	Text []string // text blocks
	// OneBlock sends the text blocks as one block, separated by blank lines.
	OneBlock bool
	Images   []Image
	// Structured is a JSON object for the output schema. Text repeats its content.
	Structured json.RawMessage
	IsError    bool // the call failed; Text contains the next step for the model
	// Next is the cursor at which a text result continues.
	Next string
	// Ask is set if the user must approve the change first. The client then repeats the call with the reply.
	Ask *Question
	// Err is a fault of the server, not of the call.
	Err error
}

type Image struct {
	MIMEType string
	Data     []byte
}

func Text(blocks ...string) Result {
	return Result{Text: slices.DeleteFunc(blocks, func(b string) bool { return b == "" })}
}

// JSON returns a structured result. It is an error result if r has a method Failed that returns true.
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

func PlainJSON(v any) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return ""
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func (r Result) Blocks() []string {
	if r.OneBlock {
		return []string{strings.Join(r.Text, "\n\n")}
	}
	return r.Text
}

// Bounded returns r if its cost is at most Max. Otherwise it returns an error result with the beginning of r.
func (r Result) Bounded() Result {
	if r.Cost() <= Max {
		return r
	}
	short, _ := Truncate(strings.Join(r.Text, "\n"), Max/4)
	return ErrorResult("%s ... [cut here]", short)
}

func ErrorResult(format string, args ...any) Result {
	return Result{Text: []string{fmt.Sprintf(format, quotable(args)...)}, IsError: true}
}

// quotedText is a text that %q cuts after maxQuoted bytes: an error need not repeat a long wrong argument.
type quotedText string

const maxQuoted = 300

func (q quotedText) Format(f fmt.State, verb rune) {
	text := string(q)
	if verb == 'q' && len(text) > maxQuoted {
		text = strings.ToValidUTF8(text[:maxQuoted], "") + Ellipsis
	}
	fmt.Fprintf(f, fmt.FormatString(f, verb), text)
}

func quotable(args []any) []any {
	args = slices.Clone(args)
	for i, arg := range args {
		if text, ok := arg.(string); ok {
			args[i] = quotedText(text)
		}
	}
	return args
}

// ArgumentError is the error of an invalid argument. Its text is for the model.
type ArgumentError struct {
	format string
	args   []any
}

func InvalidArgument(format string, args ...any) error { return &ArgumentError{format, args} }

func (e *ArgumentError) Error() string { return fmt.Sprintf(e.format, quotable(e.args)...) }

// Words are words of a tool, such as the name of an argument, among the args of InvalidArgument. The other args quote
// documents and calls.
type Words string

// Renamed returns the error's text with the result of rename for all words of the tool.
func (e *ArgumentError) Renamed(rename func(string) string) string {
	args := quotable(e.args)
	for i, arg := range args {
		if words, ok := arg.(Words); ok {
			args[i] = rename(string(words))
		}
	}
	return fmt.Sprintf(rename(e.format), args...)
}
