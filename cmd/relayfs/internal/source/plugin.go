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

// relayPlugin is the folder of Relay's plugin in a vault of Obsidian.
const relayPlugin = ".obsidian/plugins/system3-relay"

// PluginShares returns what Relay's plugin shares of a vault, as paths of a workspace: folders in
// it, or the whole source if that lies in such a folder. With notes that are closed in Obsidian
// the plugin merges files by itself, and garbles what a decision makes of marks. It returns nil for
// a folder of a server.
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

// sharedIn returns the folders of an Obsidian vault that the plugin shares, "" for all of it if
// that cannot be told.
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

// PluginWarning says what is wrong with folders that Relay's plugin shares, too, and PluginHint
// what to do.
func PluginWarning(shared []model.Path) string {
	names := make([]string, len(shared))
	for i, p := range shared {
		names[i] = fmt.Sprintf("%q", p)
	}
	return "Relay's plugin shares " + strings.Join(names, ", ") + " from this vault, and garbles what relayfs decides in its files: while a note is closed in Obsidian, a part of the marks and of the words is lost"
}

// PluginHint is the next step after PluginWarning.
const PluginHint = "serve the shared folder itself, as relay:FOLDER or by its server's address; decisions in the vault want --force"
