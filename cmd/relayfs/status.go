package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/relayfs/relayfs/cmd/relayfs/internal/output"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/ownership"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/status"
)

func newStatusCommand(e *env) *cobra.Command {
	var f workspaceFlags
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "status [SOURCE...]",
		Short: "Folders, notes, pending suggestions, and who serves them",
		Args:  cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			return runStatus(cmd.Context(), e, &f, args, asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	f.registerState(cmd)
	f.log.register(cmd)
	return cmd
}

func runStatus(ctx context.Context, e *env, f *workspaceFlags, args []string, asJSON bool) error {
	c, err := f.search().Find(ctx, args)
	if err != nil {
		return err
	}
	if c == nil {
		return f.withSession(ctx, e, args, func(s *ownership.Session) error {
			st, err := s.Workspace.Status(ctx)
			if err != nil {
				return err
			}
			return showStatus(e, status.Report{Status: st}, asJSON)
		})
	}
	report, err := status.Ask(ctx, c)
	if err != nil {
		return err
	}
	return showStatus(e, report, asJSON)
}

func showStatus(e *env, report status.Report, asJSON bool) error {
	if asJSON {
		return output.JSON(e.stdout, report)
	}
	status.Print(e.stdout, report)
	return nil
}
