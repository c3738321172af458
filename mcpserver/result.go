package mcpserver

import (
	"encoding/json"
	"fmt"
	"strings"
)

// maxOutput bounds the text of a result, in bytes: about what a client shows a
// model without putting it aside. Whatever is cut says how to get the rest.
const maxOutput = 100 << 10

// Result is what a tool call gives back.
type Result struct {
	Text []string // text blocks
	// Structured is the JSON object of a tool with an output schema; Text says the
	// same.
	Structured json.RawMessage
	IsError    bool // the model is to read Text and try something else
	// Ask is a question to the person at the client; the call is made again with
	// the answer.
	Ask string
	// Err is set when the call went wrong through no fault of the model.
	Err error
}

func text(blocks ...string) Result { return Result{Text: blocks} }

// refuse is a Result that tells the model what to do instead.
func refuse(format string, args ...any) Result {
	return Result{Text: []string{fmt.Sprintf(format, args...)}, IsError: true}
}

// joinBounded joins lines and says how many of them fit into limit bytes.
func joinBounded(lines []string, limit int) (joined string, n int) {
	size := 0
	for ; n < len(lines); n++ {
		if size += len(lines[n]) + 1; size > limit && n > 0 {
			break
		}
	}
	return strings.Join(lines[:n], "\n"), n
}

// count is "1 link", "2 links".
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
