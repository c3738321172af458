package main

import (
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/relayfs/relayfs/cmd/relayfs/internal/api"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/cli"
	"github.com/relayfs/relayfs/diffwrap"
)

func newHistoryCommand(e *env) *cobra.Command {
	var f accessFlags
	cmd := &cobra.Command{
		Use:   "history NOTE",
		Short: "Who changed a note, when and how",
		Long: `History prints the changes of a note, the newest first: those of agents and of
people, decisions, changes of front matter, and renames, over which it follows the
note. Changes that one author made in one minute are one entry. It begins when an
agent first changed the note; what was changed while
relayfs did not run has the time when that was found. --history of 'relayfs mount'
says how long it is kept (default 90d).`,
		Example: "  relayfs history Notes/Plan.md | less\n  relayfs show Notes/Plan.md@17",
		Args:    usageArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.ask(cmd.Context(), e, f.sources, func(c *api.Client) error {
				l, err := c.History(cmd.Context(), args[0])
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
		Short: "Print a note as it was at a time",
		Long: `Show prints what the file of a note held at a time, marks of suggestions included.
TIME is the number of an entry of 'relayfs history', a time (2026-01-31T14:00:00Z,
'2026-01-31 14:00', 'yesterday 14:00', 14:00), or how long ago that was (2h, 3d).
Of changes that one author made in one minute it shows all or none.`,
		Example: "  relayfs show Notes/Plan.md@2h\n  relayfs show 'Notes/Plan.md@yesterday 14:00' >Plan.md",
		Args:    usageArgs(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			note, when, err := splitTime(args[0], time.Now())
			if err != nil {
				return err
			}
			v, err := diffwrap.ParseView(view)
			if err != nil {
				return cli.Usage(err)
			}
			return f.ask(cmd.Context(), e, f.sources, func(c *api.Client) error {
				s, err := c.Show(cmd.Context(), note, when)
				if err != nil {
					return err
				}
				s.Text = diffwrap.Render(s.Text, v)
				return show(e, s, func(w io.Writer, s api.PastNote) { _ = cli.Note(w, s.Text) })
			})
		},
	}
	e.addJSONFlag(cmd)
	cmd.Flags().StringVar(&view, "view", "raw", "raw, as it was in the file; accepted or original, as if all suggestions had been accepted or rejected")
	registerValues(cmd, map[string][]string{"view": {"raw", "accepted", "original"}})
	f.register(e, cmd)
	return cmd
}
