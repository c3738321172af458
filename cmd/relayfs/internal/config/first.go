package config

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/BurntSushi/toml"

	"github.com/relayfs/relayfs/cmd/relayfs/internal/cli"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/secret"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/source"
)

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

// FindVaults returns the user's vaults as SOURCE arguments with different names. They are the vaults in Obsidian's
// list. If it finds none there, they are the folders in the home folder or in Documents that Obsidian has opened.
func FindVaults() ([]string, error) {
	home, err := os.UserHomeDir()
	if err != nil {
		return nil, cli.WithHint(err, "set HOME, or name the vaults")
	}
	dirs := listedVaults(home)
	for _, pattern := range []string{"*", "Documents/*"} {
		if len(dirs) > 0 {
			break
		}
		found, _ := filepath.Glob(filepath.Join(home, pattern, ".obsidian")) // cannot fail: the pattern is well-formed
		for _, m := range found {
			dirs = append(dirs, filepath.Dir(m))
		}
	}
	sources := named(dirs)
	if len(sources) == 0 {
		return nil, cli.WithHint(errors.New("no vault found: neither in Obsidian's list nor in the home folder"), "name it: relayfs init ~/Notes")
	}
	_, err = source.Parse(sources, "")
	return sources, err
}

// named returns directories as SOURCE arguments. If directories have equal last elements, it appends the parent's name
// or a number.
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

// listedVaults reads Obsidian's list of vaults from obsidian.json. It looks in the configuration folders of the deb,
// AppImage, Flatpak and Snap packages, and of macOS. They are relative to home, unless XDG_CONFIG_HOME names another one.
func listedVaults(home string) []string {
	var found []string
	for _, dir := range []string{
		cmp.Or(os.Getenv("XDG_CONFIG_HOME"), ".config"), ".config", ".var/app/md.obsidian.Obsidian/config", "snap/obsidian/current/.config", "Library/Application Support",
	} {
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(home, dir)
		}
		data, err := os.ReadFile(filepath.Join(dir, "obsidian", "obsidian.json"))
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

func Create(file string, sources []string, mountpoint string) error {
	values, err := toml.Marshal(struct {
		Sources    []string `toml:"sources"`
		Mountpoint string   `toml:"mountpoint"`
	}{sources, mountpoint})
	if err != nil {
		return err
	}
	return secret.Create(file, "# The vaults and the mountpoint for 'relayfs mount' and 'relayfs mcp' without arguments.\n"+string(values)+
		"\n# Each flag of mount and mcp, and each setting of 'relayfs help settings', can be set here by its name:\n# mode = \"suggest\"\n# author = \"agent\"\n# toolsets = [\"claude\"]\n")
}

func CheckAbsent(file string) error {
	if _, err := os.Lstat(file); err != nil {
		return nil
	}
	return cli.WithHint(fmt.Errorf("configuration %q exists and was not changed", file), "edit it, or remove it first")
}
