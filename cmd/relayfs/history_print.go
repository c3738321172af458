package main

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/relayfs/relayfs/bridge/history"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/api"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/cli"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/render"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/reviewqueue"
)

// maxPieces is how many pieces of text are printed for an entry.
const maxPieces = 6

// printHistory prints a history for people.
func printHistory(w io.Writer, l api.NoteHistory) {
	p := render.NewPainter(w)
	for _, e := range l.Entries {
		number := "-"
		if e.Number != 0 {
			number = fmt.Sprint(e.Number)
		}
		head := fmt.Sprintf("%-6s %s  %s", number, e.Time.Local().Format("2006-01-02 15:04:05"), cli.OneLine(entryText(&e)))
		fmt.Fprintln(w, p.SGR(render.Bold, head))
		if e.Decision != nil && e.Decision.Reason != "" {
			fmt.Fprintf(w, "       because %s\n", cli.OneLine(e.Decision.Reason))
		}
		printPieces(w, "-", e.Deleted)
		printPieces(w, "+", e.Added)
	}
}

func printPieces(w io.Writer, sign string, list []string) {
	for i, text := range list {
		if i == maxPieces {
			fmt.Fprintf(w, "       %s and %d more\n", sign, len(list)-maxPieces)
			return
		}
		fmt.Fprintf(w, "       %s %s\n", sign, cli.OneLine(reviewqueue.Shorten(text)))
	}
}

// entryText says who did what.
func entryText(e *history.Entry) string {
	text := entryAction(e)
	if e.Lost && e.Kind != history.Unknown {
		text += "; what it changed is not kept any more"
	}
	return text
}

func entryAction(e *history.Entry) string {
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
		return fmt.Sprintf("moved from %s to %s", placeText(e.From), placeText(e.To))
	case history.Decided:
		return decisionText(who, e.Decision)
	}
	if e.Found {
		return "changed while nobody followed the note, and found then"
	}
	return who + " changed the note"
}

func placeText(p model.Path) string {
	if strings.HasPrefix(string(p), "/") {
		return "no folder"
	}
	return string(p)
}

func decisionText(who string, d *history.Decision) string {
	text := fmt.Sprintf("%s: %s", who, d.Verdict)
	if len(d.Items) > 0 {
		text += " " + cli.Plural(len(d.Items), "suggestion")
	}
	if from := authorsOf(d.Items); from != "" {
		text += " of " + from
	}
	return text + " (" + d.Batch + ")"
}

// authorsOf names those of suggestions, each once.
func authorsOf(items []model.Decided) string {
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
