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

// pokeCommand is what a mount runs beside itself to wake watchers, see
// fusefs.RunPoker.
const pokeCommand = "mount-poke"

func newPokeCommand() *cobra.Command {
	return &cobra.Command{
		Use:    pokeCommand,
		Short:  "Wake programs that watch a mount",
		Hidden: true,
		Args:   usageArgs(cobra.NoArgs),
		RunE:   func(cmd *cobra.Command, _ []string) error { return fusefs.RunPoker(cmd.InOrStdin()) },
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

// pokeArgs is the command line of the process that wakes watchers.
func pokeArgs() []string {
	self, err := os.Executable()
	if err != nil {
		return nil
	}
	return []string{self, pokeCommand}
}
