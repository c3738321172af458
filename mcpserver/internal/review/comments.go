package review

import (
	"fmt"
	"strings"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/diffwrap"
	"github.com/relayfs/relayfs/mcpserver/internal/answer"
)

// CommentsIn lists the open comments of one note.
func CommentsIn(p model.Path, raw string) []string {
	if !strings.Contains(raw, "{>>") {
		return nil
	}
	var lines []string
	add := func(line int, comment, about string) {
		lines = append(lines, fmt.Sprintf("%s:%d: %s%s", answer.Shown(p), line, remark(comment), about))
	}
	for _, a := range diffwrap.Annotations(raw) {
		if a.Kind == diffwrap.Comment {
			add(a.Line, a.New, "")
		}
		for _, c := range a.Comments {
			add(a.Line, c, fmt.Sprintf(" (about %q)", answer.OneLine(a.New)))
		}
	}
	for _, sg := range diffwrap.Suggestions(raw) {
		for _, c := range sg.Comments {
			add(sg.Line, c, " (about a suggestion)")
		}
	}
	return lines
}

// comments are comments as they stand in a note, to follow a suggestion.
func comments(texts []string) string {
	var b strings.Builder
	for _, t := range texts {
		b.WriteString(" {>>" + remark(t) + "<<}")
	}
	return b.String()
}

// remark is what a person says, without line breaks.
func remark(s string) string {
	short, cut := answer.FirstThatFit(s, maxRemark)
	if cut {
		short += fmt.Sprintf("... [cut, %d bytes]", len(s))
	}
	return answer.Unbroken(short)
}
