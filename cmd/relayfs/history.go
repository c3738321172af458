package main

import (
	"context"
	"path"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/relayfs/relayfs/cmd/relayfs/internal/access"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/clierr"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/output"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/ownership"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/past"
	"github.com/relayfs/relayfs/diffwrap"
)

// withPast calls do with the histories of the running owner's workspace, or of one that it opens.
func (f *accessFlags) withPast(ctx context.Context, e *env, do func(past.Reader) error) error {
	c, err := f.search().Find(ctx, f.sources)
	if err != nil {
		return err
	}
	if c != nil {
		return do(past.Remote{Client: c})
	}
	return f.withSession(ctx, e, f.sources, func(s *ownership.Session) error { return do(past.Local{Workspace: s.Workspace}) })
}

func newHistoryCommand(e *env) *cobra.Command {
	var f accessFlags
	var limit int
	cmd := &cobra.Command{
		Use:   "history NOTE",
		Short: "Who changed a note, when and how",
		Long: `History prints the changes of a note, the newest first: those of agents and of
people, decisions, changes of front matter, and renames, over which it follows the
note. Changes that one author made in one minute are one entry. It begins when an
agent first changed the note, or a Yjs client opened it; what was changed while
relayfs did not run has the time when that was found. --history of 'relayfs mount'
says how long it is kept (default 90d).`,
		Example:           "  relayfs history Notes/Plan.md | less\n  relayfs show Notes/Plan.md@17",
		Args:              usageArgs(cobra.ExactArgs(1)),
		ValidArgsFunction: f.completeNotes,
		RunE: func(cmd *cobra.Command, args []string) error {
			if limit < 0 {
				return clierr.Usagef("--limit %d is negative", limit)
			}
			return f.withPast(cmd.Context(), e, func(r past.Reader) error {
				l, err := r.History(cmd.Context(), args[0])
				if err != nil {
					return err
				}
				if limit > 0 {
					l.Entries = l.Entries[:min(limit, len(l.Entries))]
				}
				return show(e, f.json, l, past.Print)
			})
		},
	}
	cmd.Flags().BoolVar(&f.json, "json", false, "print JSON")
	cmd.Flags().IntVar(&limit, "limit", 0, "at most so many entries; 0 for all")
	f.register(cmd)
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
		Example:           "  relayfs show Notes/Plan.md@2h\n  relayfs show 'Notes/Plan.md@yesterday 14:00' >Plan.md",
		Args:              usageArgs(cobra.ExactArgs(1)),
		ValidArgsFunction: f.completeNotes,
		RunE: func(cmd *cobra.Command, args []string) error {
			note, when, err := past.Split(args[0], time.Now())
			if err != nil {
				return err
			}
			v, err := diffwrap.ParseView(view)
			if err != nil {
				return clierr.Usage(err)
			}
			return f.withPast(cmd.Context(), e, func(r past.Reader) error {
				s, err := r.Show(cmd.Context(), note, when)
				if err != nil {
					return err
				}
				s.Text = diffwrap.Render(s.Text, v)
				if f.json {
					return output.JSON(e.stdout, s)
				}
				return output.Note(e.stdout, s.Text)
			})
		},
	}
	cmd.Flags().BoolVar(&f.json, "json", false, "print JSON")
	cmd.Flags().StringVar(&view, "view", "raw", "raw, as it was in the file; accepted or original, as if all suggestions had been accepted or rejected")
	registerValues(cmd, map[string][]string{"view": {"raw", "accepted", "original"}})
	f.register(cmd)
	return cmd
}

// completeNotes completes the path of a note that a running owner serves.
func (f *accessFlags) completeNotes(cmd *cobra.Command, args []string, prefix string) (out []cobra.Completion, _ cobra.ShellCompDirective) {
	c, err := f.search().Find(cmd.Context(), f.sources)
	if err != nil || c == nil || len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	dir, _ := path.Split(prefix)
	list, err := access.Remote{Client: c}.List(cmd.Context(), dir, false)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	directive := cobra.ShellCompDirectiveNoFileComp
	for _, l := range list {
		switch {
		case !strings.HasPrefix(l.Path, prefix) || l.Kind == "file":
		case l.Kind == "folder":
			out, directive = append(out, l.Path+"/"), directive|cobra.ShellCompDirectiveNoSpace
		default:
			out = append(out, l.Path)
		}
	}
	return out, directive
}
