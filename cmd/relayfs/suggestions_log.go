package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/clierr"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/output"
)

// frontMatterChanged is what a change of front matter is called beside the verdicts.
const frontMatterChanged = "frontmatter"

// logEntry is the JSON of one journalled decision or change, in one note.
type logEntry struct {
	Batch       string                    `json:"batch"` // for undo
	Time        time.Time                 `json:"time"`
	Path        string                    `json:"path"`   // "" if the note is gone
	Action      string                    `json:"action"` // a verdict, or "frontmatter"
	By          string                    `json:"by"`
	Reason      string                    `json:"reason,omitempty"`
	Session     string                    `json:"session"`
	Lapsed      bool                      `json:"lapsed,omitempty"` // no person decided: it gave way, or its author took it back
	Undoes      string                    `json:"undoes,omitempty"` // a batch
	Suggestions []bridge.Decided          `json:"suggestions"`
	FrontMatter *bridge.FrontMatterChange `json:"frontMatter,omitempty"`
	Away        []bridge.Away             `json:"away,omitempty"` // what an undo could not bring back
}

func newLogEntry(e bridge.JournalEntry) logEntry {
	out := logEntry{
		Batch: e.BatchOf(), Time: e.Time, Path: string(e.Path), Action: frontMatterChanged,
		By: e.Author, Session: e.Session, Suggestions: []bridge.Decided{}, FrontMatter: e.FrontMatter,
	}
	if d := e.Decision; d != nil {
		out.Action, out.By, out.Reason, out.Undoes = string(d.Verdict), d.By, d.Reason, d.Undoes
		out.Lapsed, out.Away = d.Lapsed, d.Away
		out.Session = ""
		out.Suggestions = append(out.Suggestions, d.Items...)
	}
	return out
}

func newUndoCommand(e *env) *cobra.Command {
	var f queueFlags
	cmd := &cobra.Command{
		Use:   "undo [BATCH] [SOURCE...]",
		Short: "Take back a decision or a change of front matter",
		Long: `Undo takes back what was accepted or rejected in one go, or one change of front
matter, by its name in 'relayfs suggestions log'; without a name the newest that
a person decided and nobody has taken back. What was written in the notes since stays.`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error { return runUndo(cmd.Context(), e, &f, args) },
		ValidArgsFunction: func(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
			return completeBatches(cmd.Context(), &f, args)
		},
	}
	f.register(cmd)
	return cmd
}

func runUndo(ctx context.Context, e *env, f *queueFlags, args []string) error {
	batches, sources := splitArgs(args, isBatch)
	if len(batches) > 1 {
		return clierr.Usagef("one batch at a time can be taken back")
	}
	r := undoRequest{By: reviewer()}
	if len(batches) == 1 {
		r.Batch = batches[0]
	}
	return f.withQueue(ctx, e, sources, func(q queue) error {
		out, err := q.undo(ctx, r)
		if err != nil {
			return err
		}
		if len(out.Suggestions) <= manyAtOnce { // of more, no context is shown
			if list, err := q.list(ctx, true); err == nil {
				out.Suggestions = withContext(out.Suggestions, list)
			}
		}
		if f.json {
			err = output.JSON(e.stdout, out)
		} else {
			err = printUndone(e.stdout, out)
		}
		return errors.Join(err, out.err(), out.wayOn(sources))
	})
}

// wayOn says what else can be taken back if this cannot.
func (o *outcome) wayOn(sources []string) error {
	switch {
	case len(o.Failed) == 0 || o.Notes > 0:
		return nil
	case o.Older == "":
		return errors.New("'relayfs suggestions log' shows what was decided")
	}
	return fmt.Errorf("the next older decision: relayfs suggestions undo %s; 'relayfs suggestions log' shows all",
		shellWords(append([]string{o.Older}, sources...)))
}

func printUndone(w io.Writer, out outcome) error {
	if err := printScope(w, out.Suggestions); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "undone in %s; %s again\n", output.Plural(out.Notes, "note"), output.Plural(len(out.Suggestions), "pending suggestion"))
	for _, a := range out.Away {
		fmt.Fprintf(w, "%s: %s\n", output.Printable(string(a.Path)), output.Printable(a.String()))
	}
	return err
}

func newLogCommand(e *env) *cobra.Command {
	var f queueFlags
	var limit int
	cmd := &cobra.Command{
		Use:   "log [SOURCE...]",
		Short: "Decisions and changes of front matter, newest first",
		Args:  cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if limit < 1 {
				return clierr.Usagef("--limit %d is not a positive number", limit)
			}
			return f.withQueue(cmd.Context(), e, args, func(q queue) error {
				list, err := q.log(cmd.Context(), limit)
				if err != nil {
					return err
				}
				if f.json {
					return output.JSON(e.stdout, list)
				}
				return printLog(e.stdout, list)
			})
		},
	}
	cmd.Flags().IntVar(&limit, "limit", 50, "at most this many notes' entries")
	f.register(cmd)
	return cmd
}

// printLog prints each batch's name once, over what it did in which note.
func printLog(w io.Writer, list []logEntry) error {
	p := painter{output.Colour(w)}
	for i, x := range list {
		if i == 0 || list[i-1].Batch != x.Batch {
			head := fmt.Sprintf("%s  %s", x.Batch, x.Time.Local().Format("2006-01-02 15:04:05"))
			if x.By != "" {
				head += " by " + x.By
			}
			if x.Lapsed {
				head += ", decided by no person"
			}
			if x.Undoes != "" {
				head += ", takes back " + x.Undoes
			}
			fmt.Fprintln(w, p.sgr(sgrBold, output.OneLine(head)))
			if x.Reason != "" {
				fmt.Fprintf(w, "  because %s\n", output.OneLine(x.Reason))
			}
		}
		path := output.OneLine(x.Path)
		if path == "" {
			path = "(a note that is gone)"
		}
		if x.Action == frontMatterChanged {
			fmt.Fprintf(w, "  front matter changed  %s\n", path)
		}
		for _, s := range x.Suggestions {
			it := suggestion{Path: path, Line: s.Line, Kind: s.Kind, Old: s.Old, New: s.New}
			if _, err := fmt.Fprintf(w, "  %s  %s  %s  %s\n", x.Action, output.OneLine(s.ID), it.place(), output.OneLine(it.gist())); err != nil {
				return err
			}
		}
		for _, a := range x.Away {
			fmt.Fprintf(w, "  %s  %s\n", path, output.Printable(a.String()))
		}
	}
	return nil
}

// completeBatches offers what a running owner can take back.
func completeBatches(ctx context.Context, f *queueFlags, args []string) ([]cobra.Completion, cobra.ShellCompDirective) {
	given, sources := splitArgs(args, isBatch)
	c, err := findOwner(ctx, &f.workspaceFlags, sources)
	if err != nil || c == nil || len(given) > 0 {
		return nil, cobra.ShellCompDirectiveDefault
	}
	const recent = 100
	list, err := remoteQueue{c}.log(ctx, recent)
	if err != nil {
		return nil, cobra.ShellCompDirectiveDefault
	}
	undone := make(map[string]bool)
	var out []cobra.Completion
	for _, x := range list {
		undone[x.Undoes] = true
		if x.Undoes == "" && !undone[x.Batch] {
			undone[x.Batch] = true // once is enough
			out = append(out, cobra.CompletionWithDesc(x.Batch, output.OneLine(x.Action+" "+x.Path)))
		}
	}
	return out, cobra.ShellCompDirectiveDefault | cobra.ShellCompDirectiveKeepOrder
}
