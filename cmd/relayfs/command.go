package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/relayfs/relayfs/cmd/relayfs/internal/api"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/cli"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/config"
)

type env struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	json           bool           // --json
	config         *config.Config // set before a command runs
	configErr      error          // errors in config, for doctor and status; unmount and version ignore them, other commands fail
	set            map[*cobra.Command]*pflag.FlagSet
}

// settings returns the settings of a command. Only the configuration file and the environment can set them.
func (e *env) settings(cmd *cobra.Command) *pflag.FlagSet {
	if e.set[cmd] == nil {
		if e.set == nil {
			e.set = make(map[*cobra.Command]*pflag.FlagSet)
		}
		e.set[cmd] = pflag.NewFlagSet(cmd.Name(), pflag.ContinueOnError)
	}
	return e.set[cmd]
}

// errNoMatch is the error for a grep without a match. It sets exit code 1 and is not printed.
var errNoMatch = errors.New("no matches")

// errHelpShown is the error for a command line without a command. The help has already been printed.
var errHelpShown = errors.New("no command given")

func showHelp(cmd *cobra.Command, _ []string) error {
	cmd.Help()
	return errHelpShown
}

func usageArgs(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		err := check(cmd, args)
		if err == nil {
			return nil
		}
		if cmd.HasSubCommands() && len(args) > 0 {
			var names []string
			for _, c := range cmd.Commands() {
				if c.IsAvailableCommand() {
					names = append(names, c.Name())
				}
			}
			return seeHelp(cmd, config.UsageWithSuggestion(fmt.Errorf("unknown command %q of %s", args[0], cmd.CommandPath()), args[0], "'"+cmd.CommandPath()+" %s'", names))
		}
		wrong := "an argument is missing"
		if len(args) > 0 && check(cmd, append(args, "")) != nil {
			wrong = fmt.Sprintf("%q is one argument too many", args[len(args)-1])
		}
		return cli.Usagef("%s: the command is '%s'", wrong, strings.TrimSuffix(cmd.UseLine(), " [flags]"))
	}
}

func refuseUnknown(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, cmd := range root.Commands() {
		switch cmd.Name() {
		case "help":
			cmd.Args = func(_ *cobra.Command, args []string) error {
				found, rest, err := root.Find(args)
				if err != nil || !found.HasSubCommands() {
					return err
				}
				return usageArgs(cobra.NoArgs)(found, rest)
			}
		case "completion":
			cmd.Args, cmd.RunE = usageArgs(cobra.NoArgs), showHelp
		}
	}
}

// seeHelp adds the command's help as a hint to an error that has no hint.
func seeHelp(cmd *cobra.Command, err error) error {
	if api.Hint(err) != "" {
		return err
	}
	return cli.WithHint(err, fmt.Sprintf("see '%s --help'", cmd.CommandPath()))
}

func (e *env) flagError(cmd *cobra.Command, err error) error {
	if wrong, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		f := wrong.GetFlag()
		return cli.Usagef("--%s: %q is not a valid %s", f.Name, wrong.GetValue(), config.TypeName(f))
	}
	unknown, ok := errors.AsType[*pflag.NotExistError](err)
	if !ok {
		return seeHelp(cmd, cli.Usage(err))
	}
	name := unknown.GetSpecifiedName()
	if e.settings(cmd).Lookup(name) != nil {
		return cli.WithHint(cli.Usage(err), fmt.Sprintf("%s is a setting: put it in the configuration file, or set $%s; see 'relayfs help settings'", name, config.Variable(name)))
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	return seeHelp(cmd, config.UsageWithSuggestion(err, name, "--%s", names))
}

const serverUsage = `Usage:
  {{.UseLine}}

Examples:
{{.Example}}

Flags:
{{.Flags.FlagUsages | trimTrailingWhitespaces}}
`

func (e *env) settingsText(root *cobra.Command) string {
	all := pflag.NewFlagSet("", pflag.ContinueOnError)
	for _, name := range []string{"mount", "login"} { // together these two have all settings
		cmd, _, _ := root.Find([]string{name})
		all.AddFlagSet(e.settings(cmd))
	}
	return `Settings are not flags. Put them in the configuration file by their names
(dialect = "commentator"), or in the environment (RELAYFS_DIALECT). You can
set the flags of 'relayfs mount' and 'relayfs mcp' in the same two places.

` + strings.ReplaceAll(strings.TrimRight(all.FlagUsagesWrapped(86), "\n"), "      --", "  ")
}

func registerValues(cmd *cobra.Command, values map[string][]string) {
	for flag, list := range values {
		_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(list, cobra.ShellCompDirectiveNoFileComp))
	}
}

type logFlags struct{ level, format string }

func (f *logFlags) register(fl, set *pflag.FlagSet) {
	fl.StringVar(&f.level, "log-level", "warn", "log debug, info, warn or error")
	set.StringVar(&f.format, "log-format", "text", "format of the log: text or json")
}

func (f *logFlags) logger(w io.Writer) (*slog.Logger, error) {
	var level slog.Level
	if err := level.UnmarshalText([]byte(f.level)); err != nil {
		return nil, cli.Usagef("log-level %q is not one of debug, info, warn, error", f.level)
	}
	o := &slog.HandlerOptions{Level: level, ReplaceAttr: logErrorText}
	switch f.format {
	case "text":
		return slog.New(slog.NewTextHandler(cli.PrintableWriter{W: w}, o)), nil
	case "json":
		return slog.New(slog.NewJSONHandler(w, o)), nil
	}
	return nil, cli.Usagef("log-format %q is not one of text, json", f.format)
}

func logErrorText(_ []string, a slog.Attr) slog.Attr {
	if err, ok := a.Value.Any().(error); ok {
		a.Value = slog.StringValue(cli.Text(err))
	}
	return a
}

func (e *env) addJSONFlag(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&e.json, "json", false, "print JSON")
}

func show[T any](e *env, v T, print func(io.Writer, T)) error {
	if e.json {
		return cli.JSON(e.stdout, v)
	}
	w := &cli.Result{W: e.stdout}
	print(w, v)
	return w.Err
}

func isYes(answer string) bool {
	return slices.Contains([]string{"y", "yes"}, strings.ToLower(strings.TrimSpace(answer)))
}

// runInterruptible returns when do or ctx ends. If ctx ends first, do continues in its goroutine, because a blocking
// read or system call cannot be cancelled.
func runInterruptible(ctx context.Context, do func() error) error {
	done := make(chan error, 1)
	go func() { done <- do() }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}
