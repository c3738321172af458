package main

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"github.com/relayfs/relayfs/cmd/relayfs/internal/clierr"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/config"
)

// run executes one command line and returns its exit code.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	root := newRoot(&env{stdin: stdin, stdout: stdout, stderr: stderr})
	root.SetArgs(args)
	err := interrupted(ctx, root.ExecuteContext(ctx))
	printError(stderr, err)
	return exitCode(err)
}

func newRoot(e *env) *cobra.Command {
	var configFlag string
	root := &cobra.Command{
		Use:   "relayfs",
		Short: "Notes as a folder; what programs write there becomes suggestions",
		Long: `relayfs mounts a vault of notes as a folder of Markdown files. Programs and AI
agents read and write them as usual; each change they make becomes a suggestion
in the note, {--old--}{++new++}, that a person accepts or rejects.`,
		Version:       version(),
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          usageArgs(cobra.NoArgs),
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) (err error) {
			if e.config, err = config.Read(configFlag, configFlag != "" && cmd.Name() != "init", cmd.Root()); err != nil {
				return err
			}
			return e.config.Apply(cmd)
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			cmd.Help()
			return errHelpShown
		},
	}
	root.PersistentFlags().StringVar(&configFlag, "config", "", "configuration file (default $XDG_CONFIG_HOME/relayfs/config.toml)")
	root.SetIn(e.stdin)
	root.SetOut(e.stdout)
	root.SetErr(e.stderr)
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return clierr.Usage(err) })
	root.AddCommand(
		newMountCommand(e), newUnmountCommand(e), newGuardCommand(), newPokeCommand(), newMCPCommand(e), newServeCommand(e), newSuggestionsCommand(e), newPageCommand(e),
		newCatCommand(e), newLsCommand(e), newGrepCommand(e), newEditCommand(e),
		newStatusCommand(e), newDoctorCommand(e), newAdoptCommand(e), newInitCommand(e), newVersionCommand(e), newAgentTopic(),
	)
	return root
}
