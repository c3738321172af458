package main

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/api"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/cli"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/serving"
)

func newWhyCommand(e *env) *cobra.Command {
	var f workspaceFlags
	cmd := &cobra.Command{
		Use:   "why [PATH]",
		Short: "Explain why a mount refused an operation",
		Long: `Why prints the last operations that the mount refused, newest first: the time, the
program, the note, the errno that the program got ("Invalid argument"), the reason,
and the fix. PATH is a note or folder on the mount or in the vault, or a path in the
workspace (Folder/Note.md); the default is the current folder. The process with the
mount keeps the last 200 refusals until it ends.`,
		Example: "  relayfs why\n  relayfs why Notes/Plan.md",
		Args:    usageArgs(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			path := "."
			if len(args) > 0 {
				path = args[0]
			}
			c, p, err := f.search().At(cmd.Context(), path)
			if err != nil {
				return err
			}
			if c == nil {
				return cli.WithHint(errors.New("no relayfs is running"), "a mount keeps refusals only while it runs; look in its log")
			}
			list, err := api.NewClient(c).Refusals(cmd.Context(), p)
			if err != nil {
				return err
			}
			if len(list) == 0 && !serving.ServesFolder(c.Info(), p) {
				return cli.WithHint(fmt.Errorf("%q is neither on a mount nor in a vault that relayfs serves", path),
					"'relayfs status' lists the mounts and their folders; 'relayfs why' without a path lists all refusals")
			}
			return show(e, list, func(w io.Writer, list []model.Refusal) {
				if info := c.Info(); len(list) == 0 {
					where := ""
					if p != "" {
						where = " in " + cli.OneLine(string(p))
					}
					fmt.Fprintf(e.stderr, "%v has refused no operation%s since %s\n", info, where, info.Started.Local().Format("2006-01-02 15:04"))
				}
				printRefusals(w, list)
			})
		},
	}
	e.addJSONFlag(cmd)
	registerState(e, cmd, &f.state)
	return cmd
}

func printRefusals(w io.Writer, list []model.Refusal) {
	for _, r := range list {
		who := "a program"
		if r.PID != 0 {
			who = fmt.Sprintf("%s (pid %d)", r.Program, r.PID)
		}
		cli.Line(w, "%s  %s of %s by %s: %s", r.Time.Local().Format(time.DateTime), r.Op, r.Path, who, r.Errno)
		cli.Line(w, "    %s", r.Text)
	}
}
