package main

import (
	"context"
	"path"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/relayfs/relayfs/cmd/relayfs/internal/api"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/cli"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/reviewqueue"
)

// completeNoFiles lets the shell complete no file names for flags of cmd and its subcommands, except for flags whose
// values are paths of files.
func completeNoFiles(cmd *cobra.Command) {
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if !slices.Contains([]string{"config", "mountpoint", "source"}, f.Name) {
			_ = cmd.RegisterFlagCompletionFunc(f.Name, cobra.NoFileCompletions) // fails for a flag that has completions
		}
	})
	for _, sub := range cmd.Commands() {
		completeNoFiles(sub)
	}
}

// complete returns the words that begin with prefix, or nil if it finds no running relayfs. It omits words with control
// characters, because the shell would type them into the command line.
func (f *workspaceFlags) complete(cmd *cobra.Command, sources []string, prefix string,
	words func(context.Context, *api.Client) ([]cobra.Completion, error)) []cobra.Completion {
	c, err := f.search().Find(cmd.Context(), sources)
	if err != nil || c == nil {
		return nil
	}
	list, err := words(cmd.Context(), api.NewClient(c))
	if err != nil {
		return []cobra.Completion{}
	}
	return slices.DeleteFunc(list, func(word cobra.Completion) bool {
		word, _, _ = strings.Cut(word, "\t") // removes the description
		return !strings.HasPrefix(word, prefix) || cli.OneLine(word) != word
	})
}

// completePaths completes paths in the workspace, folder by folder. If it finds none, the shell completes files.
func (f *accessFlags) completePaths(cmd *cobra.Command, args []string, prefix string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if cmd.Name() == "grep" && len(args) == 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp // the pattern is not a path
	}
	directive := cobra.ShellCompDirectiveNoFileComp
	out := f.complete(cmd, f.sources, prefix, func(ctx context.Context, c *api.Client) (words []cobra.Completion, err error) {
		dir, _ := path.Split(prefix)
		list, err := c.Names(ctx, strings.TrimSuffix(dir, "/"), false)
		for _, l := range list {
			words = append(words, l.String())
		}
		return words, err
	})
	if len(out) == 0 {
		directive = cobra.ShellCompDirectiveDefault
	}
	if slices.ContainsFunc(out, func(word cobra.Completion) bool { return strings.HasSuffix(word, "/") }) {
		directive |= cobra.ShellCompDirectiveNoSpace
	}
	return out, directive
}

// completeIDs completes IDs of suggestions, threads or both. It also completes files, because an argument may be a
// vault.
func (f *workspaceFlags) completeIDs(suggestions, threads bool) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, prefix string) ([]cobra.Completion, cobra.ShellCompDirective) {
		given, sources := splitArgs(args, isID)
		return f.complete(cmd, sources, prefix, func(ctx context.Context, c *api.Client) (words []cobra.Completion, err error) {
			offer := func(id, what string) {
				if !slices.Contains(given, id) {
					words = append(words, cobra.CompletionWithDesc(id, cli.OneLine(what)))
				}
			}
			if suggestions {
				list, err := c.List(ctx, false)
				if err != nil {
					return nil, err
				}
				for _, s := range list {
					offer(s.ID, s.Path+" "+s.Summary())
				}
			}
			if threads {
				list, err := c.Threads(ctx, "")
				if err != nil {
					return nil, err
				}
				for _, t := range list {
					offer(t.ID, t.Path+" "+t.Comments[0].OneLine())
				}
			}
			return words, nil
		}), cobra.ShellCompDirectiveDefault
	}
}

func (f *workspaceFlags) completePending(of func(*reviewqueue.Suggestion) string) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, prefix string) ([]cobra.Completion, cobra.ShellCompDirective) {
		_, sources := splitArgs(args, isID)
		return f.complete(cmd, sources, prefix, func(ctx context.Context, c *api.Client) (words []cobra.Completion, err error) {
			list, err := c.List(ctx, false)
			for i := range list {
				if word := of(&list[i]); !slices.Contains(words, word) {
					words = append(words, word)
				}
			}
			return words, err
		}), cobra.ShellCompDirectiveNoFileComp
	}
}

func (f *workspaceFlags) completeUndone(cmd *cobra.Command, args []string, prefix string) ([]cobra.Completion, cobra.ShellCompDirective) {
	_, sources := splitArgs(args, isBatch)
	return f.complete(cmd, sources, prefix, func(ctx context.Context, c *api.Client) (words []cobra.Completion, err error) {
		const recent = 100
		list, err := c.Log(ctx, recent)
		for _, batch := range reviewqueue.Batches(list) {
			if x := batch[0]; x.Undoable() {
				words = append(words, cobra.CompletionWithDesc(x.Batch, cli.OneLine(x.Action+" "+x.Path)))
			}
		}
		return words, err
	}), cobra.ShellCompDirectiveDefault | cobra.ShellCompDirectiveKeepOrder
}
