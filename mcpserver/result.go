package mcpserver

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"
)

// maxAnswer bounds what a call gives back, in bytes of JSON, text and structured
// content together: clients put what is longer aside, and show a model its first
// lines. Whatever is cut says how to get the rest.
const maxAnswer = 40_000

// envelope is what the protocol has around an answer, at most.
const envelope = 600

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

// text is a Result of text blocks; empty ones are left out.
func text(blocks ...string) Result {
	var res Result
	for _, b := range blocks {
		if b != "" {
			res.Text = append(res.Text, b)
		}
	}
	return res
}

// refuse is a Result that tells the model what to do instead.
func refuse(format string, args ...any) Result {
	return Result{Text: []string{fmt.Sprintf(format, args...)}, IsError: true}
}

// blocks are the text blocks as clients are shown them.
func (r Result) blocks() []string {
	if r.OneBlock {
		return []string{strings.Join(r.Text, "\n\n")}
	}
	return r.Text
}

// cost is how much of an answer the Result takes.
func (r Result) cost() int {
	n := envelope + len(r.Structured) + 5*htmlCount(string(r.Structured))
	for _, b := range r.Text {
		n += textCost(b) + 32
	}
	return n
}

// bounded is r, of which a text that is too long is cut: an error may quote what
// it is about.
func (r Result) bounded() Result {
	if r.cost() <= maxAnswer {
		return r
	}
	short, _ := firstThatFit(strings.Join(r.Text, "\n"), maxAnswer/4)
	return refuse("%s ... [cut here]", short)
}

// textCost is how long s is as a string in JSON.
func textCost(s string) int {
	n := 0
	for i := 0; i < len(s); {
		c, size := charCost(s[i:])
		n, i = n+c, i+size
	}
	return n
}

// charCost is how long the first character of s is in JSON, and how long in s.
func charCost(s string) (cost, size int) {
	switch c := s[0]; {
	case c == '"' || c == '\\' || c == '\n' || c == '\r' || c == '\t':
		return 2, 1
	case c < ' ' || c == '<' || c == '>' || c == '&':
		return 6, 1
	case c < utf8.RuneSelf:
		return 1, 1
	}
	r, size := utf8.DecodeRuneInString(s)
	if r == utf8.RuneError || r == '\u2028' || r == '\u2029' {
		return 6, size
	}
	return size, size
}

// bothCost is how much of an answer v takes within a structured result, which has
// it as JSON and again as text, where each escape is escaped.
func bothCost(v any) int {
	raw := plainJSON(v)
	return textCost(raw) + len(raw) + 5*htmlCount(raw)
}

// htmlCount counts the characters that encoding/json escapes for HTML's sake.
func htmlCount(s string) int {
	return strings.Count(s, "<") + strings.Count(s, ">") + strings.Count(s, "&")
}

// plainJSON is v as JSON, without escapes for HTML's sake.
func plainJSON(v any) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return ""
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// firstThatFit is the beginning of s that costs at most limit.
func firstThatFit(s string, limit int) (short string, cut bool) {
	n := 0
	for i := 0; i < len(s); {
		c, size := charCost(s[i:])
		if n += c; n > limit {
			return s[:i], true
		}
		i += size
	}
	return s, false
}

// joinBounded joins lines and says how many of them fit into limit, the cost of a
// text: at least one, which is cut if it is too long by itself.
func joinBounded(lines []string, limit int) (joined string, n int) {
	cost := 0
	for ; n < len(lines); n++ {
		if cost += textCost(lines[n]) + 2; cost > limit {
			break
		}
	}
	if n == 0 && len(lines) > 0 {
		short, _ := firstThatFit(lines[0], limit-100)
		return short + fmt.Sprintf("... [line cut, %d bytes]", len(lines[0])), 1
	}
	return strings.Join(lines[:n], "\n"), n
}

// mostThatFit is the largest number of items, at most n, with which the structured
// result that build makes is no longer than an answer. It is 1 at least, if there
// are any.
func mostThatFit(n int, build func(n int) any) int {
	const most = maxAnswer / 20 // no item is shorter
	n = min(n, most)
	low := min(n, 1)
	for low < n {
		mid := (low + n + 1) / 2
		if jsonResult(build(mid)).cost() <= maxAnswer {
			low = mid
		} else {
			n = mid - 1
		}
	}
	return low
}

// count is "1 link", "2 links".
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
