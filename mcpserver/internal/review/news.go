package review

import (
	"fmt"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/mcpserver/internal/answer"
)

// News tells a model what was decided, a line each, or is "". What does not
// fit is told with the next read.
func News(news []bridge.Resolved) (block string, untold []bridge.Resolved) {
	if len(news) == 0 {
		return "", nil
	}
	lines := []string{"[Decided since you last read]"}
	for _, r := range news {
		line := "  " + string(r.Verdict) + ": " + sides(r.Suggestion)
		if r.Verdict == model.Changed {
			line += fmt.Sprintf(" now reads %q", answer.OneLine(r.Now))
		}
		if r.Reason != "" {
			line += fmt.Sprintf(" because %q", remark(r.Reason))
		}
		lines = append(lines, line+comments(r.Comments))
	}
	block, n := answer.JoinBounded(lines, maxNews)
	if n < len(lines) {
		block += fmt.Sprintf("\n  (%d more; read again to see them)", len(lines)-n)
		untold = news[n-1:]
	}
	return block, untold
}

// maxNews bounds the block of decided suggestions, and maxRemark what a person
// says of one.
const (
	maxNews   = 8000
	maxRemark = 2000
)
