package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/owner"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/api"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/cli"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/render"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/reviewqueue"
)

type decideFlags struct {
	workspaceFlags
	reviewqueue.Selector
	verdict         model.Verdict
	reason          string
	where           []string // see vaultArgs
	all, yes, force bool
}

func (f *decideFlags) verb() string { return strings.TrimSuffix(string(f.verdict), "ed") }

func newDecideCommand(e *env, verdict model.Verdict) *cobra.Command {
	f := &decideFlags{verdict: verdict}
	verb := f.verb()
	cmd := &cobra.Command{
		Use:   verb + " [ID...] [SOURCE...]",
		Short: reviewqueue.Imperative(verdict) + " suggestions",
		Example: fmt.Sprintf("  relayfs suggestions %[1]s 77d10bf735\n  relayfs suggestions %[1]s --path 'Notes/Projects/**'\n"+
			"  relayfs suggestions %[1]s --all --yes", verb),
		RunE:              func(cmd *cobra.Command, args []string) error { return f.run(cmd, e, args) },
		ValidArgsFunction: f.completeIDs(true, false),
	}
	fl := cmd.Flags()
	fl.BoolVar(&f.all, "all", false, "decide on all suggestions")
	fl.BoolVar(&f.yes, "yes", false, fmt.Sprintf("do not ask for confirmation of decisions on more than %d suggestions", reviewqueue.ManyAtOnce))
	fl.StringVar(&f.reason, "reason", "", "reason for your decision; the author of the suggestion gets it")
	forced := "include folders that Relay's plugin shares"
	if verdict == model.Accepted {
		forced += ", and proposals for changed notes"
	}
	fl.BoolVar(&f.force, "force", false, forced)
	f.registerSelector(cmd, &f.Selector)
	e.addJSONFlag(cmd)
	f.registerClient(e, cmd)
	return cmd
}

func (f *decideFlags) run(cmd *cobra.Command, e *env, args []string) error {
	ctx := cmd.Context()
	ids, sources := splitArgs(args, isID)
	f.where = vaultArgs(cmd, sources)
	switch {
	case len(ids) == 0 && f.Empty() && !f.all:
		return f.noIDErr(sources, cli.Usagef("name the suggestions to %s: IDs from 'relayfs suggestions list', conditions such as --path, or --all", f.verb()))
	case len(ids) > 0 && f.all:
		return cli.Usagef("give IDs or --all, not both")
	case len(f.reason) > reviewqueue.MaxReason:
		return cli.Usagef("--reason is longer than %d bytes", reviewqueue.MaxReason)
	case !utf8.ValidString(f.reason): // encoding/json would replace the user's characters
		return cli.Usagef("--reason is not valid UTF-8: convert it first, for example with iconv")
	}
	if err := f.refuseAgent("deciding on suggestions", runReview); err != nil {
		return err
	}
	return f.withSelected(ctx, e, &f.Selector, args, true, func(q *api.Client, list []reviewqueue.Suggestion) error {
		if len(list) == 0 {
			return f.print(e, reviewqueue.Outcome{Verdict: f.verdict, Suggestions: list, Missing: []string{}, Failed: map[string]string{}})
		}
		if err := f.confirm(ctx, e, list); err != nil {
			return err
		}
		r := reviewqueue.DecideRequest{IDs: reviewqueue.IDsOf(list), Unseen: true, Verdict: f.verdict, Reason: f.reason, Force: f.force}
		out, err := q.Decide(ctx, r)
		if _, ended := errors.AsType[*owner.EndedError](err); ended {
			return cli.WithHint(fmt.Errorf("%w; some of %s may be %s", err, cli.Plural(len(list), "suggestion"), f.verdict),
				"'relayfs suggestions list' shows those that are still pending, 'relayfs suggestions log' the batch to undo")
		}
		if err != nil {
			return err
		}
		out.Suggestions = reviewqueue.WithContext(out.Suggestions, list)
		return errors.Join(f.print(e, out), out.Err())
	})
}

// confirm asks for confirmation before many suggestions are decided. Without a terminal it requires --yes.
func (f *decideFlags) confirm(ctx context.Context, e *env, list []reviewqueue.Suggestion) error {
	if len(list) <= reviewqueue.ManyAtOnce || f.yes {
		return nil
	}
	scope := fmt.Sprintf("%s in %s", cli.Plural(len(list), "suggestion"), cli.Plural(reviewqueue.NotesOf(list), "note"))
	if in, ok := e.stdin.(*os.File); !ok || !cli.IsTerminal(in) {
		return cli.Usagef("to %s %s, add --yes; 'relayfs suggestions list' prints them", f.verb(), scope)
	}
	fmt.Fprintf(e.stderr, "%s %s? [y/N] ", reviewqueue.Imperative(f.verdict), scope)
	var line string
	err := runInterruptible(ctx, func() (err error) {
		line, err = bufio.NewReader(e.stdin).ReadString('\n')
		return err
	})
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if !isYes(line) {
		return errors.New("nothing was decided")
	}
	return nil
}

func (f *decideFlags) print(e *env, out reviewqueue.Outcome) error {
	return show(e, out, func(w io.Writer, out reviewqueue.Outcome) {
		render.Scope(w, out.Suggestions)
		fmt.Fprintf(w, "%s %s in %s\n", cli.Plural(len(out.Suggestions), "suggestion"), out.Verdict, cli.Plural(out.Notes, "note"))
		for _, path := range slices.Sorted(maps.Keys(out.FrontMatterRemoved)) {
			fmt.Fprintf(w, "%s has no front matter: a program has removed it, which is no suggestion; restore it with: relayfs suggestions undo %s\n",
				cli.OneLine(path), shellWords(append([]string{out.FrontMatterRemoved[path]}, f.where...)))
		}
		if out.Batch != "" {
			printUndoHint(e, out.Batch, f.where)
		}
	})
}

func printUndoHint(e *env, batch string, where []string) {
	fmt.Fprintf(e.stderr, "undo with: relayfs suggestions undo %s\n", shellWords(append([]string{batch}, where...)))
}

func shellWords(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = owner.ShellWord(w)
	}
	return strings.Join(quoted, " ")
}
