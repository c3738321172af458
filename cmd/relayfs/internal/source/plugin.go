package source

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/relayfs/relayfs/bridge/model"
)

const relayPlugin = ".obsidian/plugins/system3-relay"

// PluginShares returns the folders of a vault that Relay's plugin shares, as paths of a workspace. If the vault itself
// is in a shared folder, it returns the whole vault. If a note is not open in Obsidian, the plugin merges the note's
// file with an algorithm that corrupts the text when a decision changes marks.
func (s Source) PluginShares() (shared []model.Path) {
	if s.Server != nil {
		return nil
	}
	for dir := s.Dir; ; dir = filepath.Dir(dir) {
		for _, folder := range sharedIn(dir) {
			at := filepath.Join(dir, filepath.FromSlash(folder))
			if rel, err := filepath.Rel(at, s.Dir); err == nil && filepath.IsLocal(rel) {
				return []model.Path{model.Path(s.Name)}
			}
			if rel, err := filepath.Rel(s.Dir, at); err == nil && filepath.IsLocal(rel) {
				shared = append(shared, model.Path(path.Join(s.Name, filepath.ToSlash(rel))))
			}
		}
		if exists(filepath.Join(dir, ".obsidian")) || filepath.Dir(dir) == dir {
			return shared
		}
	}
}

// sharedIn returns the folders of an Obsidian vault that the plugin shares. If the plugin's settings exist but cannot
// be read, it returns "", which stands for the whole vault.
func sharedIn(vault string) []string {
	data, err := os.ReadFile(filepath.Join(vault, relayPlugin, "data.json"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var settings struct {
		SharedFolders []struct {
			Path string `json:"path"`
		} `json:"sharedFolders"`
	}
	if err != nil || json.Unmarshal(data, &settings) != nil {
		return []string{""}
	}
	folders := make([]string, len(settings.SharedFolders))
	for i, f := range settings.SharedFolders {
		folders[i] = strings.Trim(f.Path, "/")
	}
	return folders
}

func PluginWarning(shared []model.Path) string {
	names := make([]string, len(shared))
	for i, p := range shared {
		names[i] = fmt.Sprintf("%q", p)
	}
	return "Relay's plugin shares " + strings.Join(names, ", ") + " from this vault, and garbles decisions that relayfs makes in the shared files: while a note is closed in Obsidian, some marks and words are lost"
}

const PluginHint = "serve the shared folder itself, as relay:FOLDER or by its server's address; decisions in the vault need --force"
