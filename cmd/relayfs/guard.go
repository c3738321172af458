package main

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/relayfs/relayfs/fusefs"
)

// guardCommand is what a mount runs beside itself, see fusefs.RunGuard.
const guardCommand = "mount-guard"

func newGuardCommand() *cobra.Command {
	return &cobra.Command{
		Use:    guardCommand,
		Short:  "Answer for a mount whose process was killed",
		Hidden: true,
		Args:   usageArgs(cobra.NoArgs),
		RunE:   func(*cobra.Command, []string) error { return fusefs.RunGuard() },
	}
}

// guardArgs is the guard's command line, empty if it is not known where this
// program is.
func guardArgs() []string {
	self, err := os.Executable()
	if err != nil {
		return nil
	}
	return []string{self, guardCommand}
}
