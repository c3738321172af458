package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/relayfs/relayfs/cmd/relayfs/internal/api"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/cli"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/config"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/process"
	"github.com/relayfs/relayfs/fusefs"
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
		Short: "Notes as a folder; changes of programs become suggestions",
		Long: `relayfs mounts a vault of notes as a folder of Markdown files. Programs and AI
agents read and write them as usual. Each change they make becomes a suggestion
in the note, {--old--}{++new++}, which you accept or reject.`,
		Version:       version(),
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          usageArgs(cobra.NoArgs),
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) (err error) {
			e.config, err = config.Read(configFlag, cmd.Name() == "init", cmd.Root(), e.settings)
			isStatus := cmd.Name() == statusCommand && cmd.Parent() == cmd.Root()
			if err == nil || isStatus && e.config != nil {
				err = errors.Join(err, e.config.Apply(cmd, e.settings(cmd)))
			}
			// unmount and version need no settings.
			if (isStatus || slices.Contains([]string{doctorCommand, "unmount", "version"}, cmd.Name())) && e.config != nil {
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
		&cobra.Command{Use: "agent", Short: "Instructions for agents, to paste into CLAUDE.md or AGENTS.md", Long: agentText},
	)
	root.AddCommand(&cobra.Command{Use: "settings", Short: "Rarely needed settings", Long: e.settingsText(root)})
	refuseUnknown(root)
	completeNoFiles(root)
	return root
}

const agentText = `Users edit the notes in this folder at the same time as you. Read and edit the
notes as usual. Each of your changes becomes a suggestion that the user accepts
or rejects. You see your suggestions as if they were accepted.

- Do not write CriticMarkup (braces with plus, minus or tilde signs) yourself.
- Change as little as the task needs: users read small suggestions, not rewrites.
- If a write fails ("Invalid argument", EINVAL; "Read-only file system"), run
  'relayfs why NOTE': it prints the reason and the fix.
- "Write verification failed", or a text that differs from what you wrote: the
  user has changed the note. Read it again and repeat your change.
- A canvas, a base or an attachment that you write is a proposal, too. Put
  scratch files into /tmp.
- A change of front matter takes effect at once, without a decision. Make it only
  if the task asks for it.
- relayfs refuses to delete many notes at once ("Operation not permitted"). Tell
  the user about your plan first.
- .git, .claude and other dot folders that you make here disappear when the mount
  ends.
- If you read a note some time ago, read it again before you edit it. It may have
  changed.
- Renames, moves and deletions of notes are proposals, too, and wait for the user.
- 'relayfs outcomes' prints why the user rejected suggestions. Over MCP, 'read'
  reports the reasons.
- Comments of users are in braces with angle brackets, next to the text that
  they discuss. To answer a comment, add text or another comment; do not delete the
  user's comment. A comment directly after one of your changes asks for another
  version: change that text again.
`

const (
	exitDone   = 0
	exitFailed = 1
	exitUsage  = 2
)

var errInterrupted = errors.New("interrupted")

// interrupted returns errInterrupted instead of context.Canceled if a signal has ended ctx.
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

func hintFor(err error) string {
	if setup, ok := errors.AsType[*fusefs.SetupError](err); ok && api.Hint(err) == "" {
		return setup.Hint
	}
	return api.Hint(err)
}
