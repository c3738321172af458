package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/relayfs/relayfs/cmd/relayfs/internal/cli"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/config"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/process"
)

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
			e.config, err = config.Read(configFlag, configFlag != "" && cmd.Name() != "init", cmd.Root(), e.settings)
			if err == nil {
				err = e.config.Apply(cmd, e.settings(cmd))
			}
			if cmd.Name() == doctorCommand && e.config != nil {
				e.configErr, err = err, nil
			}
			return err
		},
		RunE: showHelp,
	}
	root.PersistentFlags().StringVar(&configFlag, "config", "", "configuration file (default in $XDG_CONFIG_HOME)")
	root.SetIn(e.stdin)
	root.SetOut(e.stdout)
	root.SetErr(e.stderr)
	root.SetFlagErrorFunc(e.flagError)
	root.AddCommand(
		newMountCommand(e), newUnmountCommand(e), newPokeCommand(), newMCPCommand(e), newSuggestionsCommand(e), newOutcomesCommand(e), newPageCommand(e),
		newCatCommand(e), newLsCommand(e), newGrepCommand(e), newEditCommand(e), newHistoryCommand(e), newShowCommand(e), newBackupCommand(e), newRestoreCommand(e),
		newLoginCommand(e), newFoldersCommand(e), newLogoutCommand(e),
		newStatusCommand(e), newWhyCommand(e), newDoctorCommand(e), newAdoptCommand(e), newInitCommand(e), newServiceCommand(e), newVersionCommand(e),
		&cobra.Command{Use: "agent", Short: "A text for agents, to paste into CLAUDE.md or AGENTS.md", Long: agentText},
	)
	root.AddCommand(&cobra.Command{Use: "settings", Short: "Settings that few need", Long: e.settingsText(root)})
	refuseUnknown(root)
	return root
}

// agentText is what 'relayfs help agent' prints.
const agentText = `The notes in this folder are shared with people, who edit them at the same time.
Read and edit them as usual: each change of yours becomes a suggestion that a
person accepts or rejects, and you go on seeing it as if it were accepted.

- Do not write CriticMarkup ({++ ++}, {-- --}, {~~ ~~}) yourself.
- Change as little as the task needs: small suggestions are read, rewrites are not.
- If a write fails ("Invalid argument", EINVAL; "Read-only file system"), run
  'relayfs why NOTE': it says the reason and what to do.
- "Write verification failed", or a text that is not what you wrote: a person has
  changed the note meanwhile. Read it again, and make your change anew.
- Only notes, names that end in .md, can be created here, and attachments cannot
  be changed. Put scratch files into /tmp.
- A change of front matter is made at once and does not wait for a person: make
  it only where the task asks for it.
- Deletions and moves of many notes at once are refused ("Operation not
  permitted"): tell the person what you are about to do.
- .git, .claude and other dot folders that you make here vanish with the mount.
- Read a note again before you edit it after a while; people may have changed it.
- Renaming, moving and deleting notes are proposals too, and wait for a person.
- Why a suggestion was rejected: 'relayfs outcomes' has the reasons, and
  over MCP 'read' tells them.
- Comments of people stand as {>>text<<} beside the text that they are about. To
  answer one, add text or another comment; do not delete it. One right behind a
  change of yours asks for another version: change that text again.
`

// Exit codes.
const (
	exitDone   = 0
	exitFailed = 1
	exitUsage  = 2
)

// errInterrupted ends a command that a signal ended.
var errInterrupted = errors.New("interrupted")

// interrupted returns errInterrupted for an error that says no more than that ctx has ended.
func interrupted(ctx context.Context, err error) error {
	for e := err; e != nil && ctx.Err() != nil; e = errors.Unwrap(e) {
		if e == context.Canceled {
			return errInterrupted
		}
	}
	return err
}

func exitCode(err error) int {
	var usage *cli.UsageError
	var child *process.ChildError
	switch {
	case errors.As(err, &child):
		return child.Code
	case err == nil:
		return exitDone
	case errors.As(err, &usage), errors.Is(err, errHelpShown):
		return exitUsage
	}
	return exitFailed
}

func printError(w io.Writer, err error) {
	var child *process.ChildError
	if err == nil || errors.Is(err, errHelpShown) || errors.Is(err, errNoMatch) || errors.As(err, &child) {
		return
	}
	fmt.Fprintf(w, "relayfs: error: %s\n", cli.IndentRest(cli.Text(err)))
	if hint := hintFor(err); hint != "" {
		fmt.Fprintf(w, "relayfs: hint: %s\n", cli.IndentRest(hint))
	}
}
