package answer

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/diffwrap"
)

// Costs, as an answer counts them.
const (
	maxSuggestions = 8000 // of the block of pending suggestions
	maxNews        = 8000 // of the block of decisions
	maxRemark      = 2000 // of one comment or reason
)

// Describe returns a suggestion on one line, with its author, and what people say about it: they ask for another version.
func Describe(sg model.Suggestion) string {
	return Sides(sg.Suggestion) + " (" + Shown(cmp.Or(sg.Author, "unknown")) + ")" + commentsOf(sg.Comments)
}

// Sides returns what a suggestion takes away and adds, on one line.
func Sides(sg diffwrap.Suggestion) string {
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

// DescribeWhole returns a suggestion as it stands in the note, with its author.
func DescribeWhole(sg model.Suggestion) string {
	s := marks(sg.Old, sg.New)
	for _, c := range sg.Comments {
		s += " {>>" + c + "<<}"
	}
	if sg.Author != "" {
		s += " (" + Shown(sg.Author) + ")"
	}
	return s
}

// DescribeThread returns a thread of comments on one line, with who wrote them.
func DescribeThread(t model.Thread) string {
	said := make([]string, len(t.Remarks))
	for i, r := range t.Remarks {
		said[i] = "{>>" + remark(r.New) + "<<}"
		if r.Author != "" {
			said[i] += " (" + Shown(r.Author) + ")"
		}
	}
	return fmt.Sprintf("%s:%d: comment on %q: %s", Shown(t.Path), t.Line, OneLine(t.About), strings.Join(said, " "))
}

// DescribeProposal returns a proposal on one line.
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

// Pending returns the pending suggestions of the note at p, one on each line, "" for none.
func Pending(p model.Path, list []model.Suggestion) string {
	if len(list) == 0 {
		return ""
	}
	lines := []string{"[Pending suggestions]"}
	for _, sg := range list {
		lines = append(lines, fmt.Sprintf("  L%d: %s", sg.Line, Describe(sg)))
	}
	block := JoinOrSay(lines, maxSuggestions, "\n  (%d more; call list_suggestions with path: %q to see them)", string(p))
	if strings.Contains(block, LeftOut) {
		block += fmt.Sprintf("\n  (%s stands for text left out; call list_suggestions with path: %q and an id to see it)", LeftOut, string(p))
	}
	return block
}

// News returns decisions on a session's suggestions, one on each line, "" if there are none.
// The next read tells those that do not fit.
func News(news []bridge.Resolved) (block string, untold []bridge.Resolved) {
	if len(news) == 0 {
		return "", nil
	}
	lines := []string{"[Decided since you last read]"}
	for _, r := range news {
		line := "  " + string(r.Verdict) + ": " + Sides(r.Suggestion)
		if r.Verdict == model.Changed {
			line += fmt.Sprintf(" now reads %q", OneLine(r.Now))
		}
		if r.Reason != "" {
			line += fmt.Sprintf(" because %q", remark(r.Reason))
		}
		lines = append(lines, line+commentsOf(r.Comments))
	}
	block, n := JoinBounded(lines, maxNews)
	if n < len(lines) {
		block += fmt.Sprintf("\n  (%d more; read again to see them)", len(lines)-n)
		untold = news[n-1:]
	}
	return block, untold
}

// CommentsIn returns the open comments of one note, one on each line.
func CommentsIn(p model.Path, v *model.Version) []string {
	known, raw := v.Known(), v.Marked()
	if !strings.Contains(raw, "{>>") {
		return nil
	}
	var lines []string
	add := func(line int, comment, about string) {
		lines = append(lines, fmt.Sprintf("%s:%d: %s%s", Shown(p), line, remark(comment), about))
	}
	for _, a := range known.Annotations(raw) {
		if a.Kind == diffwrap.Comment {
			add(a.Line, a.New, "")
		}
		for _, c := range a.Comments {
			add(a.Line, c, fmt.Sprintf(" (about %q)", OneLine(a.New)))
		}
	}
	for _, sg := range known.Suggestions(raw) {
		for _, c := range sg.Comments {
			add(sg.Line, c, " (about a suggestion)")
		}
	}
	return lines
}

// Decision returns a line for each thing that was decided on, with the reason.
func Decision(e model.JournalEntry) []string {
	d := e.Decision
	end := ""
	if d.By != "" {
		end = " by " + Shown(d.By)
	}
	if d.Lapsed {
		end = ", since it no longer applied"
	}
	if d.Reason != "" {
		reason, _ := FirstThatFit(Unbroken(d.Reason), 1000)
		end += fmt.Sprintf(" because %q", reason)
	}
	if d.Proposal != nil {
		return []string{fmt.Sprintf("%s: the proposal was %s%s", Shown(e.Path), d.Verdict, end)}
	}
	var lines []string
	for _, item := range d.Items {
		became := string(d.Verdict)
		if d.Verdict == model.Changed && item.Instead != nil {
			became += fmt.Sprintf(" to %q", OneLine(*item.Instead))
		}
		lines = append(lines, fmt.Sprintf("%s:%d: {--%s--}{++%s++} (%s) was %s%s", Shown(e.Path), item.Line, OneLine(item.Old), OneLine(item.New), Shown(item.Author), became, end))
	}
	if len(lines) == 0 {
		lines = append(lines, fmt.Sprintf("%s: a decision was %s%s", Shown(e.Path), d.Verdict, end))
	}
	return lines
}

func commentsOf(texts []string) string {
	s := ""
	for _, t := range texts {
		s += " {>>" + remark(t) + "<<}"
	}
	return s
}

// remark returns what a person wrote without line breaks, cut if it is long.
func remark(s string) string {
	short, cut := FirstThatFit(s, maxRemark)
	if cut {
		short += fmt.Sprintf("... [cut, %d bytes]", len(s))
	}
	return Unbroken(short)
}
