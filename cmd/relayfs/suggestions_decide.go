package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/user"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/clierr"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/output"
)

// manyAtOnce is how many suggestions are decided at once without asking.
const manyAtOnce = 10

// maxReason bounds a reason, which every note's entry in the journal has.
const maxReason = 1000 // bytes

// decideFlags are the flags of accept and reject.
type decideFlags struct {
	queueFlags
	selector
	verdict          bridge.Verdict
	reason           string
	sources          []string // that were named
	all, dryRun, yes bool
	force            bool
}

// tidyReason is a reason that was typed or pasted, as it is kept.
func tidyReason(reason string) string { return strings.Join(strings.Fields(reason), " ") }

// verb is the command that gives the verdict.
func (f *decideFlags) verb() string { return strings.TrimSuffix(string(f.verdict), "ed") }

// imperative is how a question about a verdict starts.
func imperative(v bridge.Verdict) string {
	verb := strings.TrimSuffix(string(v), "ed")
	return strings.ToUpper(verb[:1]) + verb[1:]
}

func newDecideCommand(e *env, verdict bridge.Verdict) *cobra.Command {
	f := &decideFlags{verdict: verdict}
	verb := f.verb()
	cmd := &cobra.Command{
		Use:   verb + " [ID...] [SOURCE...]",
		Short: imperative(verdict) + " suggestions",
		Example: fmt.Sprintf("  relayfs suggestions %[1]s 77d10bf735\n  relayfs suggestions %[1]s --path 'Notes/Projects/**' --dry-run\n"+
			"  relayfs suggestions %[1]s --all --yes", verb),
		Args:              cobra.ArbitraryArgs,
		RunE:              func(cmd *cobra.Command, args []string) error { return f.run(cmd.Context(), e, args) },
		ValidArgsFunction: completeIDs(&f.queueFlags),
	}
	fl := cmd.Flags()
	fl.BoolVar(&f.all, "all", false, "all suggestions, or all that the conditions allow")
	fl.BoolVar(&f.dryRun, "dry-run", false, "say what would be done, and do nothing")
	fl.BoolVar(&f.yes, "yes", false, fmt.Sprintf("do not ask before more than %d at once", manyAtOnce))
	fl.StringVar(&f.reason, "reason", "", "why, in a sentence; the suggestion's author is told")
	if verdict == bridge.Accepted {
		fl.BoolVar(&f.force, "force", false, "accept proposals, too, about notes that changed since they were made")
	}
	f.selector.register(cmd)
	f.queueFlags.register(cmd)
	return cmd
}

func (f *decideFlags) run(ctx context.Context, e *env, args []string) error {
	ids, sources := splitArgs(args, isID)
	f.sources = sources
	switch {
	case len(ids) == 0 && f.empty() && !f.all:
		return clierr.Usagef("name the suggestions to %s: ids, conditions, or --all", f.verb())
	case len(ids) > 0 && f.all:
		return clierr.Usagef("give ids or --all, not both")
	case len(f.reason) > maxReason:
		return clierr.Usagef("--reason is longer than %d bytes", maxReason)
	}
	return f.withSelected(ctx, e, &f.selector, args, true, func(q queue, list []suggestion) error {
		if f.dryRun {
			return f.print(e, outcome{Verdict: f.verdict, Suggestions: list, Missing: []string{}, Failed: map[string]string{}, Notes: notesOf(list)})
		}
		if err := f.confirm(ctx, e, list); err != nil {
			return err
		}
		if len(list) == 0 {
			return f.print(e, outcome{Verdict: f.verdict, Suggestions: list, Missing: []string{}, Failed: map[string]string{}})
		}
		out, err := q.decide(ctx, decideRequest{IDs: idsOf(list), Verdict: f.verdict, By: reviewer(), Reason: f.reason, Force: f.force})
		if err != nil {
			return err
		}
		out.Suggestions = withContext(out.Suggestions, list)
		return errors.Join(f.print(e, out), out.err())
	})
}

// confirm asks before many are decided at once; whoever cannot be asked must
// have said --yes.
func (f *decideFlags) confirm(ctx context.Context, e *env, list []suggestion) error {
	if len(list) <= manyAtOnce || f.yes {
		return nil
	}
	scope := fmt.Sprintf("%s in %s", output.Plural(len(list), "suggestion"), output.Plural(notesOf(list), "note"))
	if in, ok := e.stdin.(*os.File); !ok || !output.IsTerminal(in) {
		return clierr.Usagef("to %s %s, add --yes; --dry-run shows them", f.verb(), scope)
	}
	fmt.Fprintf(e.stderr, "%s %s? [y/N] ", imperative(f.verdict), scope)
	var line string
	err := abandonable(ctx, func() (err error) {
		line, err = bufio.NewReader(e.stdin).ReadString('\n')
		return err
	})
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if a := strings.ToLower(strings.TrimSpace(line)); a != "y" && a != "yes" {
		return errors.New("nothing was done")
	}
	return nil
}

// reviewer is the name of who decides: the user's, whatever name agents were given.
func reviewer() string {
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	return ""
}

func (f *decideFlags) print(e *env, out outcome) error {
	if f.json {
		return output.JSON(e.stdout, out)
	}
	if err := printScope(e.stdout, out.Suggestions); err != nil {
		return err
	}
	would := ""
	if f.dryRun {
		would = "would be "
	}
	_, err := fmt.Fprintf(e.stdout, "%s %s%s in %s\n", output.Plural(len(out.Suggestions), "suggestion"), would, out.Verdict, output.Plural(out.Notes, "note"))
	if out.Batch != "" && len(out.Suggestions)+out.Notes > 0 {
		fmt.Fprintf(e.stderr, "take it back with: relayfs suggestions undo %s\n", shellWords(append([]string{out.Batch}, f.sources...)))
	}
	return err
}

// shellWords writes words as one types them in a shell.
func shellWords(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = w
		if w == "" || !plainWord.MatchString(w) {
			quoted[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
	}
	return strings.Join(quoted, " ")
}

var plainWord = regexp.MustCompile(`^[\pL\pN_./=@:+-][\pL\pN_./=@:+~-]*$`)

// printScope shows each of a few suggestions, and of many how many there are in
// which note.
func printScope(w io.Writer, list []suggestion) error {
	if len(list) == 0 {
		return nil
	}
	if len(list) <= manyAtOnce {
		err := printDiffs(w, list)
		fmt.Fprintln(w)
		return err
	}
	counts := make(map[string]int)
	for _, s := range list {
		counts[s.Path]++
	}
	for _, p := range slices.Sorted(maps.Keys(counts)) {
		if _, err := fmt.Fprintf(w, "%s: %s\n", output.OneLine(p), output.Plural(counts[p], "suggestion")); err != nil {
			return err
		}
	}
	return nil
}

// err is nil if everything that was asked for was done.
func (o *outcome) err() error {
	var errs []error
	for _, p := range slices.Sorted(maps.Keys(o.Failed)) {
		errs = append(errs, fmt.Errorf("%q: nothing changed: %s", p, o.Failed[p]))
	}
	if len(o.Missing) > 0 {
		errs = append(errs, fmt.Errorf("not pending any more: %s", strings.Join(o.Missing, ", ")))
	}
	return errors.Join(errs...)
}

// withContext gives what was decided the context it was listed with.
func withContext(decided, listed []suggestion) []suggestion {
	byID := make(map[string]*suggestion, len(listed))
	for i := range listed {
		byID[listed[i].ID] = &listed[i]
	}
	for i := range decided {
		if s := byID[decided[i].ID]; s != nil {
			decided[i].Before, decided[i].After = s.Before, s.After
		}
	}
	return decided
}

func idsOf(list []suggestion) []string {
	ids := make([]string, len(list))
	for i := range list {
		ids[i] = list[i].ID
	}
	return ids
}

func notesOf(list []suggestion) int {
	paths := make(map[string]bool)
	for i := range list {
		paths[list[i].Path] = true
	}
	return len(paths)
}
