package main

import (
	"github.com/spf13/cobra"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/output"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/queue"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/render"
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
		newListCommand(e), newShowCommand(e), newDecideCommand(e, model.Accepted), newDecideCommand(e, model.Rejected),
		newUndoCommand(e), newLogCommand(e), newReviewCommand(e),
	)
	return cmd
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
