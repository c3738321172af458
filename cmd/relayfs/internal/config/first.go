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

	"github.com/relayfs/relayfs/cmd/relayfs/internal/clierr"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/source"
)

// FirstSources are the sources to write: those given, as they are named from any
// directory, or the vaults that are found.
func FirstSources(args []string) ([]string, error) {
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

// firstText is the file that init writes.
func firstText(sources []string, mountpoint string) ([]byte, error) {
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

// Create writes a configuration that has sources mounted at mountpoint; a file that
// is there is left alone.
func Create(file string, sources []string, mountpoint string) error {
	text, err := firstText(sources, mountpoint)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return clierr.WithHint(fmt.Errorf("configuration %q exists and is left as it is", file), "edit it, or remove it first")
	}
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	return errors.Join(err, f.Close())
}
