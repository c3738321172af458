package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/BurntSushi/toml"
	"github.com/spf13/cobra"

	"github.com/relayfs/relayfs/cmd/relayfs/internal/clierr"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/output"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/source"
)

func newInitCommand(e *env) *cobra.Command {
	var mountpoint string
	cmd := &cobra.Command{
		Use:   "init [SOURCE...]",
		Short: "Write a configuration with the vaults that Obsidian knows",
		Long: `Init writes the configuration file, so that 'relayfs mount' and 'relayfs mcp'
need no arguments: with the given sources, or with the vaults that Obsidian has
open or that lie in the home folder. A file that is there is left alone.`,
		Args: cobra.ArbitraryArgs,
		RunE: func(_ *cobra.Command, args []string) error { return initConfig(e, args, mountpoint) },
	}
	cmd.Flags().StringVar(&mountpoint, "mountpoint", "~/relayfs", "where 'relayfs mount' will mount")
	return cmd
}

func initConfig(e *env, args []string, mountpoint string) error {
	sources, err := initSources(args)
	if err != nil {
		return err
	}
	text, err := configText(sources, mountpoint)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(e.config.file), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(e.config.file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return clierr.WithHint(fmt.Errorf("configuration %q exists and is left as it is", e.config.file), "edit it, or remove it first")
	}
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	fmt.Fprintln(e.stdout, e.config.file)
	for _, s := range sources {
		output.Line(e.stderr, "vault %s", s)
	}
	fmt.Fprintf(e.stderr, "mount with:  mkdir -p %[1]s && relayfs mount\nor over MCP: claude mcp add notes -- relayfs mcp\n", mountpoint)
	return nil
}

// initSources are the sources to write: those given, as they are named from any
// directory, or the vaults that are found.
func initSources(args []string) ([]string, error) {
	if _, err := source.Parse(args, nil); err != nil {
		return nil, err
	}
	sources := make([]string, len(args))
	for i, arg := range args {
		var err error
		if sources[i], err = source.Absolute(arg); err != nil {
			return nil, err
		}
	}
	if len(sources) > 0 {
		return sources, nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return nil, clierr.WithHint(err, "set HOME, or name the vaults")
	}
	if sources = findVaults(home); len(sources) == 0 {
		return nil, clierr.WithHint(errors.New("no vault found: neither in Obsidian's list nor in the home folder"), "name it: relayfs init ~/Notes")
	}
	return sources, nil
}

// configText is the file that init writes.
func configText(sources []string, mountpoint string) ([]byte, error) {
	values, err := toml.Marshal(struct {
		Sources    []string `toml:"sources"`
		Mountpoint string   `toml:"mountpoint"`
	}{sources, mountpoint})
	return slices.Concat(
		[]byte("# What 'relayfs mount' and 'relayfs mcp' serve when they are given no arguments.\n"), values,
		[]byte("\n# Every flag of mount, mcp and serve can stand here by its name:\n# mode = \"suggest\"\n# author = \"agent\"\n# toolsets = [\"claude\"]\n"),
	), err
}

// findVaults are the vaults below home: those that Obsidian lists, or else the
// folders that it has made its own.
func findVaults(home string) []string {
	if list := listedVaults(home); len(list) > 0 {
		return list
	}
	var found []string
	for _, pattern := range []string{"*", "Documents/*"} {
		marks, _ := filepath.Glob(filepath.Join(home, pattern, ".obsidian")) // the pattern is well-formed
		for _, m := range marks {
			found = append(found, filepath.Dir(m))
		}
	}
	return found
}

// listedVaults reads Obsidian's own list of vaults, obsidian.json in its
// configuration folder, as the packages for Linux (deb and AppImage, Flatpak,
// Snap) and macOS place it.
func listedVaults(home string) []string {
	var found []string
	for _, dir := range []string{
		".config", ".var/app/md.obsidian.Obsidian/config", "snap/obsidian/current/.config", "Library/Application Support",
	} {
		data, err := os.ReadFile(filepath.Join(home, dir, "obsidian", "obsidian.json"))
		if err != nil {
			continue
		}
		var list struct {
			Vaults map[string]struct{ Path string }
		}
		if json.Unmarshal(data, &list) != nil {
			continue // Obsidian writes it anew
		}
		for _, v := range list.Vaults {
			if st, err := os.Stat(v.Path); err == nil && st.IsDir() && !slices.Contains(found, v.Path) {
				found = append(found, v.Path)
			}
		}
	}
	slices.Sort(found)
	return found
}
