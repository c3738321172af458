// Package past has the words for histories: the times that people write, and entries as they are printed.
package past

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/relayfs/relayfs/bridge/history"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/api"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/output"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/queue"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/render"
)

// most is how many pieces of text are printed for an entry.
const most = 6

// Print prints a history for people.
func Print(w io.Writer, l api.Listing) {
	p := render.NewPainter(w)
	for _, e := range l.Entries {
		number := "-"
		if e.Number != 0 {
			number = fmt.Sprint(e.Number)
		}
		head := fmt.Sprintf("%-6s %s  %s", number, e.Time.Local().Format("2006-01-02 15:04:05"), output.OneLine(tell(&e)))
		fmt.Fprintln(w, p.SGR(render.Bold, head))
		if e.Decision != nil && e.Decision.Reason != "" {
			fmt.Fprintf(w, "       because %s\n", output.OneLine(e.Decision.Reason))
		}
		pieces(w, "-", e.Deleted)
		pieces(w, "+", e.Added)
	}
}

func pieces(w io.Writer, sign string, list []string) {
	for i, text := range list {
		if i == most {
			fmt.Fprintf(w, "       %s and %d more\n", sign, len(list)-most)
			return
		}
		fmt.Fprintf(w, "       %s %s\n", sign, output.OneLine(queue.Shorten(text)))
	}
}

// tell says who did what.
func tell(e *history.Entry) string {
	text := action(e)
	if e.Lost && e.Kind != history.Unknown {
		text += "; what it changed is not kept any more"
	}
	return text
}

func action(e *history.Entry) string {
	who := cmp.Or(e.Author, "a person")
	switch e.Kind {
	case history.Unknown:
		return "older changes are merged; who made them, and what was before, is not known any more"
	case history.Began:
		return "the text that was there when relayfs began to keep the note"
	case history.Created:
		return who + " created the note"
	case history.Properties:
		return who + " changed front matter"
	case history.LinksFollow:
		return who + ": links follow a rename"
	case history.Moved:
		return fmt.Sprintf("moved from %s to %s", place(e.From), place(e.To))
	case history.Decided:
		return decided(who, e.Decision)
	}
	if e.Found {
		return "changed while nobody followed the note, and found then"
	}
	return who + " changed the note"
}

func place(p model.Path) string {
	if strings.HasPrefix(string(p), "/") {
		return "no folder"
	}
	return string(p)
}

func decided(who string, d *history.Decision) string {
	text := fmt.Sprintf("%s: %s", who, d.Verdict)
	if len(d.Items) > 0 {
		text += " " + output.Plural(len(d.Items), "suggestion")
	}
	if from := authors(d.Items); from != "" {
		text += " of " + from
	}
	return text + " (" + d.Batch + ")"
}

// authors names those of suggestions, each once.
func authors(items []model.Decided) string {
	var names []string
	seen := make(map[string]bool)
	for _, x := range items {
		if x.Author != "" && !seen[x.Author] {
			seen[x.Author] = true
			names = append(names, x.Author)
		}
	}
	return strings.Join(names, ", ")
}
