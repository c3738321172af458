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
		Short: "Write a configuration with the vaults that Obsidian knows",
		Long: `Init writes the configuration file, so that 'relayfs mount' and 'relayfs mcp'
need no arguments: with the given sources, or with the vaults that Obsidian has
open or that lie in the home folder. It makes the mountpoint. In a terminal it
asks for what is not given, and offers to mount at every login; elsewhere it asks
nothing. A file that is there is left alone.`,
		Example: "  relayfs init\n  relayfs init ~/Notes --mountpoint ~/mnt",
		RunE: func(cmd *cobra.Command, args []string) error {
			i := initWizard{e: e, sources: args, mountpoint: mountpoint}
			if !cmd.Flags().Changed("mountpoint") {
				i.mountpoint = ""
			}
			return runInterruptible(cmd.Context(), func() error { return i.run(cmd.Context()) }) // a question waits for its answer
		},
	}
	cmd.Flags().StringVar(&mountpoint, "mountpoint", defaultMountpoint, "where 'relayfs mount' will mount")
	return cmd
}

const defaultMountpoint = "~/relayfs"

// initWizard makes a configuration.
type initWizard struct {
	e          *env
	sources    []string // SOURCE arguments
	mountpoint string   // "" if it is not given
	answers    *bufio.Reader
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
		install, err := i.yes("mount now and at every login, with 'relayfs service install'?")
		if err != nil {
			return err
		}
		if install {
			return installService(ctx, i.e, config.ExpandHome(i.mountpoint))
		}
	}
	fmt.Fprintf(i.e.stderr, "mount with:  relayfs mount\nor over MCP: claude mcp add notes -- relayfs mcp\n")
	return nil
}

// chooseSources returns the sources that are given, or those found that the person wants.
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
			given, err = i.ask("which ones (numbers, or the folder of another)?", "all")
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

// choose returns those of the sources found that an answer names, or the one that it is.
func choose(found []string, answer string) ([]string, error) {
	if answer == "all" && len(found) > 0 {
		return found, nil
	}
	var chosen []string
	for _, word := range strings.FieldsFunc(answer, func(r rune) bool { return r == ' ' || r == ',' }) {
		n, err := strconv.Atoi(word)
		if err != nil || n < 1 || n > len(found) {
			return config.AbsoluteSources([]string{config.ExpandHome(answer)})
		}
		chosen = append(chosen, found[n-1])
	}
	if len(chosen) == 0 {
		return nil, errors.New("no vault is named")
	}
	return slices.Compact(slices.Sorted(slices.Values(chosen))), nil
}

// chooseMountpoint makes the mountpoint that is given, or the one that the person wants. It ends with one that can be mounted.
func (i *initWizard) chooseMountpoint(sources []string) error {
	given := i.mountpoint
	for {
		i.mountpoint = cmp.Or(given, defaultMountpoint)
		if given == "" && i.answers != nil {
			var err error
			if i.mountpoint, err = i.ask("where are they to be mounted?", defaultMountpoint); err != nil {
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
	dir, err := filepath.Abs(config.ExpandHome(i.mountpoint))
	if err != nil {
		return err
	}
	if !strings.HasPrefix(i.mountpoint, "~/") {
		i.mountpoint = dir // the file is read in any folder
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
		return nil // 'relayfs mcp' needs no mountpoint, and doctor says what is missing
	}
	return fusefs.CheckMountpoint(dir, false, false)
}

// ask returns the answer to a question, or otherwise if it is empty.
func (i *initWizard) ask(question, otherwise string) (string, error) {
	if otherwise != "" {
		question += " [" + otherwise + "]"
	}
	fmt.Fprint(i.e.stderr, question+" ")
	line, err := i.answers.ReadString('\n')
	if errors.Is(err, io.EOF) {
		fmt.Fprintln(i.e.stderr)
		return "", cli.WithHint(errors.New("a question was not answered"), "give the answers: relayfs init ~/Notes --mountpoint ~/relayfs")
	}
	return cmp.Or(strings.TrimSpace(line), otherwise), err
}

func (i *initWizard) yes(question string) (bool, error) {
	answer, err := i.ask(question, "y/N")
	return isYes(answer), err
}

// printProblem says why an answer will not do, before it is asked for again.
func (i *initWizard) printProblem(err error) {
	cli.Line(i.e.stderr, "%s", cli.Text(err))
	if hint := hintFor(err); hint != "" {
		cli.Line(i.e.stderr, "%s", hint)
	}
}
