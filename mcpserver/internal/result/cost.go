package result

import (
	"encoding/json"
	"fmt"
	"sort"
	"strings"
	"unicode/utf8"
)

const (
	// Max is the maximum size of a tool result (text and structured content) in bytes of JSON. If a result is longer,
	// some clients show a model only its beginning.
	Max = 40_000
	// ProtocolOverhead is the maximum number of bytes that the protocol adds to a result.
	ProtocolOverhead = 600
	// MaxMatch is the maximum size of one match with its context, in bytes of JSON.
	MaxMatch = 30_000
	// MaxLine is the maximum number of characters of a line that a search shows.
	MaxLine = 2000
)

// Cost returns the size of the result in bytes of JSON, without images.
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

func jsonLen(v any) int {
	raw, _ := json.Marshal(v) // nil on failure; the function JSON reports the error
	return len(raw)
}

func TextCost(s string) int { return jsonLen(s) - 2 }

// StructuredCost returns the cost of v in a structured result, which contains it twice: as JSON and as escaped text.
func StructuredCost(v any) int { return jsonLen(v) + TextCost(PlainJSON(v)) }

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

// JoinBounded joins the first lines whose total cost is at most limit. It joins at least one line, and cuts that line
// if necessary.
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

// JoinTruncated does the same as JoinBounded, and appends format if lines were omitted. The first argument of format is
// the number of omitted lines.
func JoinTruncated(lines []string, limit int, format string, args ...any) string {
	joined, n := JoinBounded(lines, limit)
	if n < len(lines) {
		joined += fmt.Sprintf(format, append([]any{len(lines) - n}, args...)...)
	}
	return joined
}

// Fit returns build(m) for the largest m up to n for which the structured result fits into Max. m is at least 1, unless
// n is 0.
func Fit[R any](n int, build func(m int) R) R {
	n = min(n, Max/20) // each item has at least 20 bytes
	fitting := sort.Search(n, func(i int) bool { return JSON(build(i+1)).Cost() > Max })
	return build(max(fitting, min(n, 1)))
}
