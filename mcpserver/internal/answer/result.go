package answer

import (
	"encoding/json"
	"strings"
)

// Result is what a tool call gives back.
type Result struct {
	Text []string // text blocks
	// OneBlock has clients shown the blocks as one, with empty lines between.
	OneBlock bool
	// Structured is the JSON object of a tool with an output schema; Text says the
	// same.
	Structured json.RawMessage
	IsError    bool // the model is to read Text and try something else
	// Next is the cursor at which a list or a search goes on; "" at its end.
	Next string
	// Ask is a question to the person at the client; the call is made again with
	// the answer.
	Ask string
	// Err is set when the call went wrong through no fault of the model.
	Err error
}

// Text is a Result of text blocks; empty ones are left out.
func Text(blocks ...string) Result {
	var res Result
	for _, b := range blocks {
		if b != "" {
			res.Text = append(res.Text, b)
		}
	}
	return res
}

// Blocks are the text blocks as clients are shown them.
func (r Result) Blocks() []string {
	if r.OneBlock {
		return []string{strings.Join(r.Text, "\n\n")}
	}
	return r.Text
}

// Bounded is r, of which a text that is too long is cut: an error may quote what
// it is about.
func (r Result) Bounded() Result {
	if r.Cost() <= Max {
		return r
	}
	short, _ := FirstThatFit(strings.Join(r.Text, "\n"), Max/4)
	return Refuse("%s ... [cut here]", short)
}
