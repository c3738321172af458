package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/BurntSushi/toml"

	"github.com/relayfs/relayfs/cmd/relayfs/internal/cli"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/secret"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/source"
)

// AbsoluteSources returns SOURCE arguments for a new configuration: with absolute paths.
func AbsoluteSources(args []string) ([]string, error) {
	if _, err := source.Parse(args, ""); err != nil {
		return nil, err
	}
	sources := make([]string, len(args))
	for i, arg := range args {
		var err error
		if sources[i], err = source.Absolute(arg); err != nil {
			return nil, err
		}
	}
	return sources, nil
}

// FindVaults returns the vaults that are found as SOURCE arguments, each with a name of its own.
func FindVaults() ([]string, error) {
	home, err := os.UserHomeDir()
	if err != nil {
		return nil, cli.WithHint(err, "set HOME, or name the vaults")
	}
	sources := named(findVaults(home))
	if len(sources) == 0 {
		return nil, cli.WithHint(errors.New("no vault found: neither in Obsidian's list nor in the home folder"), "name it: relayfs init ~/Notes")
	}
	_, err = source.Parse(sources, "")
	return sources, err
}

// named names directories apart that have the same last element: by the folder that they are in, and by a number if that does not do.
func named(dirs []string) []string {
	sources := make([]string, len(dirs))
	taken := make(map[string]bool)
	for i, dir := range dirs {
		base := filepath.Base(dir)
		name := base
		if taken[name] {
			name = base + "-" + filepath.Base(filepath.Dir(dir))
		}
		for n := 2; taken[name]; n++ {
			name = fmt.Sprintf("%s-%d", base, n)
		}
		taken[name] = true
		if sources[i] = dir; name != base {
			sources[i] = name + "=" + dir
		}
	}
	return sources
}

// findVaults returns the vaults that Obsidian lists, or else the folders in home that Obsidian has opened.
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

// listedVaults reads Obsidian's list of vaults, obsidian.json in its configuration folder, where the
// packages for Linux (deb and AppImage, Flatpak, Snap) and macOS have it.
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
			continue // Obsidian may be writing it
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

// Create writes a configuration file. It leaves an existing file as it is.
func Create(file string, sources []string, mountpoint string) error {
	values, err := toml.Marshal(struct {
		Sources    []string `toml:"sources"`
		Mountpoint string   `toml:"mountpoint"`
	}{sources, mountpoint})
	if err != nil {
		return err
	}
	err = secret.Create(file, "# What 'relayfs mount' and 'relayfs mcp' serve when they are given no arguments.\n"+string(values)+
		"\n# Every flag of mount and mcp, and every setting of 'relayfs help settings', can stand here by its name:\n# mode = \"suggest\"\n# author = \"agent\"\n# toolsets = [\"claude\"]\n")
	if errors.Is(err, fs.ErrExist) {
		return exists(file)
	}
	return err
}

// CheckAbsent says that a configuration file is there, which is left as it is.
func CheckAbsent(file string) error {
	if _, err := os.Lstat(file); err == nil {
		return exists(file)
	}
	return nil
}

func exists(file string) error {
	return cli.WithHint(fmt.Errorf("configuration %q exists and is left as it is", file), "edit it, or remove it first")
}
