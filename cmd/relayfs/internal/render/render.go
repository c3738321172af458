package render

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/cli"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/reviewqueue"
)

type Painter struct{ colour bool }

func NewPainter(w io.Writer) Painter { return Painter{cli.Colour(w)} }

// The constants are SGR codes (ECMA-48).
const (
	Faint = "\x1b[2m"
	Bold  = "\x1b[1m"

	// Strikethrough and underline make changed spaces visible. They also make changes visible on a terminal without
	// colours.
	sgrOld   = "\x1b[9;31m"
	sgrNew   = "\x1b[4;32m"
	sgrReset = "\x1b[0m"
)

func (p Painter) Text(list []reviewqueue.Piece) string {
	var b strings.Builder
	for _, x := range list {
		text := cli.Printable(x.Text)
		switch {
		case x.Kind == reviewqueue.OldPiece && p.colour:
			b.WriteString(p.SGR(sgrOld, text))
		case x.Kind == reviewqueue.NewPiece && p.colour:
			b.WriteString(p.SGR(sgrNew, text))
		case x.Kind == reviewqueue.OldPiece:
			b.WriteString("{--" + text + "--}")
		case x.Kind == reviewqueue.NewPiece:
			b.WriteString("{++" + text + "++}")
		default:
			b.WriteString(text)
		}
	}
	return b.String()
}

// SGR applies the style code to each line of text separately, because pagers and lists show single lines.
func (p Painter) SGR(code, text string) string {
	if !p.colour || text == "" {
		return text
	}
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		if l != "" {
			lines[i] = code + l + sgrReset
		}
	}
	return strings.Join(lines, "\n")
}

func (p Painter) heading(s *reviewqueue.Suggestion) string {
	line := fmt.Sprintf("%s  %s  %s", cli.OneLine(s.ID), p.SGR(Bold, cli.OneLine(s.Place())), s.Kind)
	if who := s.Who(); who != "" {
		line += "  " + p.SGR(Faint, cli.OneLine(who))
	}
	return line
}

func (p Painter) Drawn(s *reviewqueue.Suggestion, list []reviewqueue.Piece) string {
	var b strings.Builder
	b.WriteString(p.heading(s) + "\n")
	for line := range strings.SplitSeq(strings.TrimSuffix(p.Text(list), "\n"), "\n") {
		b.WriteString(strings.TrimRight("    "+line, " ") + "\n")
	}
	return b.String()
}

func (p Painter) Diff(s *reviewqueue.Suggestion) string {
	return p.Drawn(s, s.InPieces()) + p.details(s)
}

func (p Painter) details(s *reviewqueue.Suggestion) string {
	var b strings.Builder
	if s.Session != "" {
		session := s.Session
		if s.SessionNote != nil {
			session += ", " + s.SessionNote.String()
		}
		b.WriteString("    " + p.SGR(Faint, "session: "+cli.OneLine(session)) + "\n")
	}
	for _, c := range s.Comments {
		b.WriteString("    " + p.SGR(Faint, "comment: "+reviewqueue.Shorten(c)) + "\n")
	}
	if answer := s.Answer(); answer != "" {
		b.WriteString("    " + p.SGR(Faint, answer) + "\n")
	}
	return b.String()
}

// Diffs prints suggestions in context. The suggestions of a group share one context.
func Diffs(w io.Writer, list []reviewqueue.Suggestion) {
	p := NewPainter(w)
	for i, group := range reviewqueue.Groups(list) {
		if i > 0 {
			fmt.Fprintln(w)
		}
		fmt.Fprint(w, p.diffs(group))
	}
}

func (p Painter) diffs(group []reviewqueue.Suggestion) string {
	var b strings.Builder
	if len(group) == 1 || group[0].Pieces == nil { // the group has only one suggestion that was selected, or its first one was not
		for i := range group {
			b.WriteString(p.Diff(&group[i]))
		}
		return b.String()
	}
	for i := range group[1:] {
		b.WriteString(p.heading(&group[i]) + "\n")
	}
	b.WriteString(p.Drawn(&group[len(group)-1], group[0].Pieces))
	for i := range group {
		b.WriteString(p.details(&group[i]))
	}
	return b.String()
}

// List prints one line per suggestion. In a group, only the first line has the place and the author.
func List(w io.Writer, list []reviewqueue.Suggestion) {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, group := range reviewqueue.Groups(list) {
		place, who := group[0].Place(), group[0].Who()
		for _, s := range group {
			fmt.Fprintf(tw, "%s\t%s\t%s\t%s\n", cli.OneLine(s.ID), cli.OneLine(place), cli.OneLine(s.Summary()), cli.OneLine(who))
			place, who = "", ""
		}
	}
	tw.Flush()
	fmt.Fprintln(w, cli.Plural(len(list), "pending suggestion"))
}

func Threads(w io.Writer, list []reviewqueue.Thread) {
	p := NewPainter(w)
	for _, t := range list {
		about := "about " + reviewqueue.Shorten(t.About)
		if t.Suggestion != "" {
			about = "about the suggestion " + t.Suggestion
		}
		if t.Answered {
			about += ", which has changed since"
		}
		fmt.Fprintf(w, "%s  %s  %s\n", t.ID, p.SGR(Bold, cli.OneLine(t.Place())), about)
		for i := range t.Comments {
			fmt.Fprintf(w, "    %s\n", t.Comments[i].OneLine())
		}
	}
	fmt.Fprintln(w, cli.Plural(len(list), "thread"))
}

// Scope prints the suggestions. If there are many, it prints only their number per note.
func Scope(w io.Writer, list []reviewqueue.Suggestion) {
	if len(list) == 0 {
		return
	}
	if len(list) <= reviewqueue.ManyAtOnce {
		Diffs(w, list)
		fmt.Fprintln(w)
		return
	}
	counts := make(map[string]int)
	for _, s := range list {
		counts[s.Path]++
	}
	for _, p := range slices.Sorted(maps.Keys(counts)) {
		cli.Line(w, "%s: %s", p, cli.Plural(counts[p], "suggestion"))
	}
}

func Undone(w io.Writer, out reviewqueue.Outcome) {
	if len(out.Suggestions) <= reviewqueue.ManyAtOnce {
		Log(w, out.Undone)
	} else {
		for _, batch := range reviewqueue.Batches(out.Undone) {
			logHead(w, &batch[0])
		}
	}
	Scope(w, out.Suggestions)
	what := cli.Plural(len(out.Suggestions), "pending suggestion") + " again"
	if out.Verdict == model.Rejected {
		what = cli.Plural(len(out.Suggestions), "suggestion") + " rejected"
	}
	fmt.Fprintf(w, "undone in %s; %s\n", cli.Plural(out.Notes, "note"), what)
	for _, a := range out.Unrestored {
		fmt.Fprintf(w, "%s: %s\n", cli.Printable(string(a.Path)), cli.Printable(a.String()))
	}
}

func inSession(session string) string {
	if session == "" {
		return ""
	}
	return "  session " + cli.OneLine(session)
}

func logHead(w io.Writer, x *reviewqueue.LogEntry) {
	head := fmt.Sprintf("%s  %s", x.Batch, x.Time.Local().Format("2006-01-02 15:04:05"))
	if x.By != "" {
		head += " by " + x.By
	}
	if x.Lapsed {
		head += ", without a decision by the user"
	}
	if x.Undoes != "" {
		head += ", undoes " + x.Undoes
	}
	fmt.Fprintln(w, NewPainter(w).SGR(Bold, cli.OneLine(head)))
	if x.Reason != "" {
		fmt.Fprintf(w, "  because %s\n", cli.OneLine(x.Reason))
	}
}

func Log(w io.Writer, list []reviewqueue.LogEntry) {
	for i, x := range list {
		if i == 0 || list[i-1].Batch != x.Batch {
			logHead(w, &list[i])
		}
		path := cli.OneLine(x.Path)
		if path == "" {
			path = "(deleted note)"
		}
		switch x.Action {
		case reviewqueue.FrontMatterChanged:
			fmt.Fprintf(w, "  front matter changed  %s%s\n", path, inSession(x.Session))
		case reviewqueue.SessionNamed:
			fmt.Fprintf(w, "  session named  %s%s\n", cli.OneLine(x.SessionNote.String()), inSession(x.Session))
		case reviewqueue.Asked:
			fmt.Fprintf(w, "  asked, and the user %s  %s%s\n", x.Approval.Answer, cli.OneLine(x.Approval.Question), inSession(x.Session))
		}
		for _, s := range x.Suggestions {
			it := s.AsSuggestion(path)
			since := inSession(s.Session)
			if s.Undone {
				since += "  undone since"
			}
			fmt.Fprintf(w, "  %s  %s  %s  %s%s\n", x.Action, cli.OneLine(s.ID), it.Place(), cli.OneLine(it.Summary()), since)
		}
		for _, a := range x.Unrestored {
			fmt.Fprintf(w, "  %s  %s\n", path, cli.Printable(a.String()))
		}
	}
}
