package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/relayfs/relayfs/cmd/relayfs/internal/cli"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/config"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/source"
	"github.com/relayfs/relayfs/fusefs"
)

func newInitCommand(e *env) *cobra.Command {
	var mountpoint string
	cmd := &cobra.Command{
		Use:   "init [SOURCE...]",
		Short: "Write a configuration with your Obsidian vaults",
		Long: `Init writes the configuration file, so that 'relayfs mount' and 'relayfs mcp' need
no arguments. It takes the given sources, or finds the vaults in Obsidian's list or
the home folder, and creates the mountpoint. In a terminal it asks for everything
that is not given, and offers to mount at every login. It never changes an existing
file.`,
		Example: "  relayfs init\n  relayfs init ~/Notes --mountpoint ~/mnt",
		RunE: func(cmd *cobra.Command, args []string) error {
			i := initWizard{e: e, sources: args, mountpoint: mountpoint}
			if !cmd.Flags().Changed("mountpoint") {
				i.mountpoint = ""
			}
			return runInterruptible(cmd.Context(), func() error { return i.run(cmd.Context()) })
		},
	}
	cmd.Flags().StringVar(&mountpoint, "mountpoint", defaultMountpoint, "mountpoint for 'relayfs mount'")
	return cmd
}

const defaultMountpoint = "~/relayfs"

type initWizard struct {
	e          *env
	sources    []string      // SOURCE arguments
	mountpoint string        // "" if not given
	answers    *bufio.Reader // nil if stdin is not a terminal
}

func (i *initWizard) run(ctx context.Context) error {
	if err := config.CheckAbsent(i.e.config.File); err != nil {
		return err
	}
	if in, ok := i.e.stdin.(*os.File); ok && cli.IsTerminal(in) {
		i.answers = bufio.NewReader(in)
	}
	asks := i.answers != nil && (len(i.sources) == 0 || i.mountpoint == "")
	sources, err := i.chooseSources()
	if err != nil {
		return err
	}
	if err := i.chooseMountpoint(sources); err != nil {
		return err
	}
	if err := config.Create(i.e.config.File, sources, i.mountpoint); err != nil {
		return err
	}
	fmt.Fprintln(i.e.stdout, i.e.config.File)
	for _, s := range sources {
		cli.Line(i.e.stderr, "vault %s", s)
	}
	if asks {
		answer, err := i.ask("mount now and at every login, with 'relayfs service install'?", "y/N")
		if err != nil {
			return err
		}
		if isYes(answer) {
			return installService(ctx, i.e, source.ExpandHome(i.mountpoint))
		}
	}
	fmt.Fprintf(i.e.stderr, "mount with:  relayfs mount\nor over MCP: claude mcp add notes -- relayfs mcp\n")
	return nil
}

func (i *initWizard) chooseSources() ([]string, error) {
	if len(i.sources) > 0 {
		return config.AbsoluteSources(i.sources)
	}
	found, err := config.FindVaults()
	if i.answers == nil {
		return found, err
	}
	for {
		given := ""
		if len(found) > 0 {
			fmt.Fprintln(i.e.stderr, "vaults found:")
			for n, s := range found {
				cli.Line(i.e.stderr, "  %d  %s", n+1, s)
			}
			given, err = i.ask("which vaults (numbers, or the folder of another vault)?", "all")
		} else {
			given, err = i.ask("no vault was found; which folder does Obsidian open as a vault?", "")
		}
		if err != nil {
			return nil, err
		}
		sources, err := choose(found, given)
		if err == nil {
			return sources, nil
		}
		i.printProblem(err)
	}
}

// choose returns the found sources that the answer selects, by "all" or by their numbers. Any other answer is itself a
// source.
func choose(found []string, answer string) ([]string, error) {
	if answer == "all" && len(found) > 0 {
		return found, nil
	}
	var chosen []string
	for _, word := range strings.FieldsFunc(answer, func(r rune) bool { return r == ' ' || r == ',' }) {
		n, err := strconv.Atoi(word)
		if err != nil || n < 1 || n > len(found) {
			return config.AbsoluteSources([]string{answer})
		}
		chosen = append(chosen, found[n-1])
	}
	if len(chosen) == 0 {
		return nil, errors.New("no vault is named: type a number or a folder")
	}
	return slices.Compact(slices.Sorted(slices.Values(chosen))), nil
}

// chooseMountpoint creates the given mountpoint. Without one, it asks the user until the answer can be used, or uses
// the default if stdin is not a terminal.
func (i *initWizard) chooseMountpoint(sources []string) error {
	given := i.mountpoint
	for {
		i.mountpoint = cmp.Or(given, defaultMountpoint)
		if given == "" && i.answers != nil {
			var err error
			if i.mountpoint, err = i.ask("where should relayfs mount them?", defaultMountpoint); err != nil {
				return err
			}
		}
		err := i.makeMountpoint(sources)
		if err == nil || given != "" || i.answers == nil {
			return err
		}
		i.printProblem(err)
	}
}

func (i *initWizard) makeMountpoint(args []string) error {
	dir, err := filepath.Abs(source.ExpandHome(i.mountpoint))
	if err != nil {
		return err
	}
	if !strings.HasPrefix(i.mountpoint, "~/") {
		i.mountpoint = dir // an absolute path, because commands read the configuration from any current folder
	}
	sources, err := source.Parse(args, "")
	if err == nil {
		err = checkDisjoint(sources, dir)
	}
	if err != nil {
		return err
	}
	if err := ensureMountpoint(dir); err != nil {
		return err
	}
	if fusefs.Mountable() != nil {
		return nil // 'relayfs mcp' needs no mountpoint, and doctor reports the problem
	}
	return fusefs.CheckMountpoint(dir, false)
}

func (i *initWizard) ask(question, fallback string) (string, error) {
	if fallback != "" {
		question += " [" + fallback + "]"
	}
	fmt.Fprint(i.e.stderr, question+" ")
	line, err := i.answers.ReadString('\n')
	if errors.Is(err, io.EOF) {
		fmt.Fprintln(i.e.stderr)
		return "", cli.WithHint(errors.New("stdin ended before all questions were answered"), "give the answers as arguments: relayfs init ~/Notes --mountpoint ~/relayfs")
	}
	return cmp.Or(strings.TrimSpace(line), fallback), err
}

func (i *initWizard) printProblem(err error) {
	cli.Line(i.e.stderr, "%s", cli.Text(err))
	if hint := hintFor(err); hint != "" {
		cli.Line(i.e.stderr, "%s", hint)
	}
}
