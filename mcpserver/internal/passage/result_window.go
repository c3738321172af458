package passage

import (
	"fmt"
	"strings"

	"github.com/relayfs/relayfs/mcpserver/internal/answer"
)

// ForResult is the window of the text at path for a structured result, in which each
// line has so many characters more.
func ForResult(path, text string, begin Position, last, margin int) (Window, error) {
	limit := answer.Max - answer.Envelope - answer.BothCost(path) - 1400
	return WindowOf(text, begin, last, limit, func(s string) int { return answer.BothCost(s) + 2*margin })
}

// Content is the text of the window. The break of its last line is left out, unless
// it ends the whole text.
func (w Window) Content() string {
	content := strings.Join(w.Lines, "\n")
	if w.ended && w.Begin.Line+len(w.Lines) > w.Total {
		content += "\n"
	}
	return content
}

// NextCall is the call of a tool that goes on at a position.
func NextCall(tool string, at Position) string {
	call := fmt.Sprintf("%s with start_line: %d", tool, at.Line)
	if at.Column > 1 {
		call += fmt.Sprintf(", column: %d", at.Column)
	}
	return call
}

// LastLine is the number of the last line that is wanted of total ones, from start
// to end.
func LastLine(start int, end *int, total int) (int, error) {
	switch {
	case end != nil && *end < start:
		return 0, answer.WrongArgument("The argument \"end_line\" (%d) must not be less than \"start_line\" (%d).", *end, start)
	case start > 1 && start > total:
		return 0, answer.WrongArgument("The argument \"start_line\" is %d, and the document has %s.", start, answer.Count(total, "line"))
	case end != nil:
		return min(*end, total), nil
	}
	return total, nil
}
