package vaultdir

import (
	"path"
	"strings"

	"github.com/relayfs/relayfs/bridge/model"
)

// Names of temp files begin and end with these two texts. The leading dot hides the files from Obsidian and from most
// listings.
const (
	TempPrefix = ".relayfs-"
	TempSuffix = ".tmp"
)

// Trash is the folder in which Obsidian keeps deleted notes, if it is set to keep them in the vault.
const Trash = ".trash"

// AgentConfig is the file in which agents look for the MCP servers of a project. It is not served, as .claude is not: an
// agent must not start the servers of a vault that others can write to.
const AgentConfig = ".mcp.json"

func IsTemp(name string) bool {
	return strings.HasPrefix(name, TempPrefix) && strings.HasSuffix(name, TempSuffix)
}

// reserved reports whether files, folders and links with this name are hidden.
func reserved(name string) bool { return IsTemp(name) || name == AgentConfig }

func HiddenDir(name string) bool { return strings.HasPrefix(name, ".") }

// Reserved reports whether rel must not be served, because it is in a hidden folder, or has the name of a temp file or
// AgentConfig.
func Reserved(rel string) bool {
	return reserved(path.Base(rel)) || strings.HasPrefix(rel, ".") && strings.Contains(rel, "/") ||
		strings.Contains(path.Dir(rel)+"/", "/.")
}

func Join(dir, name string) string { return string(model.Path(dir).Join(name)) }

func Below(dir, rel string) bool { return dir == "" || strings.HasPrefix(rel, dir+"/") }
