package main

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/relayfs/relayfs/cmd/relayfs/internal/output"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/queue"
)

// completeIDs offers the ids that a running owner has pending, and files, since
// a vault may be meant.
func completeIDs(f *queueFlags) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, prefix string) ([]cobra.Completion, cobra.ShellCompDirective) {
		given, sources := splitArgs(args, isID)
		c, err := f.search().Find(cmd.Context(), sources)
		if err != nil || c == nil {
			return nil, cobra.ShellCompDirectiveDefault
		}
		list, err := queue.NewRemote(c).List(cmd.Context(), false)
		if err != nil {
			return nil, cobra.ShellCompDirectiveDefault
		}
		var out []cobra.Completion
		for _, s := range list {
			if strings.HasPrefix(s.ID, prefix) && !slices.Contains(given, s.ID) {
				out = append(out, cobra.CompletionWithDesc(s.ID, output.OneLine(s.Path+" "+s.Gist())))
			}
		}
		return out, cobra.ShellCompDirectiveDefault
	}
}

// completeBatches offers what a running owner can take back.
func completeBatches(ctx context.Context, f *queueFlags, args []string) ([]cobra.Completion, cobra.ShellCompDirective) {
	given, sources := splitArgs(args, isBatch)
	c, err := f.search().Find(ctx, sources)
	if err != nil || c == nil || len(given) > 0 {
		return nil, cobra.ShellCompDirectiveDefault
	}
	const recent = 100
	list, err := queue.NewRemote(c).Log(ctx, recent)
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
