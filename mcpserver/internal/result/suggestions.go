package result

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/diffwrap"
)

const (
	maxSuggestions = 8000 // maximum size of the pending suggestions in bytes of JSON
	maxDecisions   = 8000 // maximum size of the decisions in bytes of JSON
	maxComment     = 2000 // maximum size of one comment or reason in bytes of JSON
)

// Describe returns a suggestion on one line, with its author and the comments that ask for another version.
func Describe(sg model.Suggestion) string {
	return OldAndNew(sg.Suggestion) + " (" + Escape(cmp.Or(sg.Author, "unknown")) + ")" + commentsOf(sg.Comments)
}

func OldAndNew(sg diffwrap.Suggestion) string {
	if sg.Kind == diffwrap.Comment {
		return "{>>" + OneLine(sg.New) + "<<}"
	}
	return marks(OneLine(sg.Old), OneLine(sg.New))
}

func marks(old, new string) string {
	if old != "" {
		old = "{--" + old + "--}"
	}
	if new != "" {
		new = "{++" + new + "++}"
	}
	return old + new
}

func DescribeWhole(sg model.Suggestion) string {
	s := marks(sg.Old, sg.New)
	for _, c := range sg.Comments {
		s += " {>>" + c + "<<}"
	}
	if sg.Author != "" {
		s += " (" + Escape(sg.Author) + ")"
	}
	return s
}

// HasWritten reports whether a thread has a comment that is not itself a pending suggestion.
func HasWritten(t model.Thread) bool {
	return slices.ContainsFunc(t.Entries, func(c model.ThreadComment) bool { return c.Pending == "" })
}

func DescribeThread(t model.Thread) string {
	lines := make([]string, len(t.Entries))
	for i, r := range t.Entries {
		lines[i] = "{>>" + commentText(r.New) + "<<}"
		if r.Author != "" {
			lines[i] += " (" + Escape(r.Author) + ")"
		}
	}
	return fmt.Sprintf("%s:%d: comment on %q: %s", Escape(t.Path), t.Line, OneLine(t.About), strings.Join(lines, " "))
}

func DescribeProposal(p model.Proposal) string {
	line := fmt.Sprintf("%s: %s", p.Path, p.Kind)
	switch {
	case p.Kind == model.ProposedRename:
		line += " to " + string(p.NewPath)
	case p.Kind == model.ProposedFile && p.Old == nil:
		line += ", new"
	}
	if p.Author != "" {
		line += " (" + p.Author + ")"
	}
	if p.Stale {
		line += ", changed since"
	}
	if p.Taken {
		line += ", but that name is taken"
	}
	return OneLine(line) + " [" + p.ID + "]"
}

func PendingBlock(p model.Path, list []model.Suggestion) string {
	if len(list) == 0 {
		return ""
	}
	lines := []string{"[Pending suggestions]"}
	for _, sg := range list {
		lines = append(lines, fmt.Sprintf("  L%d: %s", sg.Line, Describe(sg)))
	}
	block := JoinTruncated(lines, maxSuggestions, "\n  (%d more; call list_suggestions with path: %q to see them)", string(p))
	if strings.Contains(block, Ellipsis) {
		block += fmt.Sprintf("\n  (%s stands for text left out; call list_suggestions with path: %q and an id to see it)", Ellipsis, string(p))
	}
	return block
}

// DecisionsBlock lists decisions on suggestions of the session. It returns "" if there are none. untold has the
// decisions that do not fit; the next read reports them.
func DecisionsBlock(decisions []bridge.Resolved) (block string, untold []bridge.Resolved) {
	if len(decisions) == 0 {
		return "", nil
	}
	lines := []string{"[Decided since you last read]"}
	for _, r := range decisions {
		line := "  " + string(r.Verdict) + ": " + OldAndNew(r.Suggestion)
		if r.Verdict == model.Changed {
			line += fmt.Sprintf(" now reads %q", OneLine(r.Now))
		}
		if r.Reason != "" {
			line += fmt.Sprintf(" because %q", commentText(r.Reason))
		}
		lines = append(lines, line+commentsOf(r.Comments))
	}
	block, n := JoinBounded(lines, maxDecisions)
	if n < len(lines) {
		block += fmt.Sprintf("\n  (%d more; read again to see them)", len(lines)-n)
		untold = decisions[n-1:]
	}
	return block, untold
}

func DecisionLines(e model.JournalEntry) []string {
	d := e.Decision
	end := ""
	if d.By != "" {
		end = " by " + Escape(d.By)
	}
	if d.Withdrawn {
		end = ", since it no longer applied"
	}
	if d.Reason != "" {
		reason, _ := Truncate(EscapeBreaks(d.Reason), 1000)
		end += fmt.Sprintf(" because %q", reason)
	}
	if d.Proposal != nil {
		return []string{fmt.Sprintf("%s: the proposal was %s%s", Escape(e.Path), d.Verdict, end)}
	}
	var lines []string
	for _, item := range d.Items {
		became := string(d.Verdict)
		if d.Verdict == model.Changed && item.ReplacedBy != nil {
			became += fmt.Sprintf(" to %q", OneLine(*item.ReplacedBy))
		}
		lines = append(lines, fmt.Sprintf("%s:%d: %s (%s) was %s%s", Escape(e.Path), item.Line, marks(OneLine(item.Old), OneLine(item.New)), Escape(item.Author), became, end))
	}
	if len(lines) == 0 {
		lines = append(lines, fmt.Sprintf("%s: a decision was %s%s", Escape(e.Path), d.Verdict, end))
	}
	return lines
}

func commentsOf(texts []string) string {
	s := ""
	for _, t := range texts {
		s += " {>>" + commentText(t) + "<<}"
	}
	return s
}

func commentText(s string) string {
	short, cut := Truncate(s, maxComment)
	if cut {
		short += fmt.Sprintf("... [cut, %d bytes]", len(s))
	}
	return EscapeBreaks(short)
}
