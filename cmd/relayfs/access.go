package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/relayfs/relayfs/cmd/relayfs/internal/api"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/cli"
)

// The commands cat, ls, grep and edit do without a mount what programs do on one: for scripts, and
// for containers that cannot mount. grep and edit are the MCP tools of these names.

type accessFlags struct {
	workspaceFlags
	sources []string
}

func (f *accessFlags) register(e *env, cmd *cobra.Command) {
	cmd.ValidArgsFunction = f.completePaths
	cmd.Flags().StringArrayVar(&f.sources, "source", nil, "the vault, if no relayfs is running and the configuration names none")
	f.registerClient(e, cmd)
}

func newCatCommand(e *env) *cobra.Command {
	var f accessFlags
	cmd := &cobra.Command{
		Use:   "cat PATH...",
		Short: "Print notes as they read on a mount",
		Args:  usageArgs(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.ask(cmd.Context(), e, f.sources, func(c *api.Client) error {
				for _, path := range args {
					data, err := c.Text(cmd.Context(), path)
					if err != nil {
						return err
					}
					if err := cli.Note(e.stdout, string(data)); err != nil {
						return err
					}
				}
				return nil
			})
		},
	}
	f.register(e, cmd)
	return cmd
}

func newLsCommand(e *env) *cobra.Command {
	var f accessFlags
	var recursive bool
	cmd := &cobra.Command{
		Use:   "ls [PATH]",
		Short: "List folders and notes",
		Args:  usageArgs(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.ask(cmd.Context(), e, f.sources, func(c *api.Client) error {
				list, err := c.Names(cmd.Context(), strings.Join(args, ""), recursive)
				if err != nil {
					return err
				}
				return show(e, list, func(w io.Writer, list []api.Entry) {
					for _, l := range list {
						cli.Line(w, "%v", l)
					}
				})
			})
		},
	}
	cmd.Flags().BoolVarP(&recursive, "recursive", "R", false, "everything below it too")
	e.addJSONFlag(cmd)
	f.register(e, cmd)
	return cmd
}

func newGrepCommand(e *env) *cobra.Command {
	var f accessFlags
	var ignoreCase, files, count, multiline bool
	var glob string
	var around int
	cmd := &cobra.Command{
		Use:   "grep PATTERN [PATH]",
		Short: "Search the notes by a regular expression",
		Long: `Grep prints matching lines as path:line:text, in the text that readers see. The
pattern is in RE2 syntax. It is the MCP tool of that name. The exit code is 1 if
nothing matches.`,
		Args: usageArgs(cobra.RangeArgs(1, 2)),
		RunE: func(cmd *cobra.Command, args []string) error {
			call := map[string]any{"pattern": args[0], "output_mode": "content", "-i": ignoreCase, "multiline": multiline, "head_limit": 0}
			switch {
			case files && count, (files || count) && around > 0:
				return cli.Usagef("-l, -c and -C are three ways to print what matches: choose one")
			case files:
				call["output_mode"] = "files_with_matches"
			case count:
				call["output_mode"] = "count"
			case around > 0:
				call["-C"] = around
			}
			if len(args) == 2 {
				call["path"] = args[1]
			}
			if glob != "" {
				call["glob"] = glob
			}
			return f.ask(cmd.Context(), e, f.sources, func(c *api.Client) error { return runGrep(cmd.Context(), e, c, call) })
		},
	}
	fl := cmd.Flags()
	fl.BoolVarP(&ignoreCase, "ignore-case", "i", false, "ignore case")
	fl.BoolVarP(&files, "files-with-matches", "l", false, "print the paths of notes that match")
	fl.BoolVarP(&count, "count", "c", false, "print how many lines of each note match")
	fl.BoolVarP(&multiline, "multiline", "U", false, "let matches cross lines")
	fl.IntVarP(&around, "context", "C", 0, "lines of context around each match")
	fl.StringVarP(&glob, "glob", "g", "", "only notes whose path matches")
	f.register(e, cmd)
	return cmd
}

func runGrep(ctx context.Context, e *env, a *api.Client, args map[string]any) error {
	for {
		results, err := a.Call(ctx, api.CallRequest{Calls: []api.ToolCall{{Tool: "grep", Args: args}}})
		if err != nil {
			return err
		}
		res := results[0]
		switch {
		case res.IsError:
			return cli.Usage(errors.New(res.Text[0]))
		case res.Text[0] == "No matches found":
			return errNoMatch
		case res.Text[0] == "No more matches":
			return nil
		}
		if err = cli.Note(e.stdout, res.Text[0]+"\n"); err != nil || res.Next == "" {
			return err
		}
		args["cursor"] = res.Next
	}
}

func newEditCommand(e *env) *cobra.Command {
	var f accessFlags
	var old, replacement string
	var all bool
	cmd := &cobra.Command{
		Use:   "edit PATH (--old TEXT --new TEXT | <FILE)",
		Short: "Suggest a change of a note",
		Long: `Edit replaces --old, which must occur exactly once (or --all), by --new; without
them it makes what stands on stdin the note's whole text, and makes the note if
there is none. What differs from the note as it is now becomes suggestions.`,
		Example: "  relayfs edit Notes/Todo.md --old 'buy milk' --new 'buy oat milk'\n  relayfs cat Notes/Todo.md | sed 's/milk/oat milk/' | relayfs edit Notes/Todo.md",
		Args:    usageArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			change := api.ToolCall{Tool: "edit", Args: map[string]any{"file_path": args[0], "old_string": old, "new_string": replacement, "replace_all": all}}
			switch given := cmd.Flags().Changed; {
			case given("old") != given("new"):
				return cli.Usagef("--old and --new belong together")
			case !given("old") && all:
				return cli.Usagef("--all needs --old and --new")
			case !given("old"):
				var data []byte
				err := runInterruptible(cmd.Context(), func() (err error) {
					data, err = io.ReadAll(e.stdin)
					return err
				})
				if err != nil {
					return err
				}
				change = api.ToolCall{Tool: "write", Args: map[string]any{"file_path": args[0], "content": string(data)}}
			}
			return f.ask(cmd.Context(), e, f.sources, func(c *api.Client) error { return runEdit(cmd.Context(), e, c, f.author, change) })
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&old, "old", "", "text to replace")
	fl.StringVar(&replacement, "new", "", "text to put in its place")
	fl.BoolVar(&all, "all", false, "replace every occurrence")
	fl.StringVar(&f.author, "author", defaultAuthor(), "the name that suggestions carry")
	f.register(e, cmd)
	return cmd
}

// runEdit makes change in a session that has read all of the note, if the note exists.
func runEdit(ctx context.Context, e *env, a *api.Client, author string, change api.ToolCall) error {
	path := change.Args["file_path"].(string)
	req := api.CallRequest{Author: author, Calls: []api.ToolCall{change}}
	if _, err := a.Text(ctx, path); err == nil {
		req.Read = path
	}
	results, err := a.Call(ctx, req)
	if err != nil {
		return err
	}
	last := results[len(results)-1]
	if last.IsError {
		return errors.New(last.Text[0])
	}
	_, err = fmt.Fprintln(e.stdout, cli.Printable(last.Text[0]))
	return err
}
