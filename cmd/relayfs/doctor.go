package main

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/relayfs/relayfs/cmd/relayfs/internal/doctor"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/output"
)

func newDoctorCommand(e *env) *cobra.Command {
	var f workspaceFlags
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "doctor [SOURCE...]",
		Short: "Check what a mount needs, and say how to mend it",
		Long: `Doctor checks what a mount needs: FUSE, its helper and the rights to mount, dead
mounts, the state folder and its disk, for each SOURCE the folder, its disk and
the limit of watches, and the folders of what runs. A line begins with ok, warn
or fail; the exit code is 1 if something fails.`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			var r *doctor.Report
			err := abandonable(cmd.Context(), func() (err error) {
				r, err = doctor.Examine(cmd.Context(), doctor.Options{
					Sources: e.config.SourcesOr(args), Only: len(args) > 0, Folders: f.folders, State: f.state,
					Version: version(), Author: defaultAuthor(), Values: e.config.Values(),
				})
				return err
			})
			if err != nil {
				return err
			}
			if asJSON {
				err = output.JSON(e.stdout, r)
			} else {
				doctor.Print(e.stdout, r)
			}
			return errors.Join(err, r.Verdict())
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	f.registerState(cmd)
	return cmd
}
