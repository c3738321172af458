package result

import (
	"encoding/json"
	"fmt"
	"sort"
	"strings"
	"unicode/utf8"
)

const (
	// Max bounds the answer to a call, in bytes of JSON, text and structured content together. Clients show a
	// model only the first lines of a longer one.
	Max = 40_000
	// ProtocolOverhead is the most that the protocol adds to an answer, in bytes.
	ProtocolOverhead = 600
	// MaxMatch bounds one match in an answer with the lines around it, as a cost.
	MaxMatch = 30_000
	// MaxLine is how many characters of a line a search shows.
	MaxLine = 2000
)

// Cost returns the length of the Result as an answer, in bytes of JSON.
func (r Result) Cost() int {
	n := ProtocolOverhead
	if r.Structured != nil {
		n += jsonLen(r.Structured)
	}
	for _, b := range r.Text {
		n += TextCost(b) + 32
	}
	return n
}

// jsonLen returns the length of v as JSON, as it is sent.
func jsonLen(v any) int {
	raw, _ := json.Marshal(v) // nil if it cannot be JSON, which JSON reports
	return len(raw)
}

// TextCost returns the length of s as a string in JSON, without the quotes.
func TextCost(s string) int { return jsonLen(s) - 2 }

// StructuredCost returns the cost of v in a structured result, which holds v as JSON and again as escaped text.
func StructuredCost(v any) int { return jsonLen(v) + TextCost(PlainJSON(v)) }

// Truncate returns the longest beginning of s that costs at most limit.
func Truncate(s string, limit int) (short string, cut bool) {
	if len(s) <= limit && TextCost(s) <= limit {
		return s, false
	}
	for i, n := 0, 0; i < len(s); {
		_, size := utf8.DecodeRuneInString(s[i:])
		if n += TextCost(s[i : i+size]); n > limit {
			return s[:i], true
		}
		i += size
	}
	return s, false
}

// JoinBounded joins the first n lines, as many as cost at most limit. It joins at least
// one, which it cuts if that line alone costs too much.
func JoinBounded(lines []string, limit int) (joined string, n int) {
	cost := 0
	for ; n < len(lines); n++ {
		if cost += TextCost(lines[n]) + 2; cost > limit {
			break
		}
	}
	if n == 0 && len(lines) > 0 {
		short, _ := Truncate(lines[0], limit-100)
		return short + fmt.Sprintf("... [line cut, %d bytes]", len(lines[0])), 1
	}
	return strings.Join(lines[:n], "\n"), n
}

// JoinTruncated is JoinBounded that says at the end how many lines are left out. Their number comes before args.
func JoinTruncated(lines []string, limit int, format string, args ...any) string {
	joined, n := JoinBounded(lines, limit)
	if n < len(lines) {
		joined += fmt.Sprintf(format, append([]any{len(lines) - n}, args...)...)
	}
	return joined
}

// Fit returns build(m) for the largest m, at most n, with which the structured result is
// no longer than an answer. m is at least 1 if n is.
func Fit[R any](n int, build func(m int) R) R {
	n = min(n, Max/20) // no item is shorter
	fitting := sort.Search(n, func(i int) bool { return JSON(build(i+1)).Cost() > Max })
	return build(max(fitting, min(n, 1)))
}
