package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/owner"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/api"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/cli"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/serving"
)

// accessFlags are the flags of cat, ls, grep and edit, which work without a mount. grep and edit call the MCP tools
// with the same names.
type accessFlags struct {
	workspaceFlags
	sources []string
}

func (f *accessFlags) register(e *env, cmd *cobra.Command) {
	cmd.ValidArgsFunction = f.completePaths
	cmd.Flags().StringArrayVar(&f.sources, "source", nil, "vault to use if no relayfs is running and the configuration names no vault")
	f.registerClient(e, cmd)
}

// askAbout is ask with the paths of notes or folders. do gets their paths in the workspace. A user may also name the file
// on the mount or in the vault.
func (f *accessFlags) askAbout(ctx context.Context, e *env, paths []string, do func(c *api.Client, paths []string) error) error {
	if len(paths) > 0 {
		f.near = paths[0]
	}
	return f.ask(ctx, e, f.sources, func(c *api.Client) error {
		in := make([]string, len(paths))
		for i, p := range paths {
			in[i] = serving.PathIn(c.Owner(), p)
		}
		return do(c, in)
	})
}

func newCatCommand(e *env) *cobra.Command {
	var f accessFlags
	cmd := &cobra.Command{
		Use:   "cat PATH...",
		Short: "Print notes as a mount shows them",
		Args:  usageArgs(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.askAbout(cmd.Context(), e, args, func(c *api.Client, paths []string) error {
				var failed error
				for _, path := range paths {
					data, err := c.Text(cmd.Context(), path)
					if errors.As(err, new(*owner.RefusedError)) {
						failed = errors.Join(failed, err) // like cat, print the other notes
						continue
					}
					if err == nil {
						err = cli.Note(e.stdout, string(data))
					}
					if err != nil {
						return err
					}
				}
				return failed
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
			return f.askAbout(cmd.Context(), e, args, func(c *api.Client, paths []string) error {
				list, err := c.Names(cmd.Context(), strings.Join(paths, ""), recursive)
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
	cmd.Flags().BoolVarP(&recursive, "recursive", "R", false, "list the contents of subfolders too")
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
		Short: "Search the notes for a regular expression",
		Long: `Grep prints matching lines as path:line:text, in the text that a mount shows. The
pattern has RE2 syntax. The exit code is 1 if nothing matches.`,
		Args: usageArgs(cobra.RangeArgs(1, 2)),
		RunE: func(cmd *cobra.Command, args []string) error {
			call := map[string]any{"pattern": args[0], "output_mode": "content", "-i": ignoreCase, "multiline": multiline, "head_limit": 0}
			switch {
			case around < 0:
				return cli.Usagef("--context %d is negative", around)
			case files && count, (files || count) && around > 0:
				return cli.Usagef("-l, -c and -C exclude each other: choose one")
			case files:
				call["output_mode"] = "files_with_matches"
			case count:
				call["output_mode"] = "count"
			case around > 0:
				call["-C"] = around
			}
			if glob != "" {
				call["glob"] = glob
			}
			return f.askAbout(cmd.Context(), e, args[1:], func(c *api.Client, paths []string) error {
				if len(paths) > 0 {
					call["path"] = paths[0]
				}
				return runGrep(cmd.Context(), e, c, call)
			})
		},
	}
	fl := cmd.Flags()
	fl.BoolVarP(&ignoreCase, "ignore-case", "i", false, "ignore case")
	fl.BoolVarP(&files, "files-with-matches", "l", false, "print only the paths of matching notes")
	fl.BoolVarP(&count, "count", "c", false, "print the number of matching lines of each note")
	fl.BoolVarP(&multiline, "multiline", "U", false, "let matches span several lines")
	fl.IntVarP(&around, "context", "C", 0, "lines of context around each match")
	fl.StringVarP(&glob, "glob", "g", "", "only notes whose path matches")
	f.register(e, cmd)
	return cmd
}

func runGrep(ctx context.Context, e *env, a *api.Client, args map[string]any) error {
	for {
		res, err := a.Call(ctx, api.CallRequest{Tool: "grep", Args: args})
		if err != nil {
			return err
		}
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
	var all, empty bool
	cmd := &cobra.Command{
		Use:   "edit PATH (--old TEXT --new TEXT | <FILE)",
		Short: "Suggest a change to a note",
		Long: `Edit replaces --old by --new. --old must occur exactly once, unless you give --all.
Without them it replaces the whole note with stdin, and creates the note if needed.
An empty stdin needs --empty, because it deletes the whole text.
The differences from the current note become suggestions.`,
		Example: "  relayfs edit Notes/Todo.md --old 'buy milk' --new 'buy oat milk'\n  relayfs cat Notes/Todo.md | sed 's/milk/oat milk/' | relayfs edit Notes/Todo.md",
		Args:    usageArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			change := api.CallRequest{Author: f.author, Tool: "edit", Args: map[string]any{"old_string": old, "new_string": replacement, "replace_all": all}}
			switch given := cmd.Flags().Changed; {
			case given("old") != given("new"):
				return cli.Usagef("give both --old and --new")
			case !given("old") && all:
				return cli.Usagef("--all needs --old and --new")
			case !given("old"):
				var data []byte
				err := runInterruptible(cmd.Context(), func() (err error) {
					data, err = io.ReadAll(io.LimitReader(e.stdin, model.MaxNote+1))
					return err
				})
				if err != nil {
					return err
				}
				if len(data) > model.MaxNote {
					return cli.Usagef("stdin is longer than %d MiB, the maximum size of a note", model.MaxNote>>20)
				}
				if len(data) == 0 && !empty {
					return cli.Usagef("stdin is empty: give the whole new text of %q on stdin, a part with --old and --new, or --empty to delete the whole text", args[0])
				}
				change.Tool, change.Args = "write", map[string]any{"content": string(data)}
			}
			for _, text := range change.Args {
				if s, ok := text.(string); ok && !utf8.ValidString(s) {
					return cli.Usagef("the text is not valid UTF-8: notes are UTF-8 text, so convert it first, for example with iconv")
				}
			}
			return f.askAbout(cmd.Context(), e, args, func(c *api.Client, paths []string) error {
				change.Args["file_path"] = paths[0]
				change.Read = paths[0] // the session counts the note as read, because the tools change only such notes
				return runEdit(cmd.Context(), e, c, change)
			})
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&old, "old", "", "text to replace")
	fl.StringVar(&replacement, "new", "", "replacement")
	fl.BoolVar(&all, "all", false, "replace every occurrence")
	fl.BoolVar(&empty, "empty", false, "delete the whole text if stdin is empty, or create an empty note")
	fl.StringVar(&f.author, "author", defaultAuthor(), "author of the suggestions")
	f.register(e, cmd)
	return cmd
}

func runEdit(ctx context.Context, e *env, a *api.Client, change api.CallRequest) error {
	res, err := a.Call(ctx, change)
	if err != nil {
		return err
	}
	if res.IsError {
		return errors.New(res.Text[0])
	}
	_, err = fmt.Fprintln(e.stdout, cli.Printable(res.Text[0]))
	return err
}
