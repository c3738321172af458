package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/relayfs/relayfs/bridge/history"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/api"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/cli"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/render"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/reviewqueue"
)

func newHistoryCommand(e *env) *cobra.Command {
	var f accessFlags
	cmd := &cobra.Command{
		Use:   "history NOTE",
		Short: "Show who changed a note, when and how",
		Long: `History prints the changes of a note, newest first: changes of agents and users,
decisions, changes of front matter, and renames. It follows the note across renames.
Changes by one author within one minute are one entry. The history begins with the
first change by an agent, or the first decision. A change that was made while
relayfs was not running has the time when relayfs found it. 'relayfs mount
--history' sets the retention (default 90d).`,
		Example: "  relayfs history Notes/Plan.md | less\n  relayfs show Notes/Plan.md@17",
		Args:    usageArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.askAbout(cmd.Context(), e, args, func(c *api.Client, paths []string) error {
				l, err := c.History(cmd.Context(), paths[0])
				if err != nil {
					return err
				}
				return show(e, l, printHistory)
			})
		},
	}
	e.addJSONFlag(cmd)
	f.register(e, cmd)
	return cmd
}

func newShowCommand(e *env) *cobra.Command {
	var f accessFlags
	var view string
	cmd := &cobra.Command{
		Use:   "show NOTE@TIME",
		Short: "Print a past state of a note",
		Long: `Show prints the text of a note at a time, with the marks of suggestions. TIME is the
number of an entry of 'relayfs history', a time (2026-01-31T14:00:00Z,
'2026-01-31 14:00', 'yesterday 14:00', 14:00), or an age (2h, 3d). Changes by one
author within one minute are shown together or not at all.`,
		Example: "  relayfs show Notes/Plan.md@2h\n  relayfs show 'Notes/Plan.md@yesterday 14:00' >Plan.md",
		Args:    usageArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			note, when, err := splitTime(args[0], time.Now())
			if err != nil {
				return err
			}
			return f.askAbout(cmd.Context(), e, []string{note}, func(c *api.Client, paths []string) error {
				s, err := c.Show(cmd.Context(), paths[0], when, view)
				if err != nil {
					return err
				}
				return show(e, s, func(w io.Writer, s api.PastNote) { _ = cli.Note(w, s.Text) })
			})
		},
	}
	e.addJSONFlag(cmd)
	cmd.Flags().StringVar(&view, "view", "raw", "raw (with marks), accepted or original (as if all suggestions had been accepted or rejected)")
	registerValues(cmd, map[string][]string{"view": {"raw", "accepted", "original"}})
	f.register(e, cmd)
	return cmd
}

var namedDays = map[string]int{"today": 0, "yesterday": -1}

// timeLayouts are the accepted formats of a time. A layout without a time zone is in local time.
var timeLayouts = []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02T15:04", time.DateTime, "2006-01-02 15:04", time.DateOnly}

var clockLayouts = []string{"15:04:05", "15:04"}

func parseWhen(s string, now time.Time) (history.Point, error) {
	s = strings.TrimSpace(s)
	if n, err := strconv.ParseUint(s, 10, 64); err == nil && n > 0 {
		return history.Point{Entry: n}, nil
	}
	if age, err := parseAge(s); err == nil && s != "0" {
		return history.Point{Time: now.Add(-age)}, nil
	}
	for _, layout := range timeLayouts {
		if t, err := time.ParseInLocation(layout, s, now.Location()); err == nil {
			return upTo(t), nil
		}
	}
	day, clock, _ := strings.Cut(s, " ")
	if _, named := namedDays[day]; !named {
		day, clock = "today", s
	}
	y, m, d := now.AddDate(0, 0, namedDays[day]).Date()
	if clock == "" && s != "" {
		return upTo(time.Date(y, m, d, 0, 0, 0, 0, now.Location())), nil
	}
	for _, layout := range clockLayouts {
		if t, err := time.Parse(layout, clock); err == nil {
			return upTo(time.Date(y, m, d, t.Hour(), t.Minute(), t.Second(), 0, now.Location())), nil
		}
	}
	return history.Point{}, cli.Usagef("%q is not a time or an entry number; use an entry number from 'relayfs history', 2h, 3d, 14:00, 'yesterday 14:00', 2026-01-31 or 2026-01-31T14:00:00Z", s)
}

// upTo returns the point at the end of the second t, because 'history' prints times without fractions. A t with a
// fraction stays as it is.
func upTo(t time.Time) history.Point {
	if t.Nanosecond() == 0 {
		t = t.Add(time.Second - 1)
	}
	return history.Point{Time: t}
}

// parseAge parses a duration. It accepts Go's units, and also days and weeks, such as 90d and 2w.
func parseAge(s string) (time.Duration, error) {
	for unit, length := range map[string]time.Duration{"d": 24 * time.Hour, "w": 7 * 24 * time.Hour} {
		if number, ok := strings.CutSuffix(s, unit); ok {
			n, err := strconv.ParseUint(number, 10, 16)
			return time.Duration(n) * length, err
		}
	}
	d, err := time.ParseDuration(s)
	if err == nil && d < 0 {
		err = fmt.Errorf("%s is negative", s)
	}
	return d, err
}

// parseRetention parses the setting history. 0 means that history is kept forever.
func parseRetention(s string) (time.Duration, error) {
	d, err := parseAge(s)
	if err != nil || d != 0 && d < 24*time.Hour {
		return 0, cli.Usagef("history %q: want at least one day, such as 90d, or 0 to keep history forever", s)
	}
	return d, nil
}

func splitTime(arg string, now time.Time) (note string, when history.Point, err error) {
	i := strings.LastIndexByte(arg, '@')
	if i < 0 {
		return "", when, cli.Usagef("%q has no time: use NOTE@TIME, such as %s@2h", arg, cmp.Or(arg, "Note.md"))
	}
	when, err = parseWhen(arg[i+1:], now)
	return arg[:i], when, err
}

const maxPieces = 6

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

func entryText(e *history.Entry) string {
	text := entryAction(e)
	if e.TextExpired && e.Kind != history.Unknown {
		text += "; the texts are no longer stored"
	}
	return text
}

func entryAction(e *history.Entry) string {
	who := cmp.Or(e.Author, "a user")
	switch e.Kind {
	case history.Unknown:
		return "older changes are merged; their authors and earlier texts are no longer stored"
	case history.Started:
		return "the text before the recorded changes"
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
	if e.DetectedLate {
		return "changed while relayfs was not running; found at this time"
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
		what := "suggestion"
		if d.Verdict == model.Resolved {
			what = "comment"
		}
		text += " " + cli.Plural(len(d.Items), what)
	}
	if from := authorsOf(d.Items); from != "" {
		text += " by " + from
	}
	return text + " (" + d.Batch + ")"
}

func authorsOf(items []model.DecidedItem) string {
	var names []string
	for _, x := range items {
		if x.Author != "" && !slices.Contains(names, x.Author) {
			names = append(names, x.Author)
		}
	}
	return strings.Join(names, ", ")
}
