package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/relayfs/relayfs/cmd/relayfs/internal/config"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/output"
)

func newInitCommand(e *env) *cobra.Command {
	var mountpoint string
	cmd := &cobra.Command{
		Use:   "init [SOURCE...]",
		Short: "Write a configuration with the vaults that Obsidian knows",
		Long: `Init writes the configuration file, so that 'relayfs mount' and 'relayfs mcp'
need no arguments: with the given sources, or with the vaults that Obsidian has
open or that lie in the home folder. A file that is there is left alone.`,
		RunE: func(_ *cobra.Command, args []string) error { return initConfig(e, args, mountpoint) },
	}
	cmd.Flags().StringVar(&mountpoint, "mountpoint", "~/relayfs", "where 'relayfs mount' will mount")
	return cmd
}

func initConfig(e *env, args []string, mountpoint string) error {
	sources, err := config.FirstSources(args)
	if err != nil {
		return err
	}
	if err := config.Create(e.config.File, sources, mountpoint); err != nil {
		return err
	}
	fmt.Fprintln(e.stdout, e.config.File)
	for _, s := range sources {
		output.Line(e.stderr, "vault %s", s)
	}
	fmt.Fprintf(e.stderr, "mount with:  mkdir -p %[1]s && relayfs mount\nor over MCP: claude mcp add notes -- relayfs mcp\n", mountpoint)
	return nil
}
