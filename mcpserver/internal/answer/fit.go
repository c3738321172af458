package answer

import (
	"fmt"
	"strings"
)

// FirstThatFit is the beginning of s that costs at most limit.
func FirstThatFit(s string, limit int) (short string, cut bool) {
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

// JoinBounded joins lines and says how many of them fit into limit, the cost of a
// text: at least one, which is cut if it is too long by itself.
func JoinBounded(lines []string, limit int) (joined string, n int) {
	cost := 0
	for ; n < len(lines); n++ {
		if cost += TextCost(lines[n]) + 2; cost > limit {
			break
		}
	}
	if n == 0 && len(lines) > 0 {
		short, _ := FirstThatFit(lines[0], limit-100)
		return short + fmt.Sprintf("... [line cut, %d bytes]", len(lines[0])), 1
	}
	return strings.Join(lines[:n], "\n"), n
}

// MostThatFit is the largest number of items, at most n, with which the structured
// result that build makes is no longer than an answer. It is 1 at least, if there
// are any.
func MostThatFit(n int, build func(n int) any) int {
	const most = Max / 20 // no item is shorter
	n = min(n, most)
	low := min(n, 1)
	for low < n {
		mid := (low + n + 1) / 2
		if JSON(build(mid)).Cost() <= Max {
			low = mid
		} else {
			n = mid - 1
		}
	}
	return low
}

// Count is "1 link", "2 links".
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
