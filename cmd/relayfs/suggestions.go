package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/clierr"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/output"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/ownership"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/queue"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/render"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/source"
)

const suggestionsHelp = `The review queue: changes that programs made and that wait for a person.

ID is a suggestion's id as 'list' prints it, or the beginning of one. SOURCE is
a vault; without one the only running relayfs is asked. A running relayfs does
the work for its vaults; else this command opens the vault itself. What looks
like an id (up to ten characters 0-9a-f) is one; a vault of such a name is ./NAME.`

func newSuggestionsCommand(e *env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "suggestions",
		Short: "Changes that wait for a person",
		Long:  suggestionsHelp,
		Args:  usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			cmd.Help()
			return errHelpShown
		},
	}
	cmd.AddCommand(
		newListCommand(e), newShowCommand(e), newDecideCommand(e, bridge.Accepted), newDecideCommand(e, bridge.Rejected),
		newUndoCommand(e), newLogCommand(e), newReviewCommand(e),
	)
	return cmd
}

// queueFlags are what every command on the queue has.
type queueFlags struct {
	workspaceFlags
	json bool
}

func (f *queueFlags) register(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&f.json, "json", false, "print JSON")
	f.registerState(cmd)
	f.log.register(cmd)
}

func newListCommand(e *env) *cobra.Command {
	var f queueFlags
	var sel queue.Selector
	cmd := &cobra.Command{
		Use:   "list [ID...] [SOURCE...]",
		Short: "List pending suggestions",
		Args:  cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.withSelected(cmd.Context(), e, &sel, args, false, func(_ queue.Queue, list []queue.Suggestion) error {
				if f.json {
					return output.JSON(e.stdout, list)
				}
				return render.List(e.stdout, list)
			})
		},
		ValidArgsFunction: completeIDs(&f),
	}
	registerSelector(cmd, &sel)
	f.register(cmd)
	return cmd
}

func newShowCommand(e *env) *cobra.Command {
	var f queueFlags
	var sel queue.Selector
	cmd := &cobra.Command{
		Use:   "show [ID...] [SOURCE...]",
		Short: "Show suggestions in their context",
		Args:  cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.withSelected(cmd.Context(), e, &sel, args, true, func(_ queue.Queue, list []queue.Suggestion) error {
				if f.json {
					return output.JSON(e.stdout, list)
				}
				return render.Diffs(e.stdout, list)
			})
		},
		ValidArgsFunction: completeIDs(&f),
	}
	registerSelector(cmd, &sel)
	f.register(cmd)
	return cmd
}

// withSelected calls do with what the selector and the arguments select.
func (f *queueFlags) withSelected(ctx context.Context, e *env, sel *queue.Selector, args []string, detailed bool,
	do func(queue.Queue, []queue.Suggestion) error) error {
	ids, sources := splitArgs(args, isID)
	if err := sel.Check(ids); err != nil {
		return err
	}
	return f.withQueue(ctx, e, sources, func(q queue.Queue) error {
		list, err := q.List(ctx, detailed)
		if err != nil {
			return err
		}
		list, err = sel.Choose(list, ids)
		if err != nil {
			return err
		}
		return do(q, list)
	})
}

// withQueue calls do with the queue of the owner of the sources, or else of the
// workspace that it opens for the time of the call.
func (f *queueFlags) withQueue(ctx context.Context, e *env, sources []string, do func(queue.Queue) error) error {
	c, err := f.search().Find(ctx, sources)
	if err != nil {
		return err
	}
	if c != nil {
		return do(queue.NewRemote(c))
	}
	return f.withSession(ctx, e, sources, func(s *ownership.Session) error {
		q, cancel := queue.NewLocal(s.Workspace)
		defer cancel()
		return do(q)
	})
}

// withSession opens the workspace of the sources, which nobody owns.
func (f *workspaceFlags) withSession(ctx context.Context, e *env, args []string, do func(*ownership.Session) error) error {
	if args = e.config.SourcesOr(args); len(args) == 0 {
		return clierr.WithHint(fmt.Errorf("no relayfs is running"), "name the vault: relayfs ... ~/Notes")
	}
	log, err := f.log.logger(e.stderr)
	if err != nil {
		return err
	}
	sources, err := source.Parse(args, f.folders)
	if err != nil {
		return err
	}
	flags := &workspaceFlags{
		mode: "suggest", view: "accepted", dialect: "plain", frontMatter: "direct", structure: "propose", state: f.state,
	}
	o, err := flags.session(log)
	if err != nil {
		return err
	}
	s, err := ownership.Open(ctx, sources, o)
	if err != nil {
		return err
	}
	err = do(s)
	if closeErr := s.Close(); err == nil {
		err = closeErr
	}
	return err
}
