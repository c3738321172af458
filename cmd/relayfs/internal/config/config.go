package config

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/relayfs/relayfs/cmd/relayfs/internal/cli"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/source"
)

type Config struct {
	File       string // path, even if the file does not exist
	Sum        string // see SumOf
	found      bool
	sources    []string
	mountpoint string
	flags      map[string][]string // values by flag or setting
	known      []string            // names of the flags and settings that the file and the environment can set
}

var serverCommands = []string{"mount", "mcp"}

// neverConfigured are flags of serverCommands that make sense only on one command line.
var neverConfigured = []string{"daemon", "help", "config"}

func fileOf(named string) (string, error) {
	if named != "" {
		return filepath.Abs(named)
	}
	dir := os.Getenv("XDG_CONFIG_HOME")
	if !filepath.IsAbs(dir) {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", cli.WithHint(err, "set HOME, or name the configuration file with --config")
		}
		dir = filepath.Join(home, ".config")
	}
	return filepath.Join(dir, "relayfs", "config.toml"), nil
}

// Read reads the configuration file. A missing file counts as empty if the user named none or isNew is set. If there is an
// error, Read also returns the valid part. settings must return the settings of a command that are not flags.
func Read(flag string, isNew bool, root *cobra.Command, settings func(*cobra.Command) *pflag.FlagSet) (*Config, error) {
	named := cmp.Or(flag, os.Getenv("RELAYFS_CONFIG"))
	file, err := fileOf(named)
	if err != nil {
		return nil, err
	}
	// Opening a named pipe waits for a writer, and no signal ends the wait.
	if info, err := os.Stat(file); err == nil && info.Mode()&(fs.ModeNamedPipe|fs.ModeDir) != 0 {
		return &Config{File: file, found: true}, cli.WithHint(cli.Usagef("configuration %q is not a file", file), "name a file with --config or $RELAYFS_CONFIG")
	}
	c := &Config{File: file, Sum: SumOf(file), flags: make(map[string][]string), known: configurable(root, settings)}
	if _, err := os.Lstat(file); errors.Is(err, fs.ErrNotExist) && (isNew || named == "") {
		return c, nil
	}
	c.found = true
	var values map[string]any
	if _, err = toml.DecodeFile(file, &values); err != nil {
		if parse, ok := errors.AsType[toml.ParseError](err); ok {
			return c, cli.Usagef("configuration %q, line %d, is not TOML: %s", file, parse.Position.Line, parse.Message)
		}
		err = cli.Usage(fmt.Errorf("configuration %w", err))
		if errors.Is(err, fs.ErrNotExist) {
			err = cli.WithHint(err, "'relayfs init --config FILE' writes one")
		}
		return c, err
	}
	var errs []error
	for _, key := range slices.Sorted(maps.Keys(values)) {
		if err := c.set(key, values[key]); err != nil {
			errs = append(errs, cli.Usage(fmt.Errorf("configuration %q: %w", file, err)))
		}
	}
	return c, errors.Join(errs...)
}

// SumOf returns a checksum of the content of a configuration file, or "" if the file cannot be read.
func SumOf(file string) string {
	data, err := os.ReadFile(file)
	if err != nil {
		return ""
	}
	return fmt.Sprintf("%x", sha256.Sum256(data))
}

func (c *Config) set(key string, value any) error {
	list, err := flagValues(value)
	switch {
	case err != nil:
		return fmt.Errorf("%s: %w", key, err)
	case key == "sources":
		if i := slices.IndexFunc(list, source.IsRelative); i >= 0 { // each working directory would have a vault of its own
			return fmt.Errorf("sources: %.200q is not an absolute path: begin it with / or ~/", list[i])
		}
		c.sources = list
	case key == "mountpoint" && len(list) == 1:
		c.mountpoint = source.ExpandHome(list[0])
	case (key == "state" || key == "token-file") && len(list) == 1:
		c.flags[key] = []string{source.ExpandHome(list[0])}
	case slices.Contains(c.known, key):
		c.flags[key] = list
	default:
		known := append([]string{"sources", "mountpoint"}, c.known...)
		return UsageWithSuggestion(fmt.Errorf("unknown key %q; known keys: %s", key, strings.Join(known, ", ")), key, "%s", known)
	}
	return nil
}

func flagValues(value any) ([]string, error) {
	switch v := value.(type) {
	case string:
		return []string{v}, nil
	case bool, int64, float64:
		return []string{fmt.Sprint(v)}, nil
	case []any:
		var list []string
		for _, x := range v {
			s, ok := x.(string)
			if !ok {
				return nil, errors.New("an element of the array is not a string")
			}
			list = append(list, s)
		}
		return list, nil
	}
	return nil, errors.New("want a string, a number, a boolean or an array of strings")
}

func configurable(root *cobra.Command, settings func(*cobra.Command) *pflag.FlagSet) []string {
	var names []string
	add := func(f *pflag.Flag) {
		if !slices.Contains(neverConfigured, f.Name) && !slices.Contains(names, f.Name) {
			names = append(names, f.Name)
		}
	}
	for _, cmd := range root.Commands() {
		settings(cmd).VisitAll(add)
		if slices.Contains(serverCommands, cmd.Name()) {
			cmd.Flags().VisitAll(add)
		}
	}
	slices.Sort(names)
	return names
}

// Apply sets the settings from the environment or the file. If cmd is one of serverCommands, it also sets the flags of
// cmd that are not on the command line.
func (c *Config) Apply(cmd *cobra.Command, settings *pflag.FlagSet) error {
	var errs []error
	apply := func(f *pflag.Flag) {
		if f.Changed || !slices.Contains(c.known, f.Name) {
			return
		}
		values, from := c.flags[f.Name], fmt.Sprintf("configuration %q: %s", c.File, f.Name)
		if v, ok := os.LookupEnv(Variable(f.Name)); ok && v != "" {
			values, from = []string{v}, Variable(f.Name)
		}
		for _, v := range values {
			// Flags().Set would mark the flag as if it had been given on the command line.
			if err := f.Value.Set(v); err != nil {
				errs = append(errs, cli.Usagef("%s: %.200q is not a valid %s", from, v, TypeName(f)))
			}
		}
	}
	settings.VisitAll(apply)
	if slices.Contains(serverCommands, cmd.Name()) {
		cmd.Flags().VisitAll(apply)
	}
	return errors.Join(errs...)
}

func Variable(setting string) string {
	return "RELAYFS_" + strings.ToUpper(strings.ReplaceAll(setting, "-", "_"))
}

func (c *Config) SourcesOr(args []string) []string {
	if len(args) > 0 {
		return args
	}
	return c.sources
}

// MountArgs parses the arguments [SOURCE...] [MOUNTPOINT]. Missing sources come from the file. If there are no
// arguments, the mountpoint comes from the file too.
func (c *Config) MountArgs(args []string) (sources []string, mountpoint string, err error) {
	switch {
	case len(args) > 0 && args[len(args)-1] == "":
		return nil, "", cli.WithHint(cli.Usagef("the MOUNTPOINT is empty"), "give an empty folder: relayfs mount ~/Notes ~/notes; a variable of your shell may have no value")
	case len(args) > 1:
		return args[:len(args)-1], args[len(args)-1], nil
	case len(args) == 1 && len(c.sources) > 0:
		return c.sources, args[0], nil
	case len(args) == 1 && source.LooksLikeSource(args[0]):
		return nil, "", cli.WithHint(cli.Usagef("no MOUNTPOINT given for the SOURCE %q", args[0]), "add an empty folder: relayfs mount "+args[0]+" ~/notes")
	case len(args) == 1:
		return nil, "", c.missing("no SOURCE given for the MOUNTPOINT %q", args[0])
	case len(c.sources) == 0:
		return nil, "", c.missing("no SOURCE given")
	case c.mountpoint == "":
		return nil, "", cli.WithHint(cli.Usagef("no MOUNTPOINT given, and %s names none", c.File), "run 'relayfs mount ~/notes', or add the line mountpoint = \"~/notes\" to that file")
	}
	return c.sources, c.mountpoint, nil
}

func (c *Config) missing(format string, args ...any) error {
	return cli.WithHint(cli.Usagef("%s, and %s names none", fmt.Sprintf(format, args...), c.File), "name the vault: relayfs mount ~/Notes MOUNTPOINT; or add it to that file with 'relayfs init'")
}

// Mounts reports whether the file names sources or a mountpoint for 'relayfs mount' without arguments.
func (c *Config) Mounts() bool { return len(c.sources) > 0 || c.mountpoint != "" }

var plainVariables = []string{"RELAYFS_CONFIG", "RELAYFS_TOKEN", "RELAYFS_SERVER_KEY", "RELAYFS_EMBEDDINGS_KEY"}

// UnknownVariables returns an error for each environment variable that looks like a misspelt variable of relayfs.
func (c *Config) UnknownVariables() (errs []error) {
	known := slices.Clone(plainVariables)
	for _, flag := range c.known {
		known = append(known, Variable(flag))
	}
	for _, variable := range os.Environ() {
		name, _, _ := strings.Cut(variable, "=")
		if !strings.HasPrefix(name, "RELAYFS_") || slices.Contains(known, name) {
			continue
		}
		err := UsageWithSuggestion(fmt.Errorf("unknown environment variable %s", name), name, "%s", known)
		if hint := (*cli.HintError)(nil); errors.As(err, &hint) {
			errs = append(errs, err)
		}
	}
	return errs
}

func (c *Config) Values() []Value {
	file := c.File
	if !c.found {
		file += " (there is none)"
	}
	list := []Value{{"configuration", file}}
	for _, name := range slices.Sorted(maps.Keys(c.flags)) {
		if os.Getenv(Variable(name)) == "" {
			list = append(list, Value{name, strings.Join(c.flags[name], ", ") + " (configuration)"})
		}
	}
	for _, name := range c.known {
		if v := os.Getenv(Variable(name)); v != "" {
			list = append(list, Value{name, fmt.Sprintf("%s (%s)", v, Variable(name))})
		}
	}
	return list
}

// Value is the value of a setting that is in effect, with its origin as text for users.
type Value struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

func TypeName(f *pflag.Flag) string {
	switch t := f.Value.Type(); t {
	case "int":
		return "whole number"
	case "bool":
		return "bool; use true or false"
	default:
		return t
	}
}

// UsageWithSuggestion returns err as a usage error. If a known word is similar to word, the hint proposes it in the
// given format.
func UsageWithSuggestion(err error, word, format string, known []string) error {
	words := &cobra.Command{SuggestionsMinimumDistance: 2} // cobra compares the names of commands
	for _, name := range known {
		words.AddCommand(&cobra.Command{Use: name, Run: func(*cobra.Command, []string) {}})
	}
	err = cli.Usage(err)
	if like := words.SuggestionsFor(word); len(like) > 0 {
		return cli.WithHint(err, "did you mean "+fmt.Sprintf(format, like[0])+"?")
	}
	return err
}
